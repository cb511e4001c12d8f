/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Access the files of the kernel's tracer in debugfs. Unless noted otherwise, each failure ends
 * mctrace with a sentence that tells the user what to do.
 */
#ifndef _MCTRACE_TRACER_H
#define _MCTRACE_TRACER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* All functions below accept these files, too. */
#define TRACER_SYSCTL	"/proc/sys/kernel/mcount_enabled"
/* How many calls the kernel prints when it crashes. */
#define TRACER_DUMP	"/sys/module/mctracer/parameters/dump"

/* Find the tracer's directory, or load the module that creates it. Call this first. */
void tracer_find(void);

/*
 * Return the path of a file of the tracer, valid until the next call; an absolute path stays as it
 * is.
 */
const char *tracer_path(const char *file);

/* Return the content of a file; the caller frees it. */
char *tracer_read(const char *file);
bool tracer_has(const char *file);

/*
 * Return the name of another user's hook that all functions call; NULL if there is none. The caller
 * frees it.
 */
char *tracer_others_hook(void);

/*
 * tracer_show() - Copy @file to standard output as its content comes
 * @enough: stop when a signal handler sets it; NULL: copy to the end
 * @wake: the signal mask while waiting; these signals are blocked elsewhere
 */
void tracer_show(const char *file, const volatile sig_atomic_t *enough, const sigset_t *wake);

/* Write @text to @file. If that fails, print the kernel's log message about it and end mctrace. */
void tracer_write(const char *file, const char *text);

/* As tracer_write(), but keep the file's content. A message begins with @place. */
void tracer_append(const char *file, const char *text, const char *place);

/* As tracer_write(), but return 0 or an errno. With @append keep the file's content. */
int tracer_put(const char *file, const char *text, bool append);
/* Print why @file can't be used, by errno, and what to do; end mctrace. */
void tracer_die(const char *file) __attribute__((noreturn));

#define TRACER_REASON	32

/*
 * Return true if an event such as an oops froze the rings, and set @reason to its name. Never ends
 * mctrace, and allocates nothing.
 */
bool tracer_frozen(char reason[TRACER_REASON]);

/* Return the count of module loads and unloads; -1 if this kernel doesn't count them. */
int64_t tracer_modules(void);

/* Return how many returns were not seen since boot; -1 if this kernel doesn't count them. */
int64_t tracer_returns_missed(void);

/*
 * Return how many followed objects an allocator returned again before their end was seen, since the
 * tracer was switched on; 0 if the kernel doesn't count them.
 */
uint64_t tracer_objects_reused(void);

#endif /* _MCTRACE_TRACER_H */
