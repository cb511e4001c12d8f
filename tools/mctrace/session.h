/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tracer's settings are the machine's, and there is one tracer. So a command that sets it holds
 * a lock, and sets everything back when it ends. Before its first change it forks a keeper: a
 * process that waits, and sets everything back if the others are killed.
 */
#ifndef _MCTRACE_SESSION_H
#define _MCTRACE_SESSION_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Lock the tracer until this process and those that it forks have ended, or end and name the
 * process that uses the tracer. Wait for a keeper that is setting back what a killed process has
 * set.
 */
void session_lock(void);

#define SESSION_COMM	32

/* Return the process that holds the lock, and its name; 0 if there is none. */
int session_user(char comm[SESSION_COMM]);

/*
 * Read what is set, and fork the keeper, if that has not been done. The first session_set() does
 * it; before large memory is allocated the keeper has less of it.
 */
void session_begin(void);
/* Write as tracer_write() does. session_restore() writes back what the file had before. */
void session_set(const char *file, const char *text);
/* The same, but return false and set errno if the kernel refuses: then nothing has changed. */
bool session_try(const char *file, const char *text);
/* Return the keeper's pid; 0 if there is none. */
pid_t session_keeper(void);
/* Leave everything set when this process ends. */
void session_keep(void);
/*
 * Set everything back that can be. Return false if something could not, and say what: then less is
 * recorded than before, never more.
 */
bool session_restore(void);

#endif /* _MCTRACE_SESSION_H */
