// SPDX-License-Identifier: GPL-2.0
/*
 * usage: spent write FILE BLOCK <TEXT | spent read FILE |
 *        spent loads MODULE.ko NAME TIMES [PARAMETERS] |
 *        spent copies MODULE.ko NAME FROM TO | spent no-copies NAME FROM TO
 *
 * Print two numbers of nanoseconds for an operation: the CPU time of this
 * process, and the time from begin to end. Under "qemu -icount shift=0" one
 * nanosecond is one instruction. The second number includes waits (such as for
 * an RCU grace period), during which the CPU may idle.
 *
 * write: open FILE with O_TRUNC, write the standard input in pieces of BLOCK
 *	bytes, and close FILE.
 * read: open FILE, read to its end, and close FILE.
 * loads: load and unload a module TIMES times. Print the least numbers of one
 *	load with its unload.
 * copies: load copies of a module, with the numbers from FROM to TO in place of the
 *	last three letters of all its names that begin with NAME. Print the numbers of
 *	all loads together. no-copies: unload these copies.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct spent {
	long long cpu, elapsed;
};

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static long long clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static struct spent begin(void)
{
	struct spent now;

	now.elapsed = clock_ns(CLOCK_MONOTONIC);
	now.cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	return now;
}

static struct spent since(struct spent start)
{
	struct spent spent;

	spent.cpu = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - start.cpu;
	spent.elapsed = clock_ns(CLOCK_MONOTONIC) - start.elapsed;
	return spent;
}

/* Read all of the standard input into memory. */
static char *read_text(size_t *size)
{
	size_t room = 1 << 16;
	char *text = NULL;
	ssize_t len;

	*size = 0;
	do {
		room *= 2;
		text = realloc(text, room);
		if (!text)
			die("realloc");
		do {
			len = read(0, text + *size, room - *size);
			if (len < 0)
				die("standard input");
			*size += len;
		} while (len && *size < room);
	} while (len);
	return text;
}

static struct spent write_file(const char *path, size_t block)
{
	size_t size, at = 0, piece;
	char *text = read_text(&size);
	struct spent start = begin();
	ssize_t len;
	int fd;

	fd = open(path, O_WRONLY | O_TRUNC);
	if (fd < 0)
		die(path);
	while (at < size) {
		piece = size - at < block ? size - at : block;
		len = write(fd, text + at, piece);
		if (len <= 0)
			die(path);
		at += len;
	}
	if (close(fd))
		die(path);
	return since(start);
}

static struct spent read_file(const char *path)
{
	static char buf[65536];
	struct spent start;
	ssize_t len;
	int fd;

	memset(buf, 1, sizeof(buf));	/* takes the page faults before the measurement */
	start = begin();
	fd = open(path, O_RDONLY);
	if (fd < 0)
		die(path);
	while ((len = read(fd, buf, sizeof(buf))) > 0)
		;
	if (len < 0 || close(fd))
		die(path);
	return since(start);
}

static struct spent load(const char *path, const char *name, const char *parameters)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct spent start;

	if (fd < 0)
		die(path);
	start = begin();
	if (syscall(SYS_finit_module, fd, parameters, 0))
		die(path);
	if (syscall(SYS_delete_module, name, O_NONBLOCK))
		die(name);
	start = since(start);
	close(fd);
	return start;
}

static struct spent loads(const char *path, const char *name, int times, const char *parameters)
{
	struct spent one, least = load(path, name, parameters);

	while (--times > 0) {
		one = load(path, name, parameters);
		if (one.cpu < least.cpu)
			least.cpu = one.cpu;
		if (one.elapsed < least.elapsed)
			least.elapsed = one.elapsed;
	}
	return least;
}

/* Write the name of copy @i of the module @name to @copy. */
static void name_copy(char *copy, const char *name, int i)
{
	snprintf(copy, 64, "%.*s%03d", (int)strlen(name) - 3, name, i);
}

static struct spent load_copies(const char *path, const char *name, int from, int to)
{
	size_t size, at, len = strlen(name);
	char *image, copy[64], last[64];
	int fd = open(path, O_RDONLY);
	struct spent start;
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		die(path);
	size = st.st_size;
	image = malloc(size);
	if (!image || read(fd, image, size) != (ssize_t)size)
		die(path);
	close(fd);
	start = begin();
	snprintf(last, sizeof(last), "%s", name);
	for (; from <= to; from++) {
		name_copy(copy, name, from);
		for (at = 0; at + len <= size; at++)
			if (!memcmp(image + at, last, len))
				memcpy(image + at, copy, len);
		strcpy(last, copy);
		if (syscall(SYS_init_module, image, size, ""))
			die(copy);
	}
	return since(start);
}

static struct spent unload_copies(const char *name, int from, int to)
{
	struct spent start = begin();
	char copy[64];

	for (; from <= to; from++) {
		name_copy(copy, name, from);
		if (syscall(SYS_delete_module, copy, O_NONBLOCK))
			die(copy);
	}
	return since(start);
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[1] : "";
	struct spent spent;

	if (!strcmp(what, "write") && argc == 4 && atol(argv[3]) > 0) {
		spent = write_file(argv[2], atol(argv[3]));
	} else if (!strcmp(what, "read") && argc == 3) {
		spent = read_file(argv[2]);
	} else if (!strcmp(what, "loads") && (argc == 5 || argc == 6)) {
		spent = loads(argv[2], argv[3], atoi(argv[4]), argc == 6 ? argv[5] : "");
	} else if (!strcmp(what, "copies") && argc == 6) {
		spent = load_copies(argv[2], argv[3], atoi(argv[4]), atoi(argv[5]));
	} else if (!strcmp(what, "no-copies") && argc == 5) {
		spent = unload_copies(argv[2], atoi(argv[3]), atoi(argv[4]));
	} else {
		fprintf(stderr,
			"usage: spent write FILE BLOCK <TEXT | read FILE |\n"
			"             loads MODULE.ko NAME TIMES [PARAMETERS] |\n"
			"             copies MODULE.ko NAME FROM TO | no-copies NAME FROM TO\n");
		return 2;
	}
	printf("%lld %lld\n", spent.cpu, spent.elapsed);
	return 0;
}
