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
	uint64_t ns;		/* when; if it has not returned, no later than this */
};

/*
 * What is called for each step; what is NULL is not. @call is good until the function ends, and
 * the innermost of its task.
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
	uint64_t last_ns;		/* the last one's */
	bool enough;			/* they have had */

	/* For walk(): */
	bool returns;			/* are recorded, of all that is */
	bool chosen;			/* not all functions are */
};

void walk(const struct view *view, struct walker *walker);
/* Does the recording have returns? */
bool has_returns(const struct recording *from);

#endif /* _MCTRACE_WALK_H */
