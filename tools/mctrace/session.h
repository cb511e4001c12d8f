/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tracer's settings are the machine's, and there is one tracer: so who sets them for a while
 * holds a lock meanwhile, and sets all back when he exits; while a recording goes on there is a
 * second process that does it, too.
 */
#ifndef _MCTRACE_SESSION_H
#define _MCTRACE_SESSION_H

#include <stdbool.h>

/*
 * For as long as this process, and those that it forks, are there nobody else's mctrace sets
 * anything; tells who does, if there is one.
 */
void session_lock(void);

#define SESSION_COMM	32

/* Who that is, and the name of that process; 0 if there is nobody. */
int session_user(char comm[SESSION_COMM]);

/* The same as tracer_write(), but session_restore() writes back what there was before the first. */
void session_set(const char *file, const char *text);
/* The same, but false and errno if the kernel refuses, and then nothing has changed. */
bool session_try(const char *file, const char *text);
/* What was set stays when this process ends. */
void session_keep(void);
/* As much as can be restored; false if something could not. */
bool session_restore(void);

#endif /* _MCTRACE_SESSION_H */
