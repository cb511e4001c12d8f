/* SPDX-License-Identifier: GPL-2.0 */
/* Followed objects: known by address, between the triggers that begin and end them. */
#ifndef _KERNEL_TRACE_MCTRACER_FOLLOW_H
#define _KERNEL_TRACE_MCTRACER_FOLLOW_H

#include <linux/compiler.h>
#include <linux/kconfig.h>
#include <linux/types.h>

struct mctracer_args;

/* Which calls are recorded. */
enum mctracer_following {
	MCTRACER_FOLLOW_NOT,		/* all calls of selected functions */
	MCTRACER_FOLLOW_OBJECTS,	/* only calls that concern a followed object */
	MCTRACER_FOLLOW_CALLS,		/* and their nested calls, too */
};

extern enum mctracer_following mctracer_following;	/* changed only by tracer.c */
/* What mctracer_following must become for the current triggers. Changed only by triggers.c. */
extern enum mctracer_following mctracer_follow_triggered;

static __always_inline bool mctracer_is_following(void)
{
	return IS_ENABLED(CONFIG_MCOUNT_FILTER) && READ_ONCE(mctracer_following);
}

/* A followed object. */
struct mctracer_object {
	u32 number;	/* unique, also over time; 0: no object */
	bool calls;	/* nested calls are recorded, too */
};

/* The functions below: any context, with preemption disabled. */

/* Return true if @address may be an object's: no small number and no error pointer. */
bool mctracer_may_follow(unsigned long address);

/* Return the object at @address; number 0: none. */
struct mctracer_object mctracer_object_at(unsigned long address);
/*
 * Begin to follow the object at @address, unless it is followed already; with @calls, its nested
 * calls are recorded, too. Return the object; number 0: there are too many.
 */
struct mctracer_object mctracer_follow(unsigned long address, bool calls);
/* Stop following the object at @address. Return true if there was one. */
bool mctracer_unfollow(unsigned long address);
/* Stop likewise, because an allocator returns @address; count the object as reused. */
void mctracer_end_unseen(unsigned long address);
/* Return how many objects were allocated again before an end was seen; how many are followed. */
unsigned int mctracer_follow_reused(void);
unsigned int mctracer_follow_now(void);
/* Find the followed objects among the arguments in @args, and put them into @args. */
void mctracer_followed(struct mctracer_args *args);

/* Allocate the table, once. May sleep. Under mctracer_lists_mutex. Return 0 or -ENOMEM. */
int mctracer_follow_alloc(void);
/* Stop following all objects. May sleep. */
void mctracer_follow_forget(void);

/*
 * nested.c: begin to record the nested calls of a call whose return address is at @where, for the
 * object args->calls_of. Return false if there are too many such calls.
 */
bool mctracer_nested_begin(const unsigned long *where, const struct mctracer_args *args);
/* Return the object's number if the call whose return address is at @where is nested; else 0. */
u32 mctracer_nested(const unsigned long *where);
/* Forget all calls with nested calls. */
void mctracer_nested_forget(void);
/* Allocate the table, once. May sleep. Under mctracer_lists_mutex. Return 0 or -ENOMEM. */
int mctracer_nested_alloc(void);

#endif /* _KERNEL_TRACE_MCTRACER_FOLLOW_H */
