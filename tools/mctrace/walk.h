/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Turn the events of a recording into calls of each task that begin and end. All commands that show
 * more than one event a line use this.
 *
 * If returns were recorded, a return ends a call. If not, a call is nested in the latest call of
 * the function that contains its parent_ip; if there is none, that function is not traced, and is
 * added beside the latest call. But a call from entry code, from user space or at the beginning of
 * a thread, is nested in nothing. The same holds for a call from any function that is not traced if
 * only selected functions were recorded, because then most functions are not traced.
 *
 * A pid may be reused: see take_name(). A call from a system call's function is nested in that
 * function, or in nothing.
 *
 * A task was off the CPU between two of its events if another task had an event on that CPU between
 * them, if the second event is on another CPU, or if the second event is the call of
 * finish_task_switch(), the first call of a task that is switched in. A task is off the CPU for the
 * whole of a call of schedule() in which nothing was recorded. So a task's time on the CPU is exact
 * except for the time from its last event to the switch, and from the switch to its next event.
 */
#ifndef _MCTRACE_WALK_H
#define _MCTRACE_WALK_H

#include <stdbool.h>
#include <stdint.h>

#include "calls.h"
#include "events.h"
#include "recording.h"
#include "symbols.h"
#include "view.h"

/* How a call ended. */
struct ending {
	bool returned;		/* its return was recorded; else its end is not known exactly */
	bool cut;		/* it did not end: calls are missing, or the recording ends */
	bool tail;		/* it ended by a jump to another function */
	bool exact;		/* both times are exact */
	uint64_t took;		/* ns, if returned */
	uint64_t self;		/* took without nested calls */
	uint64_t took_cpu;	/* part of took during which the task was on a CPU */
	uint64_t self_cpu;	/* part of self while on a CPU */
	uint64_t own;		/* took without nested selected calls */
	uint64_t own_cpu;	/* part of own while on a CPU */
	uint64_t ns;		/* when it ended; if not returned, at the latest */
};

/*
 * Callbacks for each step; NULL: none. @call is the innermost call of its task, and valid until the
 * callback returns. Calls that are not selected are not reported, and are not in the task's calls.
 */
struct walker {
	void (*enter)(struct walker *walker, struct task_calls *task, struct call *call);
	void (*leave)(struct walker *walker, struct task_calls *task, struct call *call,
		      const struct ending *ending);
	/* A return whose call precedes all known events. */
	void (*before)(struct walker *walker, struct task_calls *task, const struct symbol *symbol,
		       const struct event *event);
	/* A mark, or a frame of the latest call's backtrace. */
	void (*note)(struct walker *walker, struct task_calls *task, const struct event *event);
	/* Calls are missing: no call is open any more. */
	void (*lost)(struct walker *walker, const struct event *event);
	/* The end of the recording; tasks are still known. */
	void (*end)(struct walker *walker);

	/* For the callbacks: */
	const struct event *event;	/* the current event; NULL at the end */
	const struct view *view;
	struct symbols *symbols;
	struct calls *calls;
	struct calls *all;		/* walk.c: also calls that are not selected */
	uint64_t first_ns, last_ns;	/* times of the first and of the latest event */
	bool enough;			/* set by a callback to end the walk */

	/* For walk(): */
	struct task_calls **running;	/* by CPU: the task of the latest event */
	bool returns;			/* the recording has returns */
	bool chosen;			/* only selected functions were recorded */
};

void walk(const struct view *view, struct walker *walker);
/* Return true if the recording has returns. */
bool has_returns(const struct recording *from);

#endif /* _MCTRACE_WALK_H */
