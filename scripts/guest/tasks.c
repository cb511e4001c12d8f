// SPDX-License-Identifier: GPL-2.0
/*
 * usage: tasks chain N COMMAND... | tasks threads N COMMAND...
 *
 * Make N sleeping tasks, run COMMAND, and end the tasks. COMMAND finds a number
 * in $TASK.
 *
 * chain: N processes, each the child of the previous one; $TASK is the pid of
 * the first process. threads: N threads of this program; $TASK is the pid of
 * one more sleeping process. The exit status is the status of COMMAND.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK	16384

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* How many processes the chain still lacks, and its memory for stacks. */
static long missing;
static char *stacks;
static int ready[2];

/*
 * Start the next process of the chain, or write a byte to the pipe if the chain
 * is complete. The processes share their memory: with copies of it each process
 * would add to lists of all its ancestors.
 */
static int chained(void *unused)
{
	if (!--missing) {
		if (write(ready[1], "", 1) != 1)
			_exit(1);
	} else {
		stacks += STACK;
		if (clone(chained, stacks, CLONE_VM | SIGCHLD, NULL) < 0)
			kill(0, SIGKILL);
	}
	for (;;)
		pause();
	return unused != NULL;
}

/* Start @n chained processes in a process group of their own. Return the first one. */
static pid_t start_processes(long n)
{
	pid_t pid;
	char c;

	missing = n;
	stacks = mmap(NULL, n * STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stacks == MAP_FAILED || pipe(ready))
		die("memory or pipe");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		setpgid(0, 0);
		close(ready[0]);
		chained(NULL);
	}
	close(ready[1]);
	if (read(ready[0], &c, 1) != 1) {
		fprintf(stderr, "only a part of %ld processes has started\n", n);
		exit(1);
	}
	close(ready[0]);
	return pid;
}

static void *sleep_forever(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static void start_threads(long n)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	for (; n; n--) {
		errno = pthread_create(&thread, &attr, sleep_forever, NULL);
		if (errno)
			die("pthread_create");
	}
}

/* Run @command, and return its wait status. */
static int run(char **command, pid_t task)
{
	char number[16];
	int status;
	pid_t pid;

	snprintf(number, sizeof(number), "%d", task);
	setenv("TASK", number, 1);
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		execvp(command[0], command);
		die(command[0]);
	}
	while (waitpid(pid, &status, 0) != pid)
		;
	return status;
}

/* Kill the process group of @first, and wait for all its processes. */
static void end_processes(pid_t first)
{
	kill(-first, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
}

int main(int argc, char **argv)
{
	long n = argc > 3 ? atol(argv[2]) : 0;
	int threads = argc > 3 && !strcmp(argv[1], "threads"), status;
	pid_t first;

	if (n < 1 || (!threads && strcmp(argv[1], "chain"))) {
		fprintf(stderr, "usage: tasks chain|threads N COMMAND...\n");
		return 2;
	}
	/* Orphans of the chain become children of this process, which reaps them. */
	if (prctl(PR_SET_CHILD_SUBREAPER, 1))
		die("prctl");
	first = start_processes(threads ? 1 : n);
	if (threads)
		start_threads(n);
	status = run(argv + 3, first);
	end_processes(first);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
