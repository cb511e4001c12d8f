/* SPDX-License-Identifier: GPL-2.0 */
/* Triggers: actions at calls and returns of functions, as written to the file triggers. */
#ifndef _KERNEL_TRACE_MCTRACER_TRIGGERS_H
#define _KERNEL_TRACE_MCTRACER_TRIGGERS_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/kconfig.h>
#include <linux/mcount.h>
#include <linux/types.h>

#include "record.h"
#include "selected.h"

/* Several triggers of one function act in this order. */
enum mctracer_action {
	MCTRACER_DO_TRACEON,	/* turn recording on, on all CPUs */
	MCTRACER_DO_COUNT,	/* nothing: hits are counted for all actions */
	MCTRACER_DO_FOLLOW,	/* follow this object: record all calls that concern it */
	MCTRACER_DO_UNFOLLOW,	/* the object ends; before the actions that write this call */
	MCTRACER_DO_ARGS,	/* record the call with its arguments, data and objects at once */
	MCTRACER_DO_DATA,	/* record the call with memory that an argument points to */
	MCTRACER_DO_STACKTRACE,	/* record the call, or return, with its chain of callers */
	MCTRACER_DO_RET,	/* record the return with the return value */
	MCTRACER_DO_MARK,		/* write a mark */
	MCTRACER_DO_SNAPSHOT,	/* keep a copy of the rings */
	MCTRACER_DO_TRACEOFF,	/* turn recording off, on all CPUs */
	MCTRACER_ACTIONS,
};

enum mctracer_when {
	MCTRACER_WHEN_CALLED,
	MCTRACER_WHEN_RETURNS,
	MCTRACER_WHEN_FAILS,	/* the function returns an error */
	MCTRACER_WHEN_SLOW,	/* the call took longer than trigger->longer */
	MCTRACER_WHEN_FOLLOWED,	/* the call concerns a followed object */
};

/* Arguments are numbered from 1; this number means the return value. */
#define MCTRACER_OPERAND_RET	MCTRACER_OBJECT_RETURNED

/*
 * How to find the memory for "data N->A.B+C,LENGTH" from the value of argument N. For each of
 * @pointers, load the pointer at this offset in bytes from the current address, which becomes the
 * current address. Then add @behind and, if @adds, the 16-bit number at offset @add from the
 * argument's value.
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

/* One line of the file triggers. */
struct mctracer_trigger {
	enum mctracer_when when;
	u64 longer;		/* nanoseconds */
	enum mctracer_action action;
	unsigned int option;	/* the most frames; or the delay in milliseconds */
	u8 from;		/* number of the argument with the address; MCTRACER_OPERAND_RET */
	u8 to;			/* "N -> M": likewise, of the object derived from it; or 0 */
	u8 length;		/* "N[M]": number of the argument with the array's length; or 0 */
	bool calls;		/* "+calls": also record nested calls */
	struct mctracer_memory memory;
	char operand[48];	/* the operand as text */
	bool counted;		/* the line has a :COUNT, */
	atomic64_t left;	/* and the action is done so many more times */
	u64 hits;		/* of retired sites; under mctracer_sets_mutex */
	u64 unknown;		/* of retired jumps to other functions: their result is unknown */
	bool kept;		/* while lists are exchanged: the new list has it, too */
	size_t pending;		/* dropped sites that hooks may still use */
	bool gone;		/* no list has it any more: free it when pending is 0 */
};

struct mcount_regs;
struct mctracer_triggered;

/* Trigger context: the call or return that triggers act on. */
struct mctracer_trigger_context {
	unsigned long ip, parent_ip;
	const struct mcount_regs *regs;
	struct mctracer_args args;		/* to record with the call */
	bool returns;				/* it is a return: */
	u32 how;				/* MCTRACER_RETURN_TAIL and so on, */
	struct mctracer_outcome outcome;	/* return value and time, if known */
};

/* Return where the return address of the call @at is on the stack: this identifies the call. */
static __always_inline unsigned long mctracer_call_where(const struct mctracer_trigger_context *at)
{
	return (unsigned long)(at->regs->ips + 1);
}

