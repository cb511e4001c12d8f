/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tracer's settings are global: a command that changes them holds a lock, and restores
 * everything when it ends. Before its first change it forks a keeper: a process that waits, and
 * restores everything if the other processes are killed.
 */
#ifndef _MCTRACE_SESSION_H
#define _MCTRACE_SESSION_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Lock the tracer until this process and its children have ended. If another process uses the
 * tracer, name it and end mctrace. Wait for a keeper that is restoring the settings of a killed
 * process.
 */
void session_lock(void);

#define SESSION_COMM	32

/* Return the process that holds the lock, and its name; 0 if there is none. */
int session_user(char comm[SESSION_COMM]);

/*
 * Read all settings and fork the keeper, once. The first session_set() does this, too. An early
 * call keeps the keeper small, because it is forked before large memory is allocated.
 */
void session_begin(void);
/* Write a setting as tracer_write() does. session_restore() restores it. */
void session_set(const char *file, const char *text);
/* Append to a setting as tracer_append() does. session_restore() restores the setting. */
void session_add(const char *file, const char *text, const char *place);
/*
 * As session_set(), but return false and set errno if the kernel refuses: then nothing has changed.
 */
bool session_try(const char *file, const char *text);
/* Return the keeper's pid; 0 if there is none. */
pid_t session_keeper(void);
/*
 * Keep all settings when this process ends. Return false if the keeper has failed: then all
 * settings are restored.
 */
bool session_keep(void);
/*
 * Let the keeper restore all settings but those of the rings, which are still mapped, and do not
 * wait for it. Call session_restore() afterwards.
 */
void session_restore_early(void);
/* In a child: let the keeper restore the settings when the other processes have been killed. */
void session_forked(void);
/*
 * Restore all settings that can be restored. Print the others and return false: then the tracer
 * records less than before, never more.
 */
bool session_restore(void);

#endif /* _MCTRACE_SESSION_H */
