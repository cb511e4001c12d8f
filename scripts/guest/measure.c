// SPDX-License-Identifier: GPL-2.0
/*
 * usage: measure stat N | measure run COMMAND... | measure lines FILE |
 *        measure records FILE | measure write FILE TEXT
 *
 * Print how many cycles something takes: N stat() calls, a command from fork to
 * wait, reading a file until there is no more, or writing to one, which is how
 * things are switched. Under "qemu -icount shift=0" one cycle is
 * one instruction, of the kernel and of user space together. The second number
 * is that of records that mctracer wrote meanwhile; of a file that is read, of its
 * lines, or of its records of 16 bytes.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* Records written on all CPUs; 0 where there is no tracer. */
static long written(void)
{
	FILE *stats = fopen("/sys/kernel/debug/mctracer/stats", "r");
	long sum = 0, n;
	char line[256];

	if (!stats)
		return 0;
	while (fgets(line, sizeof(line), stats))
		if (sscanf(line, "%*d %*d %ld", &n) == 1)
			sum += n;
	fclose(stats);
	return sum;
}

/* Records that reading the count leaves between two readings of it. */
static long written_by_reading(void)
{
	long before = written();

	return written() - before;
}

static unsigned long long stat_loop(long n)
{
	unsigned long long start = __rdtsc();
	struct stat st;

	while (n--)
		if (stat("/etc/passwd", &st))
			die("/etc/passwd");
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

static unsigned long long read_all(const char *path, long *lines, long *bytes)
{
	static char buf[65536] __attribute__((aligned(16)));
	int fd = open(path, O_RDONLY | O_NONBLOCK);
	unsigned long long spent = 0, start;
	ssize_t len, i;

	if (fd < 0)
		die(path);
	memset(buf, 1, sizeof(buf));	/* its page faults are not what is measured */
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

int main(int argc, char **argv)
{
	long n = argc == 3 ? atol(argv[2]) : 0, lines = 0, bytes = 0, events;
	unsigned long long cycles;

	written_by_reading();	/* warms the caches */
	events = -written_by_reading() - written();
	if (argc == 3 && !strcmp(argv[1], "stat") && n > 0) {
		cycles = stat_loop(n);
		printf("%llu %ld\n", cycles, events + written());
	} else if (argc >= 3 && !strcmp(argv[1], "run")) {
		cycles = run(argv + 2);
		printf("%llu %ld\n", cycles, events + written());
	} else if (argc == 3 && !strcmp(argv[1], "lines")) {
		cycles = read_all(argv[2], &lines, &bytes);
		printf("%llu %ld\n", cycles, lines);
	} else if (argc == 3 && !strcmp(argv[1], "records")) {
		cycles = read_all(argv[2], &lines, &bytes);
		printf("%llu %ld\n", cycles, bytes / 16);
	} else if (argc == 4 && !strcmp(argv[1], "write")) {
		cycles = write_text(argv[2], argv[3]);
		printf("%llu %ld\n", cycles, events + written());
	} else {
		fprintf(stderr,
			"usage: measure stat N | run COMMAND... | lines FILE | records FILE | write FILE TEXT\n");
		return 2;
	}
	return 0;
}
