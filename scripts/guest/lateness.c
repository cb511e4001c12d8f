// SPDX-License-Identifier: GPL-2.0
/*
 * usage: lateness COMMAND...
 *
 * Run COMMAND. Meanwhile a SCHED_FIFO task sleeps 200 us in a loop and compares
 * each wake-up with its due time. Print the greatest lateness in nanoseconds, on
 * a line behind the output of COMMAND. The lateness is the longest stretch in
 * which the CPU allowed no preemption, plus the cost of one wake-up.
 *
 * The exit status is 1 if COMMAND fails. The guest needs one CPU; with several
 * CPUs COMMAND may run beside the task.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PERIOD	200000	/* ns */

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static long long now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

/* Sleep until @due. Return how late the wake-up is. */
static long long sleep_until(long long due)
{
	struct timespec ts = { .tv_sec = due / 1000000000, .tv_nsec = due % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL))
		;
	return now() - due;
}

/* Fork @command, which waits until this process closes @start. */
static pid_t fork_command(char **command, int start[2])
{
	pid_t pid;
	char c;

	if (pipe(start))
		die("pipe");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		close(start[1]);
		if (read(start[0], &c, 1))
			die("read");
		close(start[0]);
		execvp(command[0], command);
		die(command[0]);
	}
	close(start[0]);
	return pid;
}

int main(int argc, char **argv)
{
	const struct sched_param param = { .sched_priority = 50 };
	long long late, worst = 0;
	int start[2], status;
	pid_t pid;

	if (argc < 2) {
		fprintf(stderr, "usage: lateness COMMAND...\n");
		return 2;
	}
	pid = fork_command(argv + 1, start);
	if (mlockall(MCL_CURRENT | MCL_FUTURE) || sched_setscheduler(0, SCHED_FIFO, &param))
		die("real-time priority");
	sleep_until(now() + PERIOD);	/* touches the code and the stack */
	close(start[1]);
	while (!waitpid(pid, &status, WNOHANG)) {
		late = sleep_until(now() + PERIOD);
		if (late > worst)
			worst = late;
	}
	printf("%lld\n", worst);
	return status != 0;
}
