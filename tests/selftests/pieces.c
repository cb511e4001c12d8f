// SPDX-License-Identifier: GPL-2.0
/*
 * Write a text in pieces, and report each call that fails.
 *
 *	pieces [-k] [-f N] '>'|'>>' FILE TEXT SIZE...
 *
 * Opens FILE as the shell does for > or >>, writes the file TEXT to it, one
 * write(2) for each piece, and closes it. Each SIZE is the size of one piece,
 * the last SIZE also of all further pieces; 0 is all the rest. Prints "ok", or a
 * line for each call that failed, as "write 3 ENOENT" or "close ENOENT". After
 * a failed write the program only calls close(2).
 *
 *	-k	continue with the next piece after a failed write
 *	-f N	before piece N, counted from 1, write a page that is not mapped, for
 *		which "fault EFAULT" is the right result, and continue
 *
 * A write may be short. Then the rest of the piece is another
 * write, and the last line is "short N", the number of short writes.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int failed, nr_short;

static void die(const char *what)
{
	perror(what);
	exit(2);
}

static void report(const char *what, int nr)
{
	const char *name = strerrorname_np(errno);

	failed = 1;
	if (nr)
		printf("%s %d %s\n", what, nr, name);
	else
		printf("%s %s\n", what, name);
}

static char *read_text(const char *path, size_t *length)
{
	struct stat st;
	size_t got = 0;
	ssize_t n;
	char *text;
	int fd;

	fd = open(path, O_RDONLY);
	if (fd < 0 || fstat(fd, &st))
		die(path);
	text = malloc(st.st_size + 1);
	if (!text)
		die("malloc");
	while (got < (size_t)st.st_size) {
		n = read(fd, text + got, st.st_size - got);
		if (n <= 0)
			die(path);
		got += n;
	}
	close(fd);
	*length = got;
	return text;
}

/* Return false if the piece failed. */
static int write_piece(int fd, const char *piece, size_t length, int nr)
{
	ssize_t n;

	while (length) {
		n = write(fd, piece, length);
		if (n <= 0) {
			report("write", nr);
			return 0;
		}
		nr_short += (size_t)n < length;
		piece += n;
		length -= n;
	}
	return 1;
}

static void write_fault(int fd)
{
	const size_t page = sysconf(_SC_PAGESIZE);
	void *hole = mmap(NULL, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ssize_t n;

	if (hole == MAP_FAILED)
		die("mmap");
	n = write(fd, hole, page);
	if (n < 0)
		report("fault", 0);
	else
		printf("fault took %zd\n", n);
	munmap(hole, page);
}

int main(int argc, char **argv)
{
	int opt, fd, nr, flags, keep = 0, fault = 0;
	size_t length, size, done = 0;
	char **sizes, *text;

	while ((opt = getopt(argc, argv, "kf:")) != -1) {
		switch (opt) {
		case 'k':
			keep = 1;
			break;
		case 'f':
			fault = atoi(optarg);
			break;
		default:
			return 2;
		}
	}
	if (argc - optind < 4) {
		fprintf(stderr, "usage: pieces [-k] [-f N] '>'|'>>' FILE TEXT SIZE...\n");
		return 2;
	}
	flags = strcmp(argv[optind], ">>") ? O_TRUNC : O_APPEND;
	text = read_text(argv[optind + 2], &length);
	sizes = argv + optind + 3;

	fd = open(argv[optind + 1], O_WRONLY | flags);
	if (fd < 0) {
		report("open", 0);
		return 1;
	}
	for (nr = 1; done < length || nr == fault; nr++) {
		if (nr == fault)
			write_fault(fd);
		size = strtoul(*sizes, NULL, 10);
		if (!size || size > length - done)
			size = length - done;
		if (sizes[1])
			sizes++;
		if (!write_piece(fd, text + done, size, nr) && !keep)
			break;
		done += size;
	}
	if (close(fd))
		report("close", 0);
	if (!failed)
		puts("ok");
	if (nr_short)
		printf("short %d\n", nr_short);
	return failed;
}
