// SPDX-License-Identifier: GPL-2.0
/* The process that copies rings into a recording. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "compress.h"
#include "follow.h"
#include "kallsyms.h"
#include "mctracer_decode.h"
#include "ring.h"
#include "session.h"
#include "tracer.h"
#include "util.h"

#define BLOCK_WORDS	32768		/* what is written at once */
#define SHORT_NAP_NS	250000
#define LONG_NAP_NS	10000000
#define LOOK_MS		100		/* for modules */
#define LAST_NAPS	2000		/* for a word that is not written yet, at the end */

struct follow_cpu {
	struct ring ring;
	int cpu;
	struct recording_writer *to;
	struct follow_counts *counts;
	struct compressor *compressor;	/* NULL: it is not asked for */
	pthread_t thread;
};

/* No ring will have more than it has. */
static bool last_words;

static void nap(long ns)
{
	struct timespec time = { .tv_nsec = ns };

	nanosleep(&time, NULL);
}

static uint64_t count_calls(const struct ring *ring, const uint64_t *words, size_t nr,
			    uint64_t pos)
{
	const uint64_t before = 1ULL << (MCTRACER_POSITION_BITS - 1);
	uint64_t calls = 0;
	size_t i = 0;

	for (; i < nr && (pos - ring->start) & before; i++)	/* not to be shown */
		pos += sizeof(*words);
	for (; i < nr; i++)
		calls += mctracer_word_counts(words[i]) && words[i];
	return calls;
}

static void put_words(struct follow_cpu *follow, const uint64_t *words, size_t nr, uint64_t pos)
{
	struct recording_chunk chunk = {
		.mark = RECORDING_MARK,
		.type = RECORDING_WORDS,
		.size = nr * sizeof(*words),
		.cpu = follow->cpu,
		.notes = follow->ring.notes,
		.pos = pos,
		.start = follow->ring.start,
	};
	uint64_t calls = count_calls(&follow->ring, words, nr, pos);

	recording_put_by(follow->to, follow->compressor, &chunk, words);
	__atomic_fetch_add(&follow->counts->seen, calls, __ATOMIC_RELAXED);
	__atomic_store_n(&follow->counts->bytes, READ_ONCE(follow->to->size), __ATOMIC_RELAXED);
}

/*
 * The less there is the longer it sleeps: it is traced, too. Where many tasks wait for a CPU they
 * would fill the ring while it waits among them, so it goes first, if it may.
 */
static void *follow_cpu(void *arg)
{
	struct follow_cpu *follow = arg;
	uint64_t *words = xcalloc(BLOCK_WORDS, sizeof(*words)), pos;
	unsigned int naps = 0;
	long ns = SHORT_NAP_NS;
	bool last;
	size_t nr;

	setpriority(PRIO_PROCESS, gettid(), -20);
	while (!READ_ONCE(follow->to->error)) {
		last = READ_ONCE(last_words);
		barrier();
		nr = ring_copy(&follow->ring, words, BLOCK_WORDS, &pos);
		if (nr) {
			put_words(follow, words, nr, pos);
			naps = 0;
		}
		if (nr == BLOCK_WORDS ||
		    (nr && ring_ahead(&follow->ring) > follow->ring.size / 8)) {
			ns = SHORT_NAP_NS;
			continue;
		}
		if (last && (!ring_ahead(&follow->ring) || naps++ == LAST_NAPS))
			break;
		nap(last ? SHORT_NAP_NS : ns);
		ns = ns * 2 < LONG_NAP_NS ? ns * 2 : LONG_NAP_NS;
	}
	compressor_free(follow->compressor);
	free(words);
	return NULL;
}

/* Modules that have come have names, too. */
static void look_for_modules(struct recording_writer *to, char **modules, char **symbols)
{
	char *now = read_file("/proc/modules"), *all;

	if (!now || (*modules && !strcmp(now, *modules))) {
		free(now);
		return;
	}
	if (*modules) {
		all = kallsyms_read();
		if (strcmp(all, *symbols))
			recording_put_text(to, RECORDING_SYMBOLS, all);
		free(*symbols);
		*symbols = all;
	}
	free(*modules);
	*modules = now;
}

