// SPDX-License-Identifier: GPL-2.0
/* How mctrace fails, and small things that the C library leaves out. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
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

void die_usage(const char *command, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args, NULL);
	va_end(args);
	fprintf(stderr, "Try 'mctrace %s%s--help'.\n", command ?: "", command ? " " : "");
	exit(EXIT_USAGE);
}

unsigned long option_number(const char *command, const char *option, const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (end == text || *end || *text == '-')
		die_usage(command, "%s wants a number, not '%s'", option, text);
	return n;
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

char *xasprintf(const char *format, ...)
{
	va_list args;
	char *text;
	int n;

	va_start(args, format);
	n = vasprintf(&text, format, args);
	va_end(args);
	if (n < 0)
		die_errno("a string");
	return text;
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
