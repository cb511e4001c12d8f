/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A process that copies all rings into a recording, with a thread for each CPU. Of its own, so
 * that whatever becomes of it, somebody is there to switch the tracer off; and the other way
 * round.
 */
#ifndef _MCTRACE_FOLLOW_H
#define _MCTRACE_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "recording.h"

/* In memory that both share. */
struct follow_counts {
	uint64_t seen;		/* calls and returns in the recording */
	uint64_t own;		/* of these, by mctrace's own threads */
	uint64_t bytes;		/* of the recording */
};

struct follower {
	pid_t pid;
	int told;	/* what is written here: "that is all", the words of RECORDING_END */
	struct follow_counts *counts;
};

/*
 * Begins; when it returns all rings are being followed, from the last clear on. @symbols is what
 * /proc/kallsyms said: when modules come it is written again.
 */
void follow_begin(struct follower *follower, struct recording_writer *to, const char *symbols,
		  int64_t modules);
/* It has ended by itself, with this status of waitpid(): says why if it could not. */
void follow_ended(int status);
/*
 * Nothing more comes: copy what is there, write @info as the recording's end, and end. False if
 * not all of it is in the file; it has said why.
 */
bool follow_end(struct follower *follower, const char *info);

#endif /* _MCTRACE_FOLLOW_H */
