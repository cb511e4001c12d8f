// SPDX-License-Identifier: GPL-2.0
/*
 * Step from one caller to the next with ORC, and cache the result for each return address. The
 * unwinder continues where that is not so simple: in entry code that has no registers yet, in
 * generated code, and where a return address was replaced.
 */
#include <linux/compiler.h>
#include <linux/kconfig.h>
#include <linux/kernel.h>
#include <linux/ptrace.h>
#include <linux/rethook.h>
#include <linux/sched.h>

#include <asm/orc_types.h>
#include <asm/sections.h>
#include <asm/stacktrace.h>
#include <asm/unwind.h>

#include "mcount_steps.h"

enum step_kind {
	STEP_UNKNOWN,	/* left to the unwinder */
	STEP_BY_SP,	/* the frame ends relative to the stack pointer, ... */
	STEP_BY_BP,	/* ... or to the base pointer, ... */
	STEP_BY_STACK,	/* ... or to a pointer on the stack, of another stack */
	STEP_TO_REGS,	/* entry code: continue at the saved registers */
	STEP_END,
};

/* A step from a place to its function's caller, as in ORC; loaded and stored as one word. */
union step {
	struct {
		u32 ip;		/* of the place, low half */
		s16 up;		/* bytes, to the end of the frame */
		u8 bp_saved;	/* words from there down to the caller's; 0: unchanged */
		u8 kind;
	};
	u64 word;
};

/* The cache, only for the kernel's own text, which never changes its steps. */
#define STEPS	1024

static u64 steps[STEPS];

static bool mcount_is_permanent_text(unsigned long ip)
{
	return ip - (unsigned long)_stext < (unsigned long)(_etext - _stext);
}

static enum step_kind mcount_orc_step_kind(const struct orc_entry *orc)
{
	if (orc->type == ORC_TYPE_END_OF_STACK)
		return STEP_END;
	if (orc->type == ORC_TYPE_REGS)
		return orc->sp_reg == ORC_REG_SP ? STEP_TO_REGS : STEP_UNKNOWN;
	if (orc->type != ORC_TYPE_CALL || orc->signal)
		return STEP_UNKNOWN;
	switch (orc->sp_reg) {
	case ORC_REG_SP:
		return STEP_BY_SP;
	case ORC_REG_BP:
		return STEP_BY_BP;
	case ORC_REG_SP_INDIRECT:
		return STEP_BY_STACK;
	}
	return STEP_UNKNOWN;
}

static union step mcount_orc_step(const struct orc_entry *orc)
{
	union step step = { .kind = STEP_UNKNOWN };

	if (!orc)
		return step;
	step.kind = mcount_orc_step_kind(orc);
	step.up = orc->sp_offset;
	if (orc->type != ORC_TYPE_CALL || orc->bp_reg == ORC_REG_UNDEFINED)
		return step;
	if (orc->bp_reg == ORC_REG_PREV_SP && orc->bp_offset < 0 &&
	    orc->bp_offset >= -(int)(U8_MAX * sizeof(long)))
		step.bp_saved = -orc->bp_offset / (int)sizeof(long);
	else
		step.kind = STEP_UNKNOWN;
	return step;
}

static union step mcount_find_step(const struct mcount_place *at)
{
	/* Look up the call, because the return address may be in the next function. */
	unsigned long ip = at->regs ? at->ip : at->ip - 1;
	u64 *place = &steps[ip % STEPS];
	union step step = { .word = READ_ONCE(*place) };

	if (step.ip == (u32)ip && mcount_is_permanent_text(ip))
		return step;
	step = mcount_orc_step(unwind_orc_find(ip));
	step.ip = ip;
	if (mcount_is_permanent_text(ip))
		WRITE_ONCE(*place, step.word);
	return step;
}

static bool mcount_is_on_stack(const struct stack_info *stack, const void *from, size_t length)
{
	return from >= (void *)stack->begin && from + length <= (void *)stack->end;
}

