/* SPDX-License-Identifier: GPL-2.0 */
/* What is to happen at functions besides that they are recorded. */
#ifndef _KERNEL_TRACE_MCTRACER_TRIGGERS_H
#define _KERNEL_TRACE_MCTRACER_TRIGGERS_H

#include <linux/atomic.h>
#include <linux/types.h>

#include "mctracer.h"

/* In the order in which they are done at one function. */
enum mctracer_action {
	MCTRACER_DO_TRACEON,	/* record again, on all CPUs */
	MCTRACER_DO_COUNT,		/* nothing: calls are counted for all actions */
	MCTRACER_DO_ARGS,	/* record the call with its arguments: once, with all else */
	MCTRACER_DO_STACKTRACE,	/* record the call, or return, with its chain of callers */
	MCTRACER_DO_RET,	/* record the return with what is returned */
	MCTRACER_DO_MARK,		/* write a line */
	MCTRACER_DO_SNAPSHOT,	/* keep a copy of the rings as they are then */
	MCTRACER_DO_TRACEOFF,	/* don't record any more, on all CPUs */
	MCTRACER_ACTIONS,
};

enum mctracer_when {
	MCTRACER_WHEN_CALLED,
	MCTRACER_WHEN_RETURNS,
	MCTRACER_WHEN_FAILS,	/* when it returns an error */
	MCTRACER_WHEN_SLOW,	/* when the call took longer than that */
};

/* What one line of the file triggers says. */
struct mctracer_trigger {
	enum mctracer_when when;
	u64 longer;		/* nanoseconds */
	enum mctracer_action action;
	unsigned int option;	/* frames at most; or milliseconds until it is done */
	bool counted;
	atomic64_t left;	/* if so: how often it is still done */
	u64 hits;		/* of functions that are gone; under the mutex of sets */
	u64 unknown;		/* of these, jumps to others, which return instead */
	bool kept;		/* while lists are exchanged: it is in the one that stays */
};

struct mcount_regs;
struct mctracer_triggered;

/* What triggers act on: a function is called, or returns. */
struct mctracer_occasion {
	unsigned long ip, parent_ip;
	const struct mcount_regs *regs;
	struct mctracer_args args;		/* if they are to be recorded */
	bool returns;
	u32 how;				/* if so: MCTRACER_RETURN_TAIL and so on, */
	struct mctracer_outcome outcome;	/* and what is known of it */
};

/*
 * gate.c, for both: count it, and act. True if the call or return is recorded, which is still
 * to be done if @record says so; @done: it has been. With preemption disabled. Any context.
 */
bool mctracer_act(const struct mctracer_triggered *at, struct mctracer_occasion *occasion,
		  bool record, bool done);

/* timed.c: when calls have begun, by where on the stack they have to return from. */

/* May sleep. -ENOMEM. */
int mctracer_timed_alloc(void);
/* All that have begun are not known any more. */
void mctracer_timed_forget(void);
/* How many calls were not timed, for there were more than can be remembered. */
unsigned long mctracer_timed_missed(void);
/* From now on. Under the mutex of sets, which who asks holds, too. */
void mctracer_timed_count_anew(void);
/* Any context. */
void mctracer_timed_begin(const unsigned long *where);
/* Nanoseconds since then; false if it is not known. */
bool mctracer_timed_end(const unsigned long *where, u64 *took);

#endif /* _KERNEL_TRACE_MCTRACER_TRIGGERS_H */
