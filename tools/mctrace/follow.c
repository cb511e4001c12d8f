// SPDX-License-Identifier: GPL-2.0
/* Copy the kernel's rings into a recording, in a process of its own: the follower. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
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

#define BLOCK_WORDS	32768		/* at most, of a chunk */
#define SHORT_NAP_NS	250000
#define LONG_NAP_NS	10000000
#define LOOK_MS		100		/* between two checks for modules */
#define FIRST_PID_NAMESPACE	0xEFFFFFFCU	/* inode of the file of the first pid namespace */
#define LAST_NAPS	2000		/* at the end, for words that are not written yet */
#define STALL_SECONDS	2		/* for a reader of the recording, if mctrace has ended */
#define HURRY		SIGUSR1		/* to the follower: end within STALL_SECONDS */

struct follow_cpu {
	struct ring ring;
	int cpu;
	struct recording_writer *to;
	struct follow_counts *counts;
	struct compressor *compressor;	/* NULL: do not compress */
	pthread_t thread;
	pid_t tid;
	bool own;		/* the current task of the ring is mctrace's */
};

/* Tracing has ended: no more words will be written. */
static bool last_words;
/* mctrace has ended: do not wait for words that are still being written. */
static bool hurried;

/*
 * mctrace's own threads and processes. nr_cpus and processes are 0 in another pid namespace than
 * the first: its pids are not the recorded ones.
 */
static struct follow_cpu *cpus;
static int nr_cpus;
static pid_t processes[3];

static void nap(long ns)
{
	struct timespec time = { .tv_nsec = ns };

	nanosleep(&time, NULL);
}

/* Return true if the pids of this process's namespace are the pids that the kernel records. */
static bool in_first_namespace(void)
{
	struct stat st;

	return !stat("/proc/self/ns/pid", &st) && st.st_ino == FIRST_PID_NAMESPACE;
}

/*
 * Return true if @pid is one of mctrace's. All idle tasks have pid 0, which stands for no pid in
 * @processes and @cpus.
 */
static bool is_own(pid_t pid)
{
	int i;

	if (!pid)
		return false;
	for (i = 0; i < (int)ARRAY_SIZE(processes); i++)
		if (processes[i] == pid)
			return true;
	for (i = 0; i < nr_cpus; i++)
		if (READ_ONCE(cpus[i].tid) == pid)
			return true;
	return false;
}

/* Return the number of calls and returns from start on. Set *@own to how many mctrace made. */
static uint64_t count_calls(struct follow_cpu *follow, const uint64_t *words, size_t nr,
			    uint64_t pos, uint64_t *own)
{
	const uint64_t before = 1ULL << (MCTRACER_POSITION_BITS - 1);
	uint64_t calls = 0, others = 0;
	size_t i = 0;

	for (; i < nr && (pos - follow->ring.start) & before; i++)	/* before start */
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

	if (recording_is_full(follow->to))
		return;
	recording_put_by(follow->to, follow->compressor, &chunk, words);
	if (READ_ONCE(follow->to->error))
		return;
	__atomic_fetch_add(&follow->counts->seen, calls, __ATOMIC_RELAXED);
	__atomic_fetch_add(&follow->counts->own, own, __ATOMIC_RELAXED);
	__atomic_store_n(&follow->counts->bytes, READ_ONCE(follow->to->size), __ATOMIC_RELAXED);
}

/* Return true if words of the ring must be given up, and record that. */
static bool follow_gives_up(const struct follow_cpu *follow)
{
	if (!READ_ONCE(follow->counts->hurry) || !ring_ahead(&follow->ring))
		return false;
	__atomic_store_n(&follow->counts->given_up, true, __ATOMIC_RELAXED);
	return true;
}

/*
 * Copy the ring of a CPU until tracing ends. Sleep longer while there is little to copy, because
 * this thread is traced, too. Take the highest priority, if allowed: otherwise the tasks that
 * compete for the CPU could fill the ring while this thread waits.
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
	while (!READ_ONCE(follow->to->error) && !follow_gives_up(follow)) {
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

/* State of the modules when their symbols were last written. */
struct known_modules {
	int64_t count;		/* tracer_modules() when @symbols were read; -1: unknown */
	char *list;		/* last /proc/modules, if @count is -1 */
	char *symbols;		/* of the modules */
};

/*
 * Return true if modules came or went since the symbols were read, or since the last call. At the
 * first call without the kernel's count that is not known: return true.
 */
static bool modules_changed(struct known_modules *known)
{
	char *now, *before = known->list;
	bool changed;

	if (known->count >= 0)
		return tracer_modules() != known->count;
	now = read_file("/proc/modules");
	if (!now)
		return false;
	changed = !before || strcmp(now, before);
	known->list = now;
	free(before);
	return changed;
}

/* Write the symbols of modules again if modules came or went. */
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
	if (count >= 0)		/* else try again */
		known->count = count;
	free(known->symbols);
	known->symbols = symbols;
}

/*
 * Wait until the parent closes the pipe @fd. Return the text that it wrote, the lines of
 * RECORDING_END; NULL if it wrote none because it was killed, or if the recording can't be written.
 */
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

/* Write the address that the words' addresses are relative to: before any words. */
static void put_base(struct recording_writer *to, uint64_t base)
{
	char *info = xasprintf("base %#llx\n", (unsigned long long)base);

	recording_put_text(to, RECORDING_INFO, info);
	free(info);
}

