/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A recording as what each task does: it goes into functions and out of them. All that is more
 * than one event a line is made of this.
 *
 * Where returns were recorded they take calls away. Where not, a call is within the last one of
 * the function that its parent_ip is in; if there is none, that function is not traced, and is
 * put beside the last call. But what entry code calls, from user space or at the beginning of a
 * thread, is within nothing, and so is every such function if only some were chosen, since then
 * most are not traced.
 *
 * A pid may be used again: see take_name(). A function that a system call's function calls is
 * within that one, or within nothing.
 *
 * A task is off the CPU between two events of its own if meanwhile another task had an event on
 * that CPU, if the second event is on another CPU, or is the call of finish_task_switch() that a
 * task makes first when it is switched in. It is off for all of a call of schedule() in which
 * nothing was recorded. So its time on the CPU is exact up to the time from its last event to the
 * switch, and from the switch to its next event.
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

/* How a call has ended. */
struct ending {
	bool returned;		/* a return says so; else it is not known when, ... */
	bool cut;		/* ... or it has not: calls are missing then, or the end comes */
	bool tail;		/* it went on in another function */
	bool exact;		/* both times were recorded */
	uint64_t took;		/* ns, if it has returned */
	uint64_t self;		/* that, without the calls in it */
	uint64_t took_cpu;	/* the part of took during which its task was on a CPU */
	uint64_t self_cpu;	/* the same of self */
	uint64_t own;		/* that, without the selected calls in it */
	uint64_t own_cpu;	/* the same of own */
	uint64_t ns;		/* when; if it has not returned, no later than this */
};

/*
 * What is called for each step; what is NULL is not. @call is good until the function ends, and
 * the innermost of its task. Of calls that are not selected a walker sees nothing: neither are
 * they among its task's calls.
 */
struct walker {
	void (*enter)(struct walker *walker, struct task_calls *task, struct call *call);
	void (*leave)(struct walker *walker, struct task_calls *task, struct call *call,
		      const struct ending *ending);
	/* A return of what was called before all that is known. */
	void (*before)(struct walker *walker, struct task_calls *task, const struct symbol *symbol,
		       const struct event *event);
	/* A mark, or an address of the chain of the call before. */
	void (*note)(struct walker *walker, struct task_calls *task, const struct event *event);
	/* Calls are missing; nothing is open any more. */
	void (*lost)(struct walker *walker, const struct event *event);
	/* The end; tasks are still known. */
	void (*end)(struct walker *walker);

	/* For those functions: */
	const struct event *event;	/* the current one; NULL at the end */
	const struct view *view;
	struct symbols *symbols;
	struct calls *calls;
	struct calls *all;		/* walk.c: also those that are not selected */
	uint64_t last_ns;		/* the last one's */
	bool enough;			/* they have had */

	/* For walk(): */
	struct task_calls **running;	/* by CPU: whose event was the last one there */
	bool returns;			/* are recorded, of all that is */
	bool chosen;			/* not all functions are */
};

void walk(const struct view *view, struct walker *walker);
/* Does the recording have returns? */
bool has_returns(const struct recording *from);

#endif /* _MCTRACE_WALK_H */
