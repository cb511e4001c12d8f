/* SPDX-License-Identifier: GPL-2.0 */
/* What is to happen at functions besides that they are recorded. */
#ifndef _KERNEL_TRACE_MCTRACER_TRIGGERS_H
#define _KERNEL_TRACE_MCTRACER_TRIGGERS_H

#include <linux/atomic.h>
#include <linux/types.h>

/* In the order in which they are done at one function. */
enum mctracer_action {
	MCTRACER_DO_TRACEON,	/* record again, on all CPUs */
	MCTRACER_DO_COUNT,		/* nothing: calls are counted for all actions */
	MCTRACER_DO_STACKTRACE,	/* record the call with its chain of callers */
	MCTRACER_DO_MARK,		/* write a line */
	MCTRACER_DO_SNAPSHOT,	/* keep a copy of the rings as they are then */
	MCTRACER_DO_TRACEOFF,	/* don't record any more, on all CPUs */
	MCTRACER_ACTIONS,
};

/* What one line of the file triggers says. */
struct mctracer_trigger {
	enum mctracer_action action;
	unsigned int option;	/* frames at most; or milliseconds until it is done */
	bool counted;
	atomic64_t left;	/* if so: how often it is still done */
	u64 hits;		/* calls of functions that are gone; under the mutex of sets */
	bool kept;		/* while lists are exchanged: it is in the one that stays */
};

#endif /* _KERNEL_TRACE_MCTRACER_TRIGGERS_H */
