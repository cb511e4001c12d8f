/* SPDX-License-Identifier: GPL-2.0 */
/* Pending returns: calls in progress whose return value must be followed. */
#ifndef _KERNEL_TRACE_MCTRACER_PENDING_H
#define _KERNEL_TRACE_MCTRACER_PENDING_H

#include <linux/types.h>

#include "follow.h"
#include "triggers.h"

/* Allocate the table, once. May sleep. Under mctracer_lists_mutex. Return 0 or -ENOMEM. */
int mctracer_pending_alloc(void);
/* Invalidate all pending returns. */
void mctracer_pending_forget(void);

/* The functions below: any context, with preemption disabled. */

/*
 * Remember that the call @at has @object as argument number @from, and returns something derived
 * from @object. Number 0 only removes an older entry of such a call. Return false if there are too
 * many.
 */
bool mctracer_pending_add(const struct mctracer_trigger_context *at, u8 from,
			  struct mctracer_object object);
/* Remove the pending return of the call @at and @from, and return its object; number 0: none. */
struct mctracer_object mctracer_pending_take(const struct mctracer_trigger_context *at, u8 from);

#endif /* _KERNEL_TRACE_MCTRACER_PENDING_H */
