/* SPDX-License-Identifier: GPL-2.0 */
/* Run "mctrace record" from commands that record and show at once. */
#ifndef _MCTRACE_SELFRECORD_H
#define _MCTRACE_SELFRECORD_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * record_now() - Run "mctrace record" into a temporary file
 * @options: its options, ended by NULL
 * @command: the command to run; NULL: record until Ctrl-C
 *
 * Return the file's name. End mctrace if nothing was recorded. The command's exit status is
 * ignored.
 */
char *record_now(const char * const *options, char **command);
/*
 * As record_now(), for a command that reads the recording while it grows: recorder_begin() starts
 * "mctrace record", and recorder_has_ended() waits for @ms milliseconds and returns true if it has
 * ended.
 */
struct recorder {
	char *path;
	pid_t pid;
	int status;		/* of waitpid(), after the end */
};

void recorder_begin(struct recorder *recorder, const char * const *options, char **command);
bool recorder_has_ended(struct recorder *recorder, unsigned int ms);
/* Remove the temporary file: it is open already, or not needed. */
void unlink_recorded(const char *path);

#endif /* _MCTRACE_SELFRECORD_H */
