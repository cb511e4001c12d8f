/* SPDX-License-Identifier: GPL-2.0 */
/* For commands that record what they show at once. */
#ifndef _MCTRACE_SELFRECORD_H
#define _MCTRACE_SELFRECORD_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * "mctrace record" with these options, ended by NULL, and this command (NULL: until Ctrl-C), into a
 * temporary file, whose name is returned. Ends if nothing was recorded; how the command ended does
 * not matter.
 */
char *record_now(const char * const *options, char **command);
/*
 * The same, for who looks at it while it grows: begins; then waits at most so long, and tells
 * whether it has ended.
 */
struct recorder {
	char *path;
	pid_t pid;
	int status;		/* of waitpid(), when it has ended */
};

void recorder_begin(struct recorder *recorder, const char * const *options, char **command);
bool recorder_has_ended(struct recorder *recorder, unsigned int ms);
/* It is open, or not wanted: nobody else is to see it. */
void unlink_recorded(const char *path);

#endif /* _MCTRACE_SELFRECORD_H */
