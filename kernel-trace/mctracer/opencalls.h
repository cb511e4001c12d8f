/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which call does a return belong to? The calls of each task that have not returned are a
 * stack. A return is of the last call of its function; what was called after that and has not
 * returned never will: it does not return, or its return was not recorded. A return whose
 * call is not there was called before the trace begins. Where calls are missing nothing is
 * known any more, so all is to be forgotten.
 */
#ifndef _KERNEL_TRACE_MCTRACER_OPENCALLS_H
#define _KERNEL_TRACE_MCTRACER_OPENCALLS_H

#include <linux/types.h>

struct mctracer_opencall {
	u32 function;	/* where it begins, low half */
	u32 parent_ip;	/* where it will return to */
	u64 ns;		/* when it was called, */
	bool exact;	/* which was recorded */
};

struct mctracer_opencalls;

/*
 * NULL if there is no memory. May sleep. For use in a @crash, when nothing can be allocated: then
 * there are fewer tasks, and forgetting takes any context, too.
 */
struct mctracer_opencalls *mctracer_opencalls_alloc(bool crash);
void mctracer_opencalls_free(struct mctracer_opencalls *open);
void mctracer_opencalls_forget(struct mctracer_opencalls *open);
/* By the task of @pid, on @cpu. If there is no memory it is not there when it returns. */
void mctracer_opencalls_call(struct mctracer_opencalls *open, u32 pid, int cpu,
			     const struct mctracer_opencall *call);
/* Of which @call; false if that is not known. @function may be 0: then it is the last one. */
bool mctracer_opencalls_return(struct mctracer_opencalls *open, u32 pid, int cpu, u32 function,
			       struct mctracer_opencall *call);

#endif /* _KERNEL_TRACE_MCTRACER_OPENCALLS_H */
