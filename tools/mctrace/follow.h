/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The follower, a process that copies all rings into a recording, with a thread for each CPU. If
 * one of mctrace and the follower is killed, the other process remains to switch the tracer off.
 */
#ifndef _MCTRACE_FOLLOW_H
#define _MCTRACE_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "recording.h"

/* Counters in memory that mctrace and the follower share. */
struct follow_counts {
	uint64_t seen;		/* calls and returns in the recording */
	uint64_t own;		/* part of seen, by mctrace itself */
	uint64_t bytes;		/* size of the recording */
	bool hurry;		/* copy no more words; set by mctrace */
	bool given_up;		/* words of the rings were not copied, because of @hurry */
};

struct follower {
	pid_t pid;
	int status;	/* of waitpid(), once the follower has ended */
	int told;	/* pipe: write the lines of RECORDING_END and close, to end the follower */
	struct follow_counts *counts;
};

/*
 * Start the follower. On return it copies all rings, beginning at the last clear. @symbols are the
 * lines of /proc/kallsyms when tracer_modules() was @modules; when modules come or go, the symbols
 * of modules are written again. End mctrace on failure.
 */
void follow_begin(struct follower *follower, struct recording_writer *to, const char *symbols,
		  int64_t modules);
/*
 * Report the signal that killed the follower, if any. @status is that of waitpid(). The follower
 * itself reports errors.
 */
void follow_ended(int status);
/*
 * After tracing has ended: let the follower copy the remaining words, write @info as the
 * recording's end, and exit. Do not wait for that.
 */
void follow_end(struct follower *follower, const char *info);
/* After follow_end(): let the follower give up the words that it has not copied yet. */
void follow_hurry(struct follower *follower);
/* Return true if the follower has ended. */
bool follow_has_ended(struct follower *follower);
/*
 * After follow_has_ended(): return false if something is missing in the file, and report a signal
 * that killed the follower. The follower has reported other reasons.
 */
bool follow_was_good(const struct follower *follower);

#endif /* _MCTRACE_FOLLOW_H */
