// SPDX-License-Identifier: GPL-2.0
/* Print errors and exit, and small helpers that the C library lacks. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "util.h"

static void say(const char *format, va_list args, const char *more)
{
	fflush(stdout);
	fputs("mctrace: ", stderr);
	vfprintf(stderr, format, args);
	fprintf(stderr, "%s%s\n", more ? ": " : "", more ?: "");
}

void warning(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args, NULL);
	va_end(args);
}

void die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args, NULL);
	va_end(args);
	exit(EXIT_FAILURE);
}

void die_errno(const char *format, ...)
{
	const char *why = strerror(errno);
	va_list args;

	va_start(args, format);
	say(format, args, why);
	va_end(args);
	exit(EXIT_FAILURE);
}

void say_try(const char *command)
{
	fprintf(stderr, "Try 'mctrace %s%s--help'.\n", command ?: "", command ? " " : "");
}

void die_usage(const char *command, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args, NULL);
	va_end(args);
	say_try(command);
	exit(EXIT_USAGE);
}

/*
 * Return how many characters must be changed, added or removed to turn @a into @b. The
 * Wagner-Fischer algorithm (1974), with one row of its table.
 */
static unsigned int changes_between(const char *a, const char *b)
{
	unsigned int row[64], left, above, i, j, nr = strnlen(b, ARRAY_SIZE(row) - 1);

	for (j = 0; j <= nr; j++)
		row[j] = j;
	for (i = 0; a[i]; i++) {
		left = row[0]++;	/* the value above and to the left */
		for (j = 1; j <= nr; j++) {
			above = row[j];
			row[j] = left + (a[i] != b[j - 1]);
			if (above + 1 < row[j])
				row[j] = above + 1;
			if (row[j - 1] + 1 < row[j])
				row[j] = row[j - 1] + 1;
			left = above;
		}
	}
	return row[nr];
}

void guess_consider(struct guess *guess, const char *word)
{
	const unsigned int changes = changes_between(guess->typed, word);

	if (changes > 2 || changes >= strlen(word) / 2 ||
	    (guess->meant && changes >= guess->changes))
		return;
	guess->meant = word;
	guess->changes = changes;
}

void *xcalloc(size_t n, size_t size)
{
	void *p = calloc(n ?: 1, size);

	if (!p)
		die_errno("%zu times %zu bytes", n, size);
	return p;
}

void *xrealloc(void *old, size_t n, size_t size)
{
	void *p = reallocarray(old, n ?: 1, size);

	if (!p)
		die_errno("%zu times %zu bytes", n, size);
	return p;
}

char *xstrdup(const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		die_errno("%zu bytes", strlen(text));
	return copy;
}

char *xvasprintf(const char *format, va_list args)
{
	char *text;

	if (vasprintf(&text, format, args) < 0)
		die_errno("a string");
	return text;
}

char *xasprintf(const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = xvasprintf(format, args);
	va_end(args);
	return text;
}

void replace_controls(char *text, const char *keep)
{
	for (; *text; text++) {
		if (iscntrl((unsigned char)*text) && !strchr(keep, *text)) {
			*text = '?';
		} else if (*text == '\xc2' && ((unsigned char)text[1] & 0xe0) == 0x80) {
			text[0] = '?';
			text[1] = '?';
		}
	}
}

double seconds_since(const struct timespec *then)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec - then->tv_sec + (now.tv_nsec - then->tv_nsec) / 1e9;
}

unsigned int terminal_width(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;

	if (columns && atoi(columns) > 0)
		return atoi(columns);
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col)
		return size.ws_col;
	return 80;
}

const char *temporary_folder(void)
{
	return getenv("TMPDIR") ?: "/tmp";
}

int temporary_file(void)
{
	char *path = xasprintf("%s/mctrace-XXXXXX", temporary_folder());
	int fd = mkostemp(path, O_CLOEXEC);

	if (fd < 0)
		die_errno("a temporary file in %s", temporary_folder());
	unlink(path);
	free(path);
	return fd;
}

FILE *temporary_stream(void)
{
	FILE *stream = fdopen(temporary_file(), "w+");

	if (!stream)
		die_errno("a temporary file in %s", temporary_folder());
	return stream;
}

char *read_file(const char *path)
{
	size_t size = 0, room = 4096;
	char *text = xrealloc(NULL, room, 1);
	int fd = open(path, O_RDONLY | O_CLOEXEC), saved;
	ssize_t n;

	if (fd < 0) {
		free(text);
		return NULL;
	}
	while ((n = read(fd, text + size, room - size - 1)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break;
		size += n;
		if (room - size < 4096) {
			room *= 2;
			text = xrealloc(text, room, 1);
		}
	}
	saved = errno;
	close(fd);
	errno = saved;
	if (n < 0) {
		free(text);
		return NULL;
	}
	text[size] = '\0';
	return text;
}

int flush_output(void)
{
	if ((!fflush(stdout) && !ferror(stdout)) || errno == EPIPE)
		return EXIT_SUCCESS;
	warning("standard output: %s", strerror(errno));
	return EXIT_FAILURE;
}

bool write_all(int fd, const void *from, size_t size)
{
	const char *p = from;
	ssize_t n;

	while (size) {
		n = write(fd, p, size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		p += n;
		size -= n;
	}
	return true;
}

/* A pipe that poll() calls writable takes PIPE_BUF bytes at once. */
bool write_all_waking(int fd, const void *from, size_t size, const sigset_t *wake)
{
	const struct timespec nap = { .tv_nsec = 20000000 };
	struct pollfd fds = { .fd = fd, .events = POLLOUT };
	const char *p = from;
	ssize_t n;

	while (size) {
		if (ppoll(&fds, 1, NULL, wake) < 0)
			return false;
		n = write(fd, p, size < PIPE_BUF ? size : PIPE_BUF);
		if (n < 0 && errno == EAGAIN && ppoll(NULL, 0, &nap, wake) < 0)
			return false;
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return false;
		if (n > 0) {
			p += n;
			size -= n;
		}
	}
	return true;
}
