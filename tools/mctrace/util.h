/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Helpers for all of mctrace: errors, memory, files, and loads of memory that the kernel writes
 * concurrently.
 */
#ifndef _MCTRACE_UTIL_H
#define _MCTRACE_UTIL_H

#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define fallthrough		__attribute__((__fallthrough__))
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* Load @x once; the compiler neither omits nor splits the load. */
#define READ_ONCE(x)	__atomic_load_n(&(x), __ATOMIC_RELAXED)

/* Keep the compiler from reordering loads, which is enough on x86: see linux/mctracer.h. */
static inline void barrier(void)
{
	__asm__ volatile("" : : : "memory");
}

/* Exit status for wrong command lines; other failures are EXIT_FAILURE. */
#define EXIT_USAGE	2

/* Print "mctrace: " and the text to stderr; die() then exits with EXIT_FAILURE. */
void warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
/* As die(), with ": " and strerror(errno) behind the text. */
void die_errno(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
/* Print what is wrong with the command line and how to get help; exit with EXIT_USAGE. */
void die_usage(const char *command, const char *format, ...)
	__attribute__((format(printf, 2, 3), noreturn));
/* Print how to get help on @command; NULL: on mctrace. */
void say_try(const char *command);

/* The word that a mistyped one may have been meant for. */
struct guess {
	const char *typed;
	const char *meant;	/* the most similar word so far; NULL: none */
	unsigned int changes;	/* from one to the other */
};

/* Take @word for what was meant if it is more similar than all before it, and similar enough. */
void guess_consider(struct guess *guess, const char *word);

/* Allocate memory, or end mctrace. */
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *old, size_t n, size_t size);
char *xstrdup(const char *text);
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *xvasprintf(const char *format, va_list args) __attribute__((format(printf, 1, 0)));

struct timespec;

/*
 * Replace control characters by '?', but not those of @keep: a terminal may obey them. Those of two
 * bytes, U+0080 to U+009F, are replaced, too.
 */
void replace_controls(char *text, const char *keep);

/* Return the seconds since @then, by CLOCK_MONOTONIC. */
double seconds_since(const struct timespec *then);

/* Return the width of the terminal in characters: $COLUMNS, or standard output's, or 80. */
unsigned int terminal_width(void);

/* Return the folder for temporary files: $TMPDIR, or /tmp. */
const char *temporary_folder(void);
/*
 * Create a temporary file there without a name, so that closing frees it. Return its descriptor, or
 * a stream; end mctrace on failure.
 */
int temporary_file(void);
FILE *temporary_stream(void);

/* Return a file's content as a string; NULL and errno on failure. The caller frees it. */
char *read_file(const char *path);

/* The levels of a printed tree that are indented: n levels would print n * n spaces. */
#define MOST_INDENTED	32

/* Write what standard output has buffered. On failure print why. Return an exit status. */
int flush_output(void);

/* Write all @size bytes, in as many steps as needed. Return false and set errno on failure. */
bool write_all(int fd, const void *from, size_t size);
/*
 * As write_all(), but while a reader of a pipe stalls, wait with the signal mask @wake: a signal
 * then acts, and if it has a handler, return false with EINTR.
 */
bool write_all_waking(int fd, const void *from, size_t size, const sigset_t *wake);

#endif /* _MCTRACE_UTIL_H */