/*
 * Where rethook catches returns, a function that jumps to another has its return address at the
 * same place as the other, and both returns come at once. To tell them apart, return the ip of the
 * call @at; behind call sites before returns, where the jump ends the first call, return 0.
 */
static __always_inline unsigned long
mctracer_call_function(const struct mctracer_trigger_context *at)
{
	if (!IS_ENABLED(CONFIG_MCOUNT_RETHOOK))
		return 0;
	return at->returns ? at->ip - 1 : at->ip;
}

/*
 * pre_handler.c, for calls and returns: count the hit and run the action. @record: the call or
 * return must be recorded; @done: it has been recorded. Return the new value of @done. Any context,
 * with preemption disabled.
 */
bool mctracer_act(const struct mctracer_triggered *at, struct mctracer_trigger_context *context,
		  bool record, bool done);

/*
 * pre_handler.c: run only unfollow, of the site's triggers from @at on, or none if NULL, for a task
 * that is not traced. Any context, with preemption disabled.
 */
void mctracer_pre_handler_ends(const struct mctracer_triggered *at,
			       struct mctracer_trigger_context *context);

/* Load the argument registers, once. */
static __always_inline void mctracer_take_args(struct mctracer_trigger_context *at)
{
	if (!at->args.nr)
		at->args.nr = mcount_args(at->regs, at->args.values);
}

/*
 * memory.c: copy the readable part of @memory to @args. @address: the argument's value. Any
 * context, with preemption disabled.
 */
void mctracer_read_memory(const struct mctracer_memory *memory, unsigned long address,
			  struct mctracer_args *args);

/* Record the call or return with @n @callers. Any context, with preemption disabled. */
static inline void mctracer_trigger_record(const struct mctracer_trigger_context *at,
					   const u32 *callers,
					   unsigned int n)
{
	if (at->returns)
		mctracer_emit_outcome(at->ip, at->how, &at->outcome, &at->args, callers, n);
	else
		mctracer_emit_call(at->ip, at->parent_ip, &at->args, callers, n);
}

/* Use up one of the trigger's :COUNT. Return false if none is left. */
static inline bool mctracer_trigger_take(struct mctracer_trigger *trigger)
{
	return !trigger->counted || atomic64_dec_if_positive(&trigger->left) >= 0;
}

/*
 * pre_handler_follow.c, for pre-handlers. All of these store the objects they find in @at's args.
 */

/* Run the action follow. */
void mctracer_pre_handler_follow(struct mctracer_trigger *trigger,
				 struct mctracer_trigger_context *at);
/* Run the action unfollow. @record: if the call's words have no room for an object, write them. */
void mctracer_pre_handler_unfollow(struct mctracer_trigger *trigger,
				   struct mctracer_trigger_context *at,
				   bool record);
/* Add a pending return, if the argument of "follow N -> ret" is a followed object. */
void mctracer_pre_handler_await(const struct mctracer_trigger *trigger,
				struct mctracer_trigger_context *at);
/* Find the followed objects among the arguments, or else the object that the call is nested in. */
void mctracer_pre_handler_objects(struct mctracer_trigger_context *at);

/*
 * operands.c: parse the operand @text of follow, unfollow or data. Return 0, or -EINVAL and the
 * reason at @why.
 */
int mctracer_operand_parse(struct mctracer_trigger *trigger, char *text, const char **why);

/* timed.c: the begin of calls, by the address of their return address on the stack. */

/* Allocate the table, once. May sleep. Under mctracer_lists_mutex. Return 0 or -ENOMEM. */
int mctracer_timed_alloc(void);
/* Invalidate all begins. */
void mctracer_timed_forget(void);
/* Return how many calls may not have been timed, because the table had no room for more. */
unsigned long mctracer_timed_missed(void);
/* Reset that count. Under mctracer_sets_mutex, which callers of the function above hold, too. */
void mctracer_timed_count_anew(void);
/* Remember that the call @at begins now. Any context. */
void mctracer_timed_begin(const struct mctracer_trigger_context *at);
/* Store the nanoseconds since the call @at began at @took; false if unknown. Once. Any context. */
bool mctracer_timed_end(const struct mctracer_trigger_context *at, u64 *took);

#endif /* _KERNEL_TRACE_MCTRACER_TRIGGERS_H */
