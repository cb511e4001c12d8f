/* SPDX-License-Identifier: GPL-2.0 */
/* What is to happen at functions besides that they are recorded. */
#ifndef _KERNEL_TRACE_MCTRACER_TRIGGERS_H
#define _KERNEL_TRACE_MCTRACER_TRIGGERS_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/mcount.h>
#include <linux/types.h>

#include "mctracer.h"

/* In the order in which they are done at one function. */
enum mctracer_action {
	MCTRACER_DO_TRACEON,	/* record again, on all CPUs */
	MCTRACER_DO_COUNT,		/* nothing: calls are counted for all actions */
	MCTRACER_DO_FOLLOW,	/* from now on record what concerns this object */
	MCTRACER_DO_UNFOLLOW,	/* the object's end: first of all, or it would not be written */
	MCTRACER_DO_ARGS,	/* record the call with its arguments: once, with all else */
	MCTRACER_DO_DATA,	/* and with memory that one of these points to */
	MCTRACER_DO_STACKTRACE,	/* record the call, or return, with its chain of callers */
	MCTRACER_DO_RET,	/* record the return with what is returned */
	MCTRACER_DO_MARK,		/* write a line */
	MCTRACER_DO_SNAPSHOT,	/* keep a copy of the rings as they are then */
	MCTRACER_DO_TRACEOFF,	/* don't record any more, on all CPUs */
	MCTRACER_ACTIONS,
};

enum mctracer_when {
	MCTRACER_WHEN_CALLED,
	MCTRACER_WHEN_RETURNS,
	MCTRACER_WHEN_FAILS,	/* when it returns an error */
	MCTRACER_WHEN_SLOW,	/* when the call took longer than that */
	MCTRACER_WHEN_FOLLOWED,	/* when the call concerns an object that is followed */
};

/* Arguments are counted from 1. */
#define MCTRACER_OPERAND_RET	MCTRACER_OBJECT_RETURNED	/* what is returned */

/*
 * Memory that argument @from points to: through so many pointers, each found so many bytes behind
 * where the one before points to; and so many bytes behind the last; and with a 16-bit number
 * added, if there is one, that is found so many bytes behind where the argument points to.
 */
struct mctracer_memory {
	u8 nr_pointers;
#define MCTRACER_POINTERS	3
	u16 pointers[MCTRACER_POINTERS];
	u16 behind;
	bool adds;
	u16 add;
	u8 length;		/* bytes, MCTRACER_DATA_MAX at most */
};

/* What one line of the file triggers says. */
struct mctracer_trigger {
	enum mctracer_when when;
	u64 longer;		/* nanoseconds */
	enum mctracer_action action;
	unsigned int option;	/* frames at most; or milliseconds until it is done */
	u8 from;		/* which argument is the address, or MCTRACER_OPERAND_RET */
	u8 to;			/* ... and of what comes of that, or 0 */
	u8 length;		/* which argument counts the addresses where @from points, or 0 */
	bool calls;		/* also record what is called for it */
	struct mctracer_memory memory;
	char operand[48];	/* how that is written */
	bool counted;
	atomic64_t left;	/* if so: how often it is still done */
	u64 hits;		/* of functions that are gone; under the mutex of sets */
	u64 unknown;		/* of these, jumps to others, which return instead */
	bool kept;		/* while lists are exchanged: it is in the one that stays */
	size_t pending;		/* so many sites that were dropped may still be in use by hooks */
	bool gone;		/* no line has it any more: free it when none is */
};

struct mcount_regs;
struct mctracer_triggered;

/* What triggers act on: a function is called, or returns. */
struct mctracer_occasion {
	unsigned long ip, parent_ip;
	const struct mcount_regs *regs;
	struct mctracer_args args;		/* if they are to be recorded */
	bool returns;
	u32 how;				/* if so: MCTRACER_RETURN_TAIL and so on, */
	struct mctracer_outcome outcome;	/* and what is known of it */
};

/*
 * gate.c, for both: count it, and act. True if the call or return is recorded, which is still
 * to be done if @record says so; @done: it has been. With preemption disabled. Any context.
 */
bool mctracer_act(const struct mctracer_triggered *at, struct mctracer_occasion *occasion,
		  bool record, bool done);

static __always_inline void mctracer_take_args(struct mctracer_occasion *at)
{
	if (!at->args.nr)
		at->args.nr = mcount_args(at->regs, at->args.values);
}

/* memory.c: what there is of it is put into @args. Any context, with preemption disabled. */
void mctracer_read_memory(const struct mctracer_memory *memory, unsigned long address,
			  struct mctracer_args *args);

/* gate.c: write it. Any context, with preemption disabled. */
void mctracer_record_occasion(const struct mctracer_occasion *at, const u32 *callers,
			      unsigned int n);
/* False if it was done as often as it is to be done. */
bool mctracer_take_one(struct mctracer_trigger *trigger);

/* gate_follow.c: for gates; what @at is about then is in its args. */
void mctracer_gate_follow(struct mctracer_trigger *trigger, struct mctracer_occasion *at);
/* @record: write the call when its words have no room for another object. */
void mctracer_gate_unfollow(struct mctracer_trigger *trigger, struct mctracer_occasion *at,
			    bool record);
/* What is to be done of the triggers from @at on, or NULL, although the task is not chosen. */
void mctracer_gate_ends(const struct mctracer_triggered *at, struct mctracer_occasion *occasion);
/* A call begins whose result is to be followed, or may be. */
void mctracer_gate_await(const struct mctracer_trigger *trigger, struct mctracer_occasion *at);
/* Which objects does the call concern, by its arguments, or by whom it is made for? */
void mctracer_gate_objects(struct mctracer_occasion *at);

/*
 * operands.c: @text is what follow, unfollow and so on are for. 0, or -EINVAL and @why, or
 * -EOPNOTSUPP and what is missing in @why.
 */
int mctracer_operand_parse(struct mctracer_trigger *trigger, char *text, const char **why);

/* timed.c: when calls have begun, by where on the stack they have to return from. */

/* May sleep. -ENOMEM. */
int mctracer_timed_alloc(void);
/* All that have begun are not known any more. */
void mctracer_timed_forget(void);
/* How many calls were not timed, for there were more than can be remembered. */
unsigned long mctracer_timed_missed(void);
/* From now on. Under the mutex of sets, which who asks holds, too. */
void mctracer_timed_count_anew(void);
/* Any context. */
void mctracer_timed_begin(const unsigned long *where);
/* Nanoseconds since then; false if it is not known. */
bool mctracer_timed_end(const unsigned long *where, u64 *took);

#endif /* _KERNEL_TRACE_MCTRACER_TRIGGERS_H */