/* What the parent says at the end, until it closes; NULL if it is gone. */
static char *wait_for_end(int fd, struct recording_writer *to, const char *symbols)
{
	char *info = xcalloc(1, 65536), *modules = NULL, *known = xstrdup(symbols);
	struct pollfd fds = { .fd = fd, .events = POLLIN };
	size_t size = 0;
	ssize_t n = -1;

	while (!READ_ONCE(to->error)) {
		look_for_modules(to, &modules, &known);
		if (poll(&fds, 1, LOOK_MS) <= 0)
			continue;
		n = read(fd, info + size, 65535 - size);
		if (n > 0)
			size += n;
		else if (n == 0 || errno != EINTR)
			break;
	}
	free(modules);
	free(known);
	if (n == 0 && size)
		return info;
	free(info);
	return NULL;
}

static int count_cpus(void)
{
	char file[64];
	int nr = -1;

	do
		snprintf(file, sizeof(file), "per_cpu/cpu%d/raw", ++nr);
	while (tracer_has(file));
	return nr;
}

static void run(int fd, int ready, struct recording_writer *to, struct follow_counts *counts,
		const char *symbols)
{
	int nr = count_cpus(), cpu;
	struct follow_cpu *cpus = xcalloc(nr, sizeof(*cpus));
	char *info, *end;
	bool alone;

	for (cpu = 0; cpu < nr; cpu++) {
		cpus[cpu] = (struct follow_cpu) { .cpu = cpu, .to = to, .counts = counts };
		if (to->compress)
			cpus[cpu].compressor = compressor_new();
		ring_open(&cpus[cpu].ring, cpu);
	}
	for (cpu = 0; cpu < nr; cpu++)
		if (pthread_create(&cpus[cpu].thread, NULL, follow_cpu, &cpus[cpu]))
			die("a thread for CPU %d can't be made", cpu);
	if (write(ready, "", 1) != 1)
		die("the process that began this recording is gone");
	close(ready);

	info = wait_for_end(fd, to, symbols);
	alone = !info && !READ_ONCE(to->error);
	if (alone)
		tracer_write("ctrl", "0");
	__atomic_store_n(&last_words, true, __ATOMIC_RELAXED);
	for (cpu = 0; cpu < nr; cpu++) {
		pthread_join(cpus[cpu].thread, NULL);
		ring_close(&cpus[cpu].ring);	/* its size can't be set back before */
	}
	if (alone)
		die("the process that began this recording is gone%s", session_restore() ?
		    ": the tracer is as it was" : "");
	if (info) {
		end = xasprintf("%sseen %llu\n", info, (unsigned long long)counts->seen);
		recording_put_text(to, RECORDING_END, end);
		free(end);
	}
	if (!recording_finish(to))
		die("the recording can't be written: %s; what there is of it can be read",
		    strerror(to->error));
	exit(EXIT_SUCCESS);
}

void follow_begin(struct follower *follower, struct recording_writer *to, const char *symbols)
{
	int told[2], ready[2];
	char c;

	follower->counts = mmap(NULL, sizeof(*follower->counts), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (follower->counts == MAP_FAILED || pipe(told) || pipe(ready))
		die_errno("a recording can't be begun");
	follower->pid = fork();
	if (follower->pid < 0)
		die_errno("a recording can't be begun");
	if (!follower->pid) {
		signal(SIGINT, SIG_IGN);	/* the parent says when */
		signal(SIGTERM, SIG_IGN);
		signal(SIGHUP, SIG_IGN);
		signal(SIGQUIT, SIG_IGN);
		close(told[1]);
		close(ready[0]);
		run(told[0], ready[1], to, follower->counts, symbols);
	}
	close(told[0]);
	close(ready[1]);
	follower->told = told[1];
	if (read(ready[0], &c, 1) != 1) {	/* it has said why */
		session_restore();
		exit(EXIT_FAILURE);
	}
	close(ready[0]);
}

void follow_ended(int status)
{
	if (WIFSIGNALED(status))
		warning("the process that copies was killed by signal %d (%s)", WTERMSIG(status),
			strsignal(WTERMSIG(status)));
}

bool follow_end(struct follower *follower, const char *info)
{
	int status = -1;

	signal(SIGPIPE, SIG_IGN);
	write_all(follower->told, info, strlen(info));	/* it may have failed before */
	close(follower->told);
	while (waitpid(follower->pid, &status, 0) < 0 && errno == EINTR)
		;
	if (status == -1)
		return false;
	follow_ended(status);
	return WIFEXITED(status) && !WEXITSTATUS(status);
}
