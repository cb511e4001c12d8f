// SPDX-License-Identifier: GPL-2.0
/*
 * Count a function's calls with perf's event ftrace:function.
 *
 *	perfcalls ID FUNCTION COMMAND...
 *
 * ID is the number of that event. Counts the calls of FUNCTION by COMMAND, but not by
 * its children, and prints their number. The exit status is 2, with the reason, if they
 * can't be counted, and 1 if COMMAND fails.
 */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void die(const char *what)
{
	perror(what);
	exit(2);
}

/* Open a counter that starts when @pid calls exec. */
static int open_counter(unsigned long id, const char *function, pid_t pid)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = id,
		.disabled = 1,
		.enable_on_exec = 1,
	};
	char filter[128];
	int fd = syscall(SYS_perf_event_open, &attr, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		die("perf_event_open");
	snprintf(filter, sizeof(filter), "ip == %s", function);
	if (ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter))
		die("PERF_EVENT_IOC_SET_FILTER");
	return fd;
}

/* Run the command when the parent closes the other end of the pipe. */
static void run(int go, char **command)
{
	char c;

	if (!read(go, &c, 1))
		execvp(*command, command);
	_exit(127);
}

int main(int argc, char **argv)
{
	unsigned long long count;
	int go[2], status, fd;
	pid_t pid;

	if (argc < 4) {
		fprintf(stderr, "usage: perfcalls ID FUNCTION COMMAND...\n");
		return 2;
	}
	if (pipe2(go, O_CLOEXEC))
		die("pipe");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		close(go[1]);
		run(go[0], argv + 3);
	}
	fd = open_counter(strtoul(argv[1], NULL, 0), argv[2], pid);
	close(go[1]);
	if (waitpid(pid, &status, 0) < 0 || read(fd, &count, sizeof(count)) != sizeof(count))
		die("read");
	printf("%llu\n", count);
	return status ? 1 : 0;
}
