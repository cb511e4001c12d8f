/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What all of mctrace uses: how it fails, memory that is there, and loads of what the
 * kernel writes meanwhile.
 */
#ifndef _MCTRACE_UTIL_H
#define _MCTRACE_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define fallthrough		__attribute__((__fallthrough__))
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* A load that the compiler neither leaves out nor splits. */
#define READ_ONCE(x)	__atomic_load_n(&(x), __ATOMIC_RELAXED)

/* Keeps the compiler from moving loads; that is enough on x86, see linux/mctracer.h. */
static inline void barrier(void)
{
	__asm__ volatile("" : : : "memory");
}

/* Exit statuses: what failed, and what was typed wrong. */
#define EXIT_USAGE	2

/* "mctrace: " and the text on stderr; die() ends with EXIT_FAILURE then. */
void warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
/* The same, with ": " and what errno says. */
void die_errno(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
/* What was typed is wrong: and how to ask for help. */
void die_usage(const char *command, const char *format, ...)
	__attribute__((format(printf, 2, 3), noreturn));
/* Print how to ask for @command's help; NULL: for that of mctrace. */
void say_try(const char *command);

/* How many characters must be changed, added or left out to make the one the other. */
unsigned int changes_between(const char *a, const char *b);
/* Is @changes so few that the one may well have been typed for @name? */
bool is_slip(unsigned int changes, const char *name);

/* Memory, or the end. */
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *old, size_t n, size_t size);
char *xstrdup(const char *text);
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));

struct timespec;

/* By CLOCK_MONOTONIC. */
double seconds_since(const struct timespec *then);

/* Return the width of the terminal: COLUMNS, or standard output's, or 80. */
unsigned int terminal_width(void);

/* All of a file as a string; NULL and errno. */
char *read_file(const char *path);

/* Writes all of it, however often it takes. False and errno. */
bool write_all(int fd, const void *from, size_t size);

#endif /* _MCTRACE_UTIL_H */