/*
 * Let SIGALRM kill this process after STALL_SECONDS: a stalled reader of the recording, which may
 * block any of its threads, must not keep the rings mapped.
 */
static void hurry(int sig)
{
	(void)sig;
	alarm(STALL_SECONDS);
}

/* Leave it to @parent when to end, unless that is killed. */
static void follower_set_signals(pid_t parent)
{
	struct sigaction action = { .sa_handler = hurry, .sa_flags = SA_RESTART };
	sigset_t signals;

	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGALRM, SIG_DFL);
	sigaction(HURRY, &action, NULL);
	sigemptyset(&signals);
	sigaddset(&signals, SIGALRM);
	sigaddset(&signals, HURRY);
	sigprocmask(SIG_UNBLOCK, &signals, NULL);
	if (prctl(PR_SET_PDEATHSIG, HURRY) || getppid() != parent)
		hurry(HURRY);
}

/* Run the follower, and exit. @fd is a pipe from the parent, @ready a pipe to it. */
static void run(int fd, int ready, struct recording_writer *to, struct follow_counts *counts,
		const char *symbols, int64_t modules)
{
	int nr = count_cpus(), cpu;
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
	put_base(to, cpus[0].ring.header->base);
	for (cpu = 0; cpu < nr; cpu++)
		if (pthread_create(&cpus[cpu].thread, NULL, follow_cpu, &cpus[cpu]))
			die("a thread for CPU %d can't be created", cpu);
	if (write(ready, "", 1) != 1)
		die("the process that started this recording has ended");
	close(ready);

	info = wait_for_end(fd, to, symbols, modules);
	alone = !info && !READ_ONCE(to->error);
	if (alone) {
		hurried = true;
		hurry(HURRY);
		tracer_write("ctrl", "0");
	}
	__atomic_store_n(&last_words, true, __ATOMIC_RELAXED);
	for (cpu = 0; cpu < nr; cpu++) {
		pthread_join(cpus[cpu].thread, NULL);
		ring_close(&cpus[cpu].ring);	/* the kernel can't resize mapped rings */
	}
	if (alone)
		exit(EXIT_FAILURE);	/* the keeper restores the settings, and reports it */
	if (info) {
		end = xasprintf("%sseen %llu\n%s", info, (unsigned long long)counts->seen,
				counts->given_up ? "given_up 1\n" : "");
		recording_put_text(to, RECORDING_END, end);
		free(end);
	}
	if (!recording_finish(to) && to->is_full)
		die("the temporary file has reached its limit, %llu KiB: see mctrace-packet(1)",
		    (unsigned long long)to->most / 1024);
	if (to->error)
		die("the recording can't be written: %s; the part before that can be read",
		    strerror(to->error));
	exit(EXIT_SUCCESS);
}

/*
 * For a process that ends before it calls follow_end(): end the follower and wait, so that the
 * rings are unmapped before the settings are restored.
 */
static struct follower *abandoned;
static pid_t leader;

static void follow_abandoned(void)
{
	if (!abandoned || getpid() != leader)
		return;
	close(abandoned->told);
	kill(abandoned->pid, HURRY);
	while (waitpid(abandoned->pid, NULL, 0) < 0 && errno == EINTR)
		;
}

void follow_begin(struct follower *follower, struct recording_writer *to, const char *symbols,
		  int64_t modules)
{
	struct pollfd is_ready = { .events = POLLIN };
	const pid_t parent = getpid();
	int told[2], ready[2];
	char c;

	follower->counts = mmap(NULL, sizeof(*follower->counts), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (follower->counts == MAP_FAILED || pipe(told) || pipe(ready))
		die_errno("a recording can't be started");
	follower->pid = fork();
	if (follower->pid < 0)
		die_errno("a recording can't be started");
	if (!follower->pid) {
		follower_set_signals(parent);
		session_forked();
		to->wake = NULL;
		close(told[1]);
		close(ready[0]);
		run(told[0], ready[1], to, follower->counts, symbols, modules);
	}
	close(told[0]);
	close(ready[1]);
	follower->told = told[1];
	leader = parent;
	abandoned = follower;
	atexit(follow_abandoned);
	is_ready.fd = ready[0];		/* a signal ends mctrace if the reader stalls already */
	while (ppoll(&is_ready, 1, NULL, to->wake) < 0 && errno == EINTR)
		;
	if (read(ready[0], &c, 1) != 1)
		exit(EXIT_FAILURE);	/* the follower has reported why */
	close(ready[0]);
}

void follow_ended(int status)
{
	abandoned = NULL;	/* another process may get its number */
	if (WIFSIGNALED(status))
		warning("the copying process was killed by signal %d (%s)", WTERMSIG(status),
			strsignal(WTERMSIG(status)));
}

void follow_end(struct follower *follower, const char *info)
{
	abandoned = NULL;
	signal(SIGPIPE, SIG_IGN);
	write_all(follower->told, info, strlen(info));	/* fails if the follower has ended */
	close(follower->told);
}

void follow_hurry(struct follower *follower)
{
	__atomic_store_n(&follower->counts->hurry, true, __ATOMIC_RELAXED);
}

bool follow_has_ended(struct follower *follower)
{
	follower->status = -1;
	return waitpid(follower->pid, &follower->status, WNOHANG) != 0;
}

bool follow_was_good(const struct follower *follower)
{
	if (follower->status == -1)
		return false;
	follow_ended(follower->status);
	return WIFEXITED(follower->status) && !WEXITSTATUS(follower->status);
}
