/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The kernel's tracer: its files in debugfs. Each failure ends mctrace with one sentence that
 * says what to do, unless it is said otherwise.
 */
#ifndef _MCTRACE_TRACER_H
#define _MCTRACE_TRACER_H

#include <signal.h>
#include <stdbool.h>

/* Finds the directory. To be called first. */
void tracer_find(void);

/* The path of a file there, until the next call; where it begins with "/" it is that. */
const char *tracer_path(const char *file);

/* What a file says, in memory of its own. */
char *tracer_read(const char *file);
bool tracer_has(const char *file);

/*
 * Copies it to standard output, as it comes; until *@enough, which a signal may set, if that is
 * not NULL.
 */
void tracer_show(const char *file, const volatile sig_atomic_t *enough);

/* Writes it, whatever it was; and what the kernel's log says about it is shown if it fails. */
void tracer_write(const char *file, const char *text);

/*
 * For as long as this process, and those that it forks, are there nobody else's mctrace sets
 * anything; tells who does, if there is one.
 */
void tracer_lock(void);

/* Prints who that is, if there is one, as a line of "mctrace stat". */
void tracer_user(void);

/* The same as tracer_write(), but tracer_restore() writes back what there was before the first. */
void tracer_set(const char *file, const char *text);
/* The same, but false and errno if the kernel refuses, and then nothing has changed. */
bool tracer_try(const char *file, const char *text);
/* What was set stays when this process ends. */
void tracer_keep(void);
/* As much as can be restored; false if something could not. */
bool tracer_restore(void);

#endif /* _MCTRACE_TRACER_H */
