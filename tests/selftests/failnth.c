// SPDX-License-Identifier: GPL-2.0
/*
 * Let the Nth allocation of one system call fail.
 *
 *	failnth N open FILE
 *	failnth N read FILE
 *	failnth N map FILE
 *	failnth N write FILE TEXT
 *	failnth N load MODULE.ko
 *
 * Prints "failed" if an allocation failed, or "whole" if the call makes fewer
 * allocations; then the result of the call: "ok" or the name of the error. The exit
 * status is 2 if the call could not be made. Some files of
 * Documentation/fault-injection/ must be set before.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static char buffer[65536];

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static int open_file(const char *file, int mode)
{
	int fd = open(file, mode | O_NONBLOCK);

	if (fd < 0)
		die(file);
	return fd;
}

static void set_nth(int nth, long n)
{
	char text[24];
	int size = snprintf(text, sizeof(text), "%ld", n);

	if (pwrite(nth, text, size, 0) != size)
		die("fail-nth");
}

/* Return the number of allocations until one fails, or 0 if one has failed. */
static long get_nth(int nth)
{
	char text[24];
	ssize_t size = pread(nth, text, sizeof(text) - 1, 0);

	if (size <= 0)
		die("fail-nth");
	text[size] = '\0';
	return atol(text);
}

int main(int argc, char **argv)
{
	const char *what, *file;
	int nth, fd = -1, failed;
	long n, result;

	if (argc < 4 || argc != 4 + !strcmp(argv[2], "write")) {
		fprintf(stderr, "usage: failnth N open|read|map|write|load FILE [TEXT]\n");
		return 2;
	}
	n = atol(argv[1]);
	what = argv[2];
	file = argv[3];
	nth = open("/proc/self/fail-nth", O_RDWR);
	if (nth < 0)
		die("/proc/self/fail-nth");

	if (!strcmp(what, "open")) {
		set_nth(nth, n);
		result = open(file, O_RDONLY | O_NONBLOCK);
	} else if (!strcmp(what, "read")) {
		fd = open_file(file, O_RDONLY);
		set_nth(nth, n);
		result = read(fd, buffer, sizeof(buffer));
	} else if (!strcmp(what, "map")) {
		fd = open_file(file, O_RDONLY);
		set_nth(nth, n);
		result = mmap(NULL, 2 * getpagesize(), PROT_READ, MAP_SHARED, fd, 0) ==
			MAP_FAILED ? -1 : 0;
	} else if (!strcmp(what, "write")) {
		fd = open_file(file, O_WRONLY);
		set_nth(nth, n);
		result = dprintf(fd, "%s\n", argv[4]);	/* one write() */
	} else if (!strcmp(what, "load")) {
		fd = open_file(file, O_RDONLY);
		set_nth(nth, n);
		result = syscall(SYS_finit_module, fd, "", 0);
	} else {
		fprintf(stderr, "failnth: no such call: %s\n", what);
		return 2;
	}
	failed = errno;
	n = get_nth(nth);
	set_nth(nth, 0);
	printf("%s %s\n", n ? "whole" : "failed",
	       result >= 0 ? "ok" : strerrorname_np(failed));
	return 0;
}
