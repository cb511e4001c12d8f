// SPDX-License-Identifier: GPL-2.0
/*
 * The gate: functions that have triggers call it before the hook. It counts the call, does
 * what the triggers say, and decides whether the hook is called.
 *
 * All that is said of hooks holds: nothing may be traced, fault, or take a lock. What it
 * calls all the same, to go through the stack, to queue work, to read a clock that is not
 * the cycle counter, may have triggers of its own: while some act, in one context, none does
 * again there.
 */
#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/kprobes.h>
#include <linux/mcount.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/thread_info.h>

#include "mctracer.h"
#include "triggers.h"

/* In which contexts triggers act: bits by interrupt_context_level(). */
static DEFINE_PER_CPU(u8, acting);

static noinline void record_chain(unsigned long ip, unsigned long parent_ip,
				  const struct mcount_regs *regs, unsigned int max)
{
	u32 callers[MCTRACER_FRAMES_MAX];
	unsigned int n = arch_mcount_callers(ip, parent_ip, regs, callers, NULL, max);

	mctracer_note_call(ip, parent_ip, callers, n);
}

NOKPROBE_SYMBOL(record_chain);

/* False if it was done as often as it is to be done. */
static bool take_one(struct mctracer_trigger *trigger)
{
	return !trigger->counted || atomic64_dec_if_positive(&trigger->left) >= 0;
}

NOKPROBE_SYMBOL(take_one);

/* True if the call is recorded, which is still to be done if @record says so. */
static bool act(struct mctracer_trigger *trigger, unsigned long ip, unsigned long parent_ip,
		const struct mcount_regs *regs, bool record, bool chained)
{
	switch (trigger->action) {
	case MCTRACER_DO_TRACEON:
		if (!mctracer_is_on() && take_one(trigger) && mctracer_turn_on())
			mctracer_note_mark(ip, MCTRACER_MARK_ON, false);
		break;
	case MCTRACER_DO_STACKTRACE:
		if (!mctracer_is_on() || chained || !take_one(trigger))
			break;
		record_chain(ip, parent_ip, regs, trigger->option);
		return true;
	case MCTRACER_DO_MARK:
		if (mctracer_is_on() && take_one(trigger))
			mctracer_note_mark(ip, MCTRACER_MARK_MARK, false);
		break;
	case MCTRACER_DO_SNAPSHOT:
		if (!mctracer_is_on() || !mctracer_may_hold() || !take_one(trigger))
			break;
		if (record && !chained)
			mctracer_note_call(ip, parent_ip, NULL, 0);
		mctracer_hold_at(ip);
		return record;
	case MCTRACER_DO_TRACEOFF:
		if (!mctracer_may_turn_off(trigger->option) || !take_one(trigger))
			break;
		if (record && !chained)
			mctracer_note_call(ip, parent_ip, NULL, 0);
		mctracer_turn_off_at(ip, trigger->option);
		return record;
	default:
		break;
	}
	return chained;
}

NOKPROBE_SYMBOL(act);

/* Whether the hook is to be called. With preemption disabled. */
static bool pass(unsigned long ip, unsigned long parent_ip, const struct mcount_regs *regs)
{
	const unsigned long site = ip - MCOUNT_SITE_SIZE;
	const struct mctracer_triggered *at = mctracer_find_triggered(site);
	bool record, acts, done = false;
	u8 level;

	if (!at)	/* no more, or not yet */
		return mctracer_site_chosen(site);
	while ((at - 1)->site == site)
		at--;
	record = READ_ONCE(at->recorded);
	if (!mctracer_task_chosen(current))
		return record;
	level = BIT(interrupt_context_level());
	acts = this_cpu_read(acting) & level;
	for (; at->site == site; at++) {
		this_cpu_inc(*at->hits);
		if (acts || at->trigger->action == MCTRACER_DO_COUNT)
			continue;
		this_cpu_or(acting, level);
		barrier();
		done = act(at->trigger, ip, parent_ip, regs, record, done);
		barrier();
		this_cpu_and(acting, ~level);
	}
	return record && !done;
}

NOKPROBE_SYMBOL(pass);

/* Out of line, so that the quick way needs no registers to be saved. */
static noinline bool gate_slowly(const unsigned long *ips, const struct mcount_regs *regs)
{
	bool record;

	if (READ_ONCE(mctracer_gate_everywhere) &&
	    (unsigned long)ips % THREAD_SIZE < READ_ONCE(mctracer_stack_left))
		mctracer_note_stack(ips, regs);
	record = pass(ips[0], ips[1], regs);
	preempt_enable_notrace();
	return record;
}

NOKPROBE_SYMBOL(gate_slowly);

/* Most often functions are only counted: then the rest is not gone through. */
static __always_inline bool gate(const unsigned long *ips, unsigned long ip,
				 const struct mcount_regs *regs)
{
	const struct mctracer_triggered *at;
	bool record;

	preempt_disable_notrace();
	at = mctracer_find_triggered(ip - MCOUNT_SITE_SIZE);
	if (unlikely(!at || !READ_ONCE(at->counts) || READ_ONCE(mctracer_pids)))
		return gate_slowly(ips, regs);
	this_cpu_inc(*at->hits);
	record = READ_ONCE(at->recorded);
	preempt_enable_notrace();
	return record;
}

bool mctracer_gate(unsigned long ip, unsigned long parent_ip, const struct mcount_regs *regs)
{
	return gate(regs->ips, ip, regs);
}

NOKPROBE_SYMBOL(mctracer_gate);

unsigned long mctracer_gate_ips(unsigned long where)
{
	const unsigned long *ips = (const unsigned long *)where;

	return gate(ips, *ips, NULL);
}

NOKPROBE_SYMBOL(mctracer_gate_ips);
