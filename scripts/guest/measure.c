// SPDX-License-Identifier: GPL-2.0
/*
 * usage: measure WORKLOAD N | measure run COMMAND... | measure lines FILE |
 *        measure records FILE | measure bytes FILE | measure write FILE TEXT |
 *        measure boot | measure now | measure first COMMAND... | measure nothing
 *
 * Print how many cycles something takes: a workload (see workloads.c) N times, a
 * command from fork to wait, reading a file from open() to its end, or writing a
 * text to a file, such as a switch. Under "qemu -icount shift=0" one cycle is one
 * instruction, of the kernel and of user space together.
 *
 * The second number counts the events of a tracer, mctracer or ftrace, during that
 * time. If a file is read, it counts the file's lines, bytes, or records: those of
 * mctracer's 64-bit words that are calls.
 *
 * boot: print the cycles since the machine was switched on, without those in which
 * its one CPU was idle. now: print the cycles since then, with idle time. first: print
 * nothing; run a command with real-time priority, before all others. nothing: do nothing,
 * for the workload exec.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

#include "mctracer.h"
#include "workloads.h"

#define MCTRACER_STATS	"/sys/kernel/debug/mctracer/stats"
#define FTRACE_STATS	"/sys/kernel/tracing/per_cpu/cpu0/stats"

/* Return the number of events on all CPUs (ftrace: on the first CPU); 0 without a tracer. */
static long events(void)
{
	FILE *stats = fopen(MCTRACER_STATS, "r");
	long sum = 0, n;
	char line[256];

	if (!stats)
		stats = fopen(FTRACE_STATS, "r");
	if (!stats)
		return 0;
	while (fgets(line, sizeof(line), stats))
		if (sscanf(line, "%*d %*d %ld", &n) == 1 ||
		    sscanf(line, "entries: %ld", &n) == 1 ||
		    sscanf(line, "overrun: %ld", &n) == 1)
			sum += n;
	fclose(stats);
	return sum;
}

/* Return the number of events that reading the count causes itself. */
static long events_by_reading(void)
{
	long before = events();

	return events() - before;
}

static unsigned long long do_work(const struct workload *workload, long n)
{
	unsigned long long start = __rdtsc();

	workload->work(n);
	return __rdtsc() - start;
}

static unsigned long long run(char **command)
{
	unsigned long long start = __rdtsc();
	int status, out;
	pid_t pid;

	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		out = open("/dev/null", O_WRONLY);
		dup2(out, 1);
		execvp(command[0], command);
		die(command[0]);
	}
	if (waitpid(pid, &status, 0) != pid || status) {
		fprintf(stderr, "%s failed\n", command[0]);
		exit(1);
	}
	return __rdtsc() - start;
}

static unsigned long long read_all(const char *path, long *lines, long *bytes, long *records)
{
	static char buf[65536] __attribute__((aligned(16)));
	uint64_t word;
	unsigned long long spent, start;
	ssize_t len, i;
	int fd;

	memset(buf, 1, sizeof(buf));	/* takes the page faults before the measurement */
	start = __rdtsc();
	fd = open(path, O_RDONLY | O_NONBLOCK);
	spent = __rdtsc() - start;
	if (fd < 0)
		die(path);
	for (;;) {
		start = __rdtsc();
		len = read(fd, buf, sizeof(buf));
		spent += __rdtsc() - start;
		if (len < 0 && errno != EAGAIN)
			die(path);
		if (len <= 0)
			return spent;
		*bytes += len;
		for (i = 0; i < len; i++)
			*lines += buf[i] == '\n';
		for (i = 0; i + (ssize_t)sizeof(word) <= len; i += sizeof(word)) {
			memcpy(&word, buf + i, sizeof(word));
			*records += (word & MCTRACER_WORD_CALL) != 0;
		}
	}
}

static unsigned long long write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	unsigned long long start;

	if (fd < 0)
		die(path);
	start = __rdtsc();
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		die(path);
	return __rdtsc() - start;
}

/*
 * Return the cycles since boot without idle time. A cycle is 1 ns; idle time has a resolution of 10
 * ms.
 */
static unsigned long long since_boot(void)
{
	unsigned long long now = __rdtsc(), seconds, hundredths;
	FILE *uptime = fopen("/proc/uptime", "r");

	if (!uptime || fscanf(uptime, "%*s %llu.%llu", &seconds, &hundredths) != 2)
		die("/proc/uptime");
	fclose(uptime);
	return now - seconds * 1000000000 - hundredths * 10000000;
}

static void run_first(char **command)
{
	const struct sched_param param = { .sched_priority = 1 };

	if (sched_setscheduler(0, SCHED_FIFO, &param))
		die("sched_setscheduler");
	execvp(command[0], command);
	die(command[0]);
}

static int usage(void)
{
	fprintf(stderr,
		"usage: measure WORKLOAD N | run COMMAND... | lines FILE | records FILE | bytes FILE |\n"
		"               write FILE TEXT | boot | now | first COMMAND... | nothing\n");
	return 2;
}

static int is(const char *a, const char *b)
{
	return !strcmp(a, b);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	const struct workload *workload = find_workload(what);
	long n = argc == 3 ? atol(argv[2]) : 0, lines = 0, bytes = 0, records = 0, before;
	unsigned long long cycles;

	if (argc == 2 && is(what, "nothing"))
		return 0;
	if (argc >= 3 && is(what, "first"))
		run_first(argv + 2);
	if (argc == 2 && is(what, "boot")) {
		printf("%llu 0\n", since_boot());
		return 0;
	}
	if (argc == 2 && is(what, "now")) {
		printf("%llu\n", (unsigned long long)__rdtsc());
		return 0;
	}
	if (argc == 3 && (is(what, "lines") || is(what, "records") || is(what, "bytes"))) {
		cycles = read_all(argv[2], &lines, &bytes, &records);
		printf("%llu %ld\n", cycles, is(what, "lines") ? lines :
		       is(what, "bytes") ? bytes : records);
		return 0;
	}

	if (workload && n > 0) {
		if (workload->prepare)
			workload->prepare();
		workload->work(n / 10 + 1);	/* warms the caches */
	}
	events_by_reading();	/* warms the caches, too */
	before = events_by_reading();
	before += events();
	if (workload && n > 0)
		cycles = do_work(workload, n);
	else if (argc >= 3 && is(what, "run"))
		cycles = run(argv + 2);
	else if (argc == 4 && is(what, "write"))
		cycles = write_text(argv[2], argv[3]);
	else
		return usage();
	printf("%llu %ld\n", cycles, events() - before);
	if (workload && workload->finish)
		workload->finish();
	return 0;
}
