/* SPDX-License-Identifier: GPL-2.0 */
/* Calls that return what is to be followed. */
#ifndef _KERNEL_TRACE_MCTRACER_AWAITED_H
#define _KERNEL_TRACE_MCTRACER_AWAITED_H

#include <linux/types.h>

#include "follow.h"

/* May sleep. -ENOMEM. */
int mctracer_awaited_alloc(void);
/* All that have begun are not known any more. */
void mctracer_awaited_forget(void);

/* The rest: any context, with preemption disabled. */

/*
 * A call whose return address is at @where has @object as its argument number @from, and what it
 * returns comes of that. If the object's number is 0 nothing does, whatever was said of these.
 */
void mctracer_await(const unsigned long *where, u8 from, struct mctracer_object object);
/* What was said of a call that returns; number 0: nothing. Once. */
struct mctracer_object mctracer_awaited(const unsigned long *where, u8 from);

#endif /* _KERNEL_TRACE_MCTRACER_AWAITED_H */
