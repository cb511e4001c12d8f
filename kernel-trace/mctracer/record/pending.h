/* SPDX-License-Identifier: GPL-2.0 */
/* Pending returns: calls in progress whose return value must be followed. */
#ifndef _KERNEL_TRACE_MCTRACER_PENDING_H
#define _KERNEL_TRACE_MCTRACER_PENDING_H

#include <linux/types.h>

#include "follow.h"

/* Allocate the table, once. May sleep. Under mctracer_lists_mutex. Return 0 or -ENOMEM. */
int mctracer_pending_alloc(void);
/* Invalidate all pending returns. */
void mctracer_pending_forget(void);

/* The functions below: any context, with preemption disabled. */

/*
 * Remember that a call, whose return address is at @where, has @object as argument number @from,
 * and returns something derived from @object. Number 0 only removes an older entry of @where and
 * @from.
 */
void mctracer_pending_add(const unsigned long *where, u8 from, struct mctracer_object object);
/* Remove the pending return of @where and @from, and return its object; number 0: none. */
struct mctracer_object mctracer_pending_take(const unsigned long *where, u8 from);

#endif /* _KERNEL_TRACE_MCTRACER_PENDING_H */
