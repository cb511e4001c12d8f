/* SPDX-License-Identifier: GPL-2.0 */
/* Objects that are followed: by their addresses, from one trigger to another. */
#ifndef _KERNEL_TRACE_MCTRACER_FOLLOW_H
#define _KERNEL_TRACE_MCTRACER_FOLLOW_H

#include <linux/compiler.h>
#include <linux/kconfig.h>
#include <linux/types.h>

struct mctracer_args;

/* What is recorded of all calls. */
enum mctracer_following {
	MCTRACER_FOLLOW_NOT,		/* each that is chosen */
	MCTRACER_FOLLOW_OBJECTS,	/* only those that concern what is followed */
	MCTRACER_FOLLOW_CALLS,		/* and what these call */
};

extern enum mctracer_following mctracer_following;	/* changed by tracer.c alone */
/* What it is to be, for the triggers that there are. Changed by triggers.c alone. */
extern enum mctracer_following mctracer_follow_triggered;

static __always_inline bool mctracer_is_following(void)
{
	return IS_ENABLED(CONFIG_MCOUNT_FILTER) && READ_ONCE(mctracer_following);
}

/* One that is followed. */
struct mctracer_object {
	u32 number;	/* no other has, nor will have; 0: there is no such object */
	bool calls;	/* also what is called for it */
};

/* All that follows: any context, with preemption disabled. */

/* Whether @address can be one. */
bool mctracer_may_follow(unsigned long address);

/* The one at @address. */
struct mctracer_object mctracer_object_at(unsigned long address);
/*
 * From now on, if it is not followed already, with @calls or not. What it is then; number 0 if
 * there are too many.
 */
struct mctracer_object mctracer_follow(unsigned long address, bool calls);
/* Whether it was. */
bool mctracer_unfollow(unsigned long address);
/* The same, where an allocator returns @address. */
void mctracer_end_unseen(unsigned long address);
/* How many objects were allocated again before an end was seen; and how many are followed. */
unsigned int mctracer_follow_reused(void);
unsigned int mctracer_follow_now(void);
/* Which of these are followed is put into @args itself. */
void mctracer_followed(struct mctracer_args *args);

/* May sleep. -ENOMEM. */
int mctracer_follow_alloc(void);
/* What is followed until now is not any more. May sleep. */
void mctracer_follow_forget(void);

/*
 * below.c: @args, of a call whose return address is at @where, has objects of which also what is
 * called for them is recorded. False if there are too many.
 */
bool mctracer_below_begin(const unsigned long *where, const struct mctracer_args *args);
/* The number of the object for which a call is made whose return address is at @where, or 0. */
u32 mctracer_below(const unsigned long *where);
void mctracer_below_forget(void);
/* May sleep. -ENOMEM. */
int mctracer_below_alloc(void);

#endif /* _KERNEL_TRACE_MCTRACER_FOLLOW_H */
