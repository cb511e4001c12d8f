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
#include <sys/stat.h>
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
#define FIRST_PID_NAMESPACE	0xEFFFFFFCU	/* the inode of its file */
#define LAST_NAPS	2000		/* for a word that is not written yet, at the end */
#define STALL_SECONDS	2		/* for a reader of the recording, when mctrace was killed */

struct follow_cpu {
	struct ring ring;
	int cpu;
	struct recording_writer *to;
	struct follow_counts *counts;
	struct compressor *compressor;	/* NULL: it is not asked for */
	pthread_t thread;
	pid_t tid;
	bool own;		/* the ring's task is one of mctrace's */
};

/* No ring will have more than it has. */
static bool last_words;
/* The process that would wait for words that are being written has been killed. */
static bool hurried;

/* One for each CPU; and the processes that are mctrace's. */
static struct follow_cpu *cpus;
static int nr_cpus;		/* both 0 where pids are not those that are recorded */
static pid_t processes[3];

static void nap(long ns)
{
	struct timespec time = { .tv_nsec = ns };

	nanosleep(&time, NULL);
}

/* Are this process's pids those that the kernel records? */
static bool in_first_namespace(void)
{
	struct stat st;

	return !stat("/proc/self/ns/pid", &st) && st.st_ino == FIRST_PID_NAMESPACE;
}

static bool is_own(pid_t pid)
{
	int i;

	for (i = 0; i < (int)ARRAY_SIZE(processes); i++)
		if (processes[i] == pid)
			return true;
	for (i = 0; i < nr_cpus; i++)
		if (READ_ONCE(cpus[i].tid) == pid)
			return true;
	return false;
}

/* Count calls and returns, and add to *@own those that mctrace's own threads make. */
static uint64_t count_calls(struct follow_cpu *follow, const uint64_t *words, size_t nr,
			    uint64_t pos, uint64_t *own)
{
	const uint64_t before = 1ULL << (MCTRACER_POSITION_BITS - 1);
	uint64_t calls = 0, others = 0;
	size_t i = 0;

	for (; i < nr && (pos - follow->ring.start) & before; i++)	/* not to be shown */
		pos += sizeof(*words);
	for (; i < nr; i++) {
		if (mctracer_word_counts(words[i])) {
			calls++;
			others += !follow->own;
		} else if (mctracer_word_type(words[i]) == MCTRACER_TASK && words[i]) {
			follow->own = is_own(mctracer_word_data(words[i]) &
					     ((1U << MCTRACER_PID_BITS) - 1));
		}
	}
	*own = calls - others;
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
	uint64_t own, calls = count_calls(follow, words, nr, pos, &own);

	recording_put_by(follow->to, follow->compressor, &chunk, words);
	if (READ_ONCE(follow->to->error))
		return;
	__atomic_fetch_add(&follow->counts->seen, calls, __ATOMIC_RELAXED);
	__atomic_fetch_add(&follow->counts->own, own, __ATOMIC_RELAXED);
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

	__atomic_store_n(&follow->tid, gettid(), __ATOMIC_RELAXED);
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
		if (last && (!ring_ahead(&follow->ring) || hurried || naps++ == LAST_NAPS))
			break;
		nap(last ? SHORT_NAP_NS : ns);
		ns = ns * 2 < LONG_NAP_NS ? ns * 2 : LONG_NAP_NS;
	}
	compressor_free(follow->compressor);
	free(words);
	return NULL;
}

/* What is known of modules. */
struct known_modules {
	int64_t count;		/* tracer_modules() when @symbols were read */
	char *list;		/* /proc/modules then, where the kernel does not count */
	char *symbols;		/* of modules */
};

/* Return true if modules have come or gone since this was asked last. */
static bool modules_changed(struct known_modules *known)
{
	char *now, *before = known->list;
	bool changed;

	if (known->count >= 0)
		return tracer_modules() != known->count;
	now = read_file("/proc/modules");
	if (!now)
		return false;
	changed = before && strcmp(now, before);
	known->list = now;
	free(before);
	return changed;
}

/* Modules that have come have names, too. */
static void look_for_modules(struct recording_writer *to, struct known_modules *known)
{
	char *all, *symbols;
	int64_t count;

	if (!modules_changed(known))
		return;
	all = kallsyms_read_at(&count);
	symbols = kallsyms_of_modules(all);
	free(all);
	if (strcmp(symbols, known->symbols))
		recording_put_text(to, RECORDING_SYMBOLS, symbols);
	recording_put_modules(to, count);
	if (count >= 0)		/* else it is looked again */
		known->count = count;
	free(known->symbols);
	known->symbols = symbols;
}

/* What the parent says at the end, until it closes; NULL if it is gone. */
static char *wait_for_end(int fd, struct recording_writer *to, const char *symbols,
			  int64_t modules)
{
	struct known_modules known = {
		.count = modules,
		.symbols = kallsyms_of_modules(symbols),
	};
	char *info = xcalloc(1, 65536);
	struct pollfd fds = { .fd = fd, .events = POLLIN };
	size_t size = 0;
	ssize_t n = -1;

	while (!READ_ONCE(to->error)) {
		look_for_modules(to, &known);
		if (poll(&fds, 1, LOOK_MS) <= 0)
			continue;
		n = read(fd, info + size, 65535 - size);
		if (n > 0)
			size += n;
		else if (n == 0 || errno != EINTR)
			break;
	}
	if (n == 0)
		look_for_modules(to, &known);
	free(known.list);
	free(known.symbols);
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
		const char *symbols, int64_t modules)
{
	int nr = count_cpus(), cpu;
	struct timespec until;
	char *info, *end;
	bool alone;

	cpus = xcalloc(nr, sizeof(*cpus));
	if (in_first_namespace()) {
		nr_cpus = nr;
		processes[0] = getpid();
		processes[1] = getppid();
		processes[2] = session_keeper();
	}
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

	info = wait_for_end(fd, to, symbols, modules);
	alone = !info && !READ_ONCE(to->error);
	if (alone) {
		hurried = true;
		tracer_write("ctrl", "0");
	}
	__atomic_store_n(&last_words, true, __ATOMIC_RELAXED);
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += STALL_SECONDS;
	for (cpu = 0; cpu < nr; cpu++) {
		/* A reader that stalls must not keep the keeper from setting everything back. */
		if (!alone)
			pthread_join(cpus[cpu].thread, NULL);
		else if (pthread_timedjoin_np(cpus[cpu].thread, NULL, &until))
			_exit(EXIT_FAILURE);
		ring_close(&cpus[cpu].ring);	/* its size can't be set back before */
	}
	if (alone)
		exit(EXIT_FAILURE);	/* the keeper sets everything back, and says so */
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

/* The follower of a process that ends before it calls follow_end(): its rings must be unmapped. */
static struct follower *abandoned;
static pid_t leader;

static void follow_abandoned(void)
{
	if (!abandoned || getpid() != leader)
		return;
	close(abandoned->told);
	while (waitpid(abandoned->pid, NULL, 0) < 0 && errno == EINTR)
		;
}

void follow_begin(struct follower *follower, struct recording_writer *to, const char *symbols,
		  int64_t modules)
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
		run(told[0], ready[1], to, follower->counts, symbols, modules);
	}
	close(told[0]);
	close(ready[1]);
	follower->told = told[1];
	leader = getpid();
	abandoned = follower;
	atexit(follow_abandoned);
	if (read(ready[0], &c, 1) != 1)
		exit(EXIT_FAILURE);	/* it has said why */
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

	abandoned = NULL;
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
