// SPDX-License-Identifier: GPL-2.0
/*
 * Read trace_pipe, or raw, in ways that cat does not.
 *
 *	pipecheck drain FILE [SIZE]	copy to standard output by reads of SIZE
 *					bytes, until EAGAIN
 *	pipecheck try FILE		read once with O_NONBLOCK; print "read N" or
 *					"read" and the name of the error
 *	pipecheck poll FILE MS		wait by poll() for at most MS milliseconds; print
 *					"in" or "timeout"
 *	pipecheck epoll FILE MS		like poll, by epoll_wait()
 *	pipecheck edge FILE MS		read everything, print "drained", and wait edge
 *					triggered (EPOLLET) for more records
 *	pipecheck signal FILE MS	block in a read that a signal interrupts after MS
 *					milliseconds; print as "try" does
 *	pipecheck splice FILE		copy to standard output by splice(), until EAGAIN
 *	pipecheck twice FILE		let two threads copy from the same open file to
 *					standard output, until EAGAIN
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/time.h>
#include <unistd.h>

#define SIZE_MAX_READ	0x100000

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static int open_pipe(const char *path, int flags)
{
	int fd = open(path, O_RDONLY | flags);

	if (fd < 0)
		die(path);
	return fd;
}

static void put_all(const char *from, size_t left)
{
	ssize_t n;

	for (; left; left -= n, from += n) {
		n = write(1, from, left);
		if (n <= 0)
			die("write");
	}
}

/* Copy until EAGAIN. The kernel must not write past the requested size. */
static void drain(int fd, size_t size)
{
	char *buf = malloc(size + 1);
	ssize_t n;

	if (!buf)
		die("malloc");
	buf[size] = 0x55;
	while ((n = read(fd, buf, size)) > 0) {
		if ((size_t)n > size || buf[size] != 0x55) {
			fprintf(stderr, "read of %zu gave %zd\n", size, n);
			exit(1);
		}
		put_all(buf, n);
	}
	if (n == 0 || errno != EAGAIN)
		die("drain");
	free(buf);
}

/* Splice into a pipe of our own, since standard output may be none. */
static void drain_by_splice(int fd)
{
	static char buf[65536];
	int ends[2];
	ssize_t n;

	if (pipe(ends))
		die("pipe");
	while ((n = splice(fd, NULL, ends[1], NULL, sizeof(buf), SPLICE_F_NONBLOCK)) > 0) {
		if (read(ends[0], buf, n) != n)
			die("read");
		put_all(buf, n);
	}
	if (n < 0 && errno != EAGAIN)
		die("splice");
}

static void *drain_thread(void *arg)
{
	drain(*(int *)arg, 5000);
	return NULL;
}

/* Lines of both threads don't mix: each read(2) is followed by one write(2). */
static void drain_twice(int fd)
{
	pthread_t threads[2];
	int i;

	for (i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, drain_thread, &fd))
			die("pthread_create");
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

static void report(ssize_t n)
{
	if (n >= 0)
		printf("read %zd\n", n);
	else if (errno == EAGAIN)
		puts("read EAGAIN");
	else if (errno == EINTR)
		puts("read EINTR");
	else
		printf("read %d\n", errno);
}

static void nothing(int sig)
{
	(void)sig;
}

/* Raise the signal repeatedly: the first may arrive before the read. */
static void signal_every(int ms)
{
	struct itimerval timer = {
		.it_value = { ms / 1000, ms % 1000 * 1000 },
		.it_interval = { ms / 1000, ms % 1000 * 1000 },
	};
	struct sigaction action = { .sa_handler = nothing };

	if (sigaction(SIGALRM, &action, NULL) ||
	    setitimer(ITIMER_REAL, &timer, NULL))
		die("setitimer");
}

static int open_epoll(int fd, unsigned int events)
{
	struct epoll_event event = { .events = events };
	int epoll = epoll_create1(0);

	if (epoll < 0 || epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
		die("epoll");
	return epoll;
}

static int wait_epoll(int fd, int ms)
{
	struct epoll_event event;

	return epoll_wait(open_epoll(fd, EPOLLIN), &event, 1, ms);
}

static int wait_edge(int fd, int ms)
{
	int epoll = open_epoll(fd, EPOLLIN | EPOLLET);
	struct epoll_event event;
	char some[4096];

	if (epoll_wait(epoll, &event, 1, ms) != 1)
		return 0;
	while (read(fd, some, sizeof(some)) > 0)
		;
	puts("drained");
	fflush(stdout);
	return epoll_wait(epoll, &event, 1, ms);
}

static int wait_poll(int fd, int ms)
{
	struct pollfd pollfd = { .fd = fd, .events = POLLIN };
	int n = poll(&pollfd, 1, ms);

	if (n > 0 && pollfd.revents != POLLIN) {
		fprintf(stderr, "poll gave %#x\n", pollfd.revents);
		exit(1);
	}
	return n;
}

int main(int argc, char **argv)
{
	static char buf[4096];
	const char *mode, *path;
	long number;

	if (argc < 3) {
		fprintf(stderr, "usage: pipecheck MODE FILE [NUMBER]\n");
		return 2;
	}
	mode = argv[1];
	path = argv[2];
	number = argc > 3 ? strtol(argv[3], NULL, 10) : 65536;
	if (number <= 0 || number > SIZE_MAX_READ)
		return 2;

	if (!strcmp(mode, "drain")) {
		drain(open_pipe(path, O_NONBLOCK), number);
	} else if (!strcmp(mode, "splice")) {
		drain_by_splice(open_pipe(path, O_NONBLOCK));
	} else if (!strcmp(mode, "twice")) {
		drain_twice(open_pipe(path, O_NONBLOCK));
	} else if (!strcmp(mode, "try")) {
		report(read(open_pipe(path, O_NONBLOCK), buf, sizeof(buf)));
	} else if (!strcmp(mode, "poll")) {
		puts(wait_poll(open_pipe(path, 0), number) > 0 ? "in" : "timeout");
	} else if (!strcmp(mode, "epoll")) {
		puts(wait_epoll(open_pipe(path, 0), number) > 0 ? "in" : "timeout");
	} else if (!strcmp(mode, "edge")) {
		puts(wait_edge(open_pipe(path, O_NONBLOCK), number) > 0 ? "in" :
		     "timeout");
	} else if (!strcmp(mode, "signal")) {
		int fd = open_pipe(path, 0);

		signal_every(number);
		report(read(fd, buf, sizeof(buf)));
	} else {
		fprintf(stderr, "pipecheck: no such mode\n");
		return 2;
	}
	return 0;
}