/* Return the end of the frame of @at, right behind the return address; or NULL. */
static const unsigned long *mcount_frame_end(const struct mcount_place *at, union step step,
					     struct stack_info *stack)
{
	unsigned long end;

	switch (step.kind) {
	case STEP_BY_SP:
		end = at->sp + step.up;
		break;
	case STEP_BY_BP:
		end = at->bp + step.up;
		break;
	case STEP_BY_STACK:
		if (!mcount_is_on_stack(stack, (void *)at->sp, sizeof(long)))
			return NULL;
		end = READ_ONCE_NOCHECK(*(unsigned long *)at->sp) + step.up;
		if (!get_stack_info_noinstr((unsigned long *)end - 1, current, stack))
			return NULL;
		break;
	default:
		return NULL;
	}
	if (step.kind != STEP_BY_STACK && end <= at->sp)
		return NULL;	/* the wrong direction */
	if (!mcount_is_on_stack(stack, (unsigned long *)end - 1, sizeof(long)))
		return NULL;
	return (const unsigned long *)end;
}

/* Return true if @ip is kernel text that neither rethook nor the graph tracer has put there. */
static bool mcount_is_return_address(unsigned long ip)
{
	if (IS_ENABLED(CONFIG_RETHOOK) && is_rethook_trampoline(ip))
		return false;
	if (mcount_is_graph_handler(ip))
		return false;
	return mcount_is_permanent_text(ip) || __kernel_text_address(ip);
}

static bool mcount_step_up(struct mcount_place *at, union step step, struct stack_info *stack)
{
	const unsigned long *end = mcount_frame_end(at, step, stack);
	struct mcount_place next = { .sp = (unsigned long)end, .bp = at->bp };

	if (!end)
		return false;
	next.ip = READ_ONCE_NOCHECK(end[-1]);
	if (!mcount_is_return_address(next.ip))
		return false;
	if (step.bp_saved) {
		if (!mcount_is_on_stack(stack, end - step.bp_saved, sizeof(long)))
			return false;
		next.bp = READ_ONCE_NOCHECK(*(end - step.bp_saved));
	}
	*at = next;
	return true;
}

/* Step to the interrupted code. */
static bool mcount_step_to_regs(struct mcount_place *at, union step step, struct stack_info *stack)
{
	struct pt_regs *regs = (struct pt_regs *)(at->sp + step.up);

	if (!mcount_is_on_stack(stack, regs, sizeof(*regs)))
		return false;
	if (user_mode(regs)) {
		at->ip = 0;
		return true;
	}
	if (!mcount_is_return_address(regs->ip) ||
	    !get_stack_info_noinstr((unsigned long *)regs->sp, current, stack))
		return false;
	*at = (struct mcount_place) {
		.ip = regs->ip, .sp = regs->sp, .bp = regs->bp, .regs = regs,
	};
	return true;
}

/*
 * Take a step. Return false if the unwinder must take it. @at->ip is 0 if there are no more
 * callers.
 */
static bool mcount_step_once(struct mcount_place *at, union step step, struct stack_info *stack)
{
	switch (step.kind) {
	case STEP_UNKNOWN:
		return false;
	case STEP_TO_REGS:
		return mcount_step_to_regs(at, step, stack);
	case STEP_END:
		at->ip = 0;
		return true;
	}
	return mcount_step_up(at, step, stack);
}

unsigned int mcount_take_steps(struct mcount_place *at, u32 *callers, u32 *stacks,
			       unsigned int *max)
{
	/* At a function's head the frame is only the return address. */
	union step step = { .kind = STEP_BY_SP, .up = sizeof(long) };
	struct stack_info stack;
	unsigned int n;

	if (!get_stack_info_noinstr((unsigned long *)at->sp, current, &stack))
		return 0;
	for (n = 0; n < *max && mcount_step_once(at, step, &stack); n++) {
		if (!at->ip) {
			*max = n;
			break;
		}
		callers[n] = at->ip;
		if (stacks)
			stacks[n] = at->sp - sizeof(long);
		step = mcount_find_step(at);
	}
	return n;
}
