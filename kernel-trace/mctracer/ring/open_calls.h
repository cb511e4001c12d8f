/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Find the call that a return belongs to. The open calls of each task, which have not returned, are
 * a stack. A return belongs to the last open call of its function. Later open calls are dropped:
 * they do not return, or their returns were not recorded. A return without an open call belongs to
 * a call from before the trace. Where calls are missing, the stacks are not valid any more: readers
 * must call mctracer_open_calls_forget().
 */
#ifndef _KERNEL_TRACE_MCTRACER_OPEN_CALLS_H
#define _KERNEL_TRACE_MCTRACER_OPEN_CALLS_H

#include <linux/types.h>

struct mctracer_opencall {
	u32 function;	/* where the called function begins, low half */
	u32 parent_ip;	/* return address, low half */
	u64 ns;		/* time of the call, */
	bool exact;	/* which was recorded, not estimated */
};

struct mctracer_open_calls;

/*
 * Allocate empty stacks. With @crash, for use when nothing can be allocated: for fewer tasks, and
 * mctracer_open_calls_forget() may be called in any context. May sleep. Return NULL if there is no
 * memory.
 */
struct mctracer_open_calls *mctracer_open_calls_alloc(bool crash);
void mctracer_open_calls_free(struct mctracer_open_calls *open);
/* Drop all open calls of all tasks. */
void mctracer_open_calls_forget(struct mctracer_open_calls *open);
/* Add an open call of the task @pid on @cpu. Without memory the call is dropped. */
void mctracer_open_calls_call(struct mctracer_open_calls *open, u32 pid, int cpu,
			      const struct mctracer_opencall *call);
/*
 * Remove the open call that a return of @function belongs to, and store it in *@call. @function 0:
 * the task's last open call. Return false if there is none.
 */
bool mctracer_open_calls_return(struct mctracer_open_calls *open, u32 pid, int cpu, u32 function,
				struct mctracer_opencall *call);

#endif /* _KERNEL_TRACE_MCTRACER_OPEN_CALLS_H */
