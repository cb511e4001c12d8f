/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Taking the calls of all CPUs away, the oldest first; each is taken once, whoever reads.
 *
 * Between mctracer_consume_begin() and _end() one reader looks at the next call of each
 * CPU, uses the oldest, and only then takes it. A reader that is killed has taken nothing
 * that it did not use. In between there are no page faults: what user space has not got
 * there fails.
 */
#ifndef _KERNEL_TRACE_MCTRACER_CONSUME_H
#define _KERNEL_TRACE_MCTRACER_CONSUME_H

#include "cursor.h"

/* Once before the first use. -ENOMEM. */
int mctracer_consume_prepare(void);
/* Interruptible: 0 or -ERESTARTSYS. Until the end there is no other reader. */
int mctracer_consume_begin(void);
void mctracer_consume_end(void);
/* Look at what is oldest: first at what is missing before it. NULL if there is nothing. */
const struct mctracer_stream *mctracer_consume_next(int *cpu);
/* Whether what comes next belongs to the call that was taken last. */
bool mctracer_consume_chain(void);
/* Take what was looked at last. */
void mctracer_consume_take(int cpu);
/* From CPU @only or from any; at any time; not always right. */
bool mctracer_anything_to_consume(int only);
/*
 * Begin to read @ring with @cursor at what is to be consumed next. @live, @ahead: as for
 * mctracer_cursor_begin(). The number of calls that were overwritten before. Under the
 * tracer's mutex.
 */
u64 mctracer_consume_from(struct mctracer_cursor *cursor, const struct mctracer_ring *ring,
			  bool live, bool ahead);

#endif /* _KERNEL_TRACE_MCTRACER_CONSUME_H */
