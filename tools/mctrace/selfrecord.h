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
 * Return a path of the file, which has no name in its folder any more. If nothing was recorded, end
 * mctrace with the status of "mctrace record", such as 127 if there is no such command. Otherwise
 * ignore the command's exit status.
 */
char *record_now(const char * const *options, char **command);
/*
 * As record_now(), for a command that reads the recording while it grows: recorder_begin() starts
 * "mctrace record", and recorder_has_ended() waits for @ms milliseconds and returns true if it has
 * ended. Further calls return true at once.
 */
struct recorder {
	char *path;
	pid_t pid;		/* 0: it has ended */
	int status;		/* of waitpid(), after the end */
};

/*
 * Let signals that are ignored wait for the recorder, which they end. recorder_begin() does so;
 * call this before, if the command needs time until then.
 */
void recorder_expect_signals(void);
void recorder_begin(struct recorder *recorder, const char * const *options, char **command);
bool recorder_has_ended(struct recorder *recorder, unsigned int ms);
/*
 * Return the exit status of a recorder that has ended, or 128 plus the number of the signal that
 * ended it.
 */
int recorder_status(const struct recorder *recorder);
/*
 * End mctrace with that status, or with EXIT_FAILURE if it is 0. Nothing was recorded, and the
 * recorder has printed the reason.
 */
void recorder_failed(const struct recorder *recorder) __attribute__((noreturn));
/* Remove the temporary file: it is open already, or not needed. */
void unlink_recorded(const char *path);

#endif /* _MCTRACE_SELFRECORD_H */
