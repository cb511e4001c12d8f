/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's tracer: its files in debugfs. Each failure ends mctrace with one sentence that
 * says what to do, unless it is said otherwise.
 */
#ifndef _MCTRACE_TRACER_H
#define _MCTRACE_TRACER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* It is a file of the tracer's, too, for all that follows. */
#define TRACER_SYSCTL	"/proc/sys/kernel/mcount_enabled"

/* Finds the directory. To be called first. */
void tracer_find(void);

/* The path of a file there, until the next call; where it begins with "/" it is that. */
const char *tracer_path(const char *file);

/* What a file says, in memory of its own. */
char *tracer_read(const char *file);
bool tracer_has(const char *file);

/* The name of another's hook that all functions would call, or NULL. In memory of its own. */
char *tracer_others_hook(void);

/*
 * Copies it to standard output, as it comes; if @enough is not NULL, until one of the signals sets
 * that which are blocked but not in @wake.
 */
void tracer_show(const char *file, const volatile sig_atomic_t *enough, const sigset_t *wake);

/* Writes it, whatever it was; and what the kernel's log says about it is shown if it fails. */
void tracer_write(const char *file, const char *text);

/*
 * The same without a word: 0, or what errno was. With @append what the file has stays.
 */
int tracer_put(const char *file, const char *text, bool append);
/* errno is why a file can't be used: says so, and what to do. Ends. */
void tracer_die(const char *file) __attribute__((noreturn));

/* Return how many times modules had come or gone; -1 if this kernel does not count that. */
int64_t tracer_modules(void);

#endif /* _MCTRACE_TRACER_H */
