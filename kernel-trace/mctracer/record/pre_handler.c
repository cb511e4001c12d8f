// SPDX-License-Identifier: GPL-2.0
/*
 * The pre-handler at function entry. Functions that have triggers call it before the hook. It
 * counts the call, runs the triggers' actions, and decides whether the hook is called.
 *
 * The rules for hooks hold here: nothing may be traced, fault, or take a lock. Some actions call
 * traced functions all the same: to unwind the stack, to queue work, to read a clock other than the
 * cycle counter. Such functions may have triggers. So, while a trigger acts, no other trigger acts
 * on the same CPU at the same interrupt level.
 */
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/mcount.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/thread_info.h>

#include "../ring/ring.h"
#include "follow.h"
#include "record.h"
#include "selected.h"
#include "triggers.h"

/* The interrupt levels at which a trigger is acting: bits by interrupt_context_level(). */
static DEFINE_PER_CPU(u8, acting);

/* Record @at with @max callers at most. Before a return the stack is as at function entry. */
static noinline void pre_record_callers(const struct mctracer_trigger_context *at, unsigned int max)
{
	u32 callers[MCTRACER_FRAMES_MAX] __uninitialized;
	unsigned int n = arch_mcount_callers(at->ip, at->parent_ip, at->regs, callers, NULL, max);

	mctracer_trigger_record(at, callers, n);
}

static bool pre_run_action(struct mctracer_trigger *trigger, struct mctracer_trigger_context *at,
			   bool wanted,
			   bool done)
{
	const unsigned long ip = at->ip;

	wanted |= at->args.recorded || at->args.nr_objects;

	switch (trigger->action) {
	case MCTRACER_DO_TRACEON:
		if (!mctracer_is_on() && mctracer_trigger_take(trigger) && mctracer_turn_on())
			mctracer_emit_mark(ip, MCTRACER_MARK_ON, false);
		break;
	case MCTRACER_DO_RET:
		if (!mctracer_is_on() || done || !mctracer_trigger_take(trigger))
			break;
		mctracer_trigger_record(at, NULL, 0);
		return true;
	case MCTRACER_DO_ARGS:
		if (!mctracer_is_on() || done || !mctracer_trigger_take(trigger))
			break;
		mctracer_take_args(at);
		at->args.wanted = true;
		at->args.recorded = true;
		break;
	case MCTRACER_DO_DATA:
		if (!mctracer_is_on() || done || at->args.nr_data)
			break;
		mctracer_take_args(at);
		if (trigger->from > at->args.nr || !mctracer_trigger_take(trigger))
			break;
		mctracer_read_memory(&trigger->memory, at->args.values[trigger->from - 1],
				     &at->args);
		at->args.recorded = true;
		break;
	case MCTRACER_DO_FOLLOW:
		if (IS_ENABLED(CONFIG_MCOUNT_FILTER) && mctracer_is_on())
			mctracer_pre_handler_follow(trigger, at);
		break;
	case MCTRACER_DO_UNFOLLOW:
		if (IS_ENABLED(CONFIG_MCOUNT_FILTER))
			mctracer_pre_handler_unfollow(trigger, at, true);
		break;
	case MCTRACER_DO_STACKTRACE:
		if (!mctracer_is_on() || done || !mctracer_trigger_take(trigger))
			break;
		pre_record_callers(at, trigger->option);
		return true;
	case MCTRACER_DO_MARK:
		if (mctracer_is_on() && mctracer_trigger_take(trigger))
			mctracer_emit_marked(ip, &at->outcome);
		break;
	case MCTRACER_DO_SNAPSHOT:
		if (!mctracer_is_on() || !mctracer_snapshot_may_request() ||
		    !mctracer_trigger_take(trigger))
			break;
		if (wanted && !done)
			mctracer_trigger_record(at, NULL, 0);
		mctracer_snapshot_request_at(ip);
		return wanted;
	case MCTRACER_DO_TRACEOFF:
		if (!mctracer_may_turn_off(trigger->option) || !mctracer_trigger_take(trigger))
			break;
		if (wanted && !done)
			mctracer_trigger_record(at, NULL, 0);
		mctracer_turn_off_at(ip, trigger->option);
		return wanted;
	default:
		break;
	}
	return done;
}

/* Begin to act; false if a trigger is acting. */
static __always_inline bool pre_begin_acting(u8 level)
{
	if (this_cpu_read(acting) & level)
		return false;
	this_cpu_or(acting, level);
	barrier();
	return true;
}

static __always_inline void pre_end_acting(u8 level)
{
	barrier();
	this_cpu_and(acting, ~level);
}

/* The tracer's own work is not recorded: no action is performed in it. But it may free objects. */
static bool pre_is_own(const struct mctracer_trigger *trigger)
{
	return trigger->action != MCTRACER_DO_UNFOLLOW && mctracer_is_own_work();
}

bool mctracer_act(const struct mctracer_triggered *at, struct mctracer_trigger_context *context,
		  bool wanted, bool done)
{
	const u8 level = BIT(interrupt_context_level());

	this_cpu_inc(*at->hits);
	if (at->unknown || at->trigger->action == MCTRACER_DO_COUNT ||
	    READ_ONCE(mctracer_ending) || pre_is_own(at->trigger) || !pre_begin_acting(level))
		return done;
	done = pre_run_action(at->trigger, context, wanted, done);
	pre_end_acting(level);
	return done;
}

/* A task that is not recorded may still free a followed object. */
void mctracer_pre_handler_ends(const struct mctracer_triggered *at,
			       struct mctracer_trigger_context *context)
{
	const unsigned long site = at ? at->site : 0;
	const u8 level = BIT(interrupt_context_level());

	if (!IS_ENABLED(CONFIG_MCOUNT_FILTER) || !at || !pre_begin_acting(level))
		return;
	for (; at->site == site; at++)
		if (at->trigger->action == MCTRACER_DO_UNFOLLOW && !at->unknown)
			mctracer_pre_handler_unfollow(at->trigger, context, false);
	pre_end_acting(level);
}

/* Remember what @trigger needs when the call returns: a followed object, or the start time. */
static __always_inline void pre_begin_call(const struct mctracer_trigger *trigger,
					   struct mctracer_trigger_context *at)
{
	if (IS_ENABLED(CONFIG_MCOUNT_FILTER) && trigger->action == MCTRACER_DO_FOLLOW)
		mctracer_pre_handler_await(trigger, at);
	else
		mctracer_timed_begin(at);
}

/*
 * Run the site's triggers. @at: any of the site's table entries, or NULL. Return true if the hook
 * must be called. With preemption disabled.
 */
static bool pre_run_triggers(const unsigned long *ips, const struct mcount_regs *regs,
			     const struct mctracer_triggered *at)
{
	const unsigned long ip = ips[0], parent_ip = ips[1];
	const unsigned long site = ip - MCOUNT_SITE_SIZE;
	struct mctracer_trigger_context context __uninitialized;
	const bool following = mctracer_is_following();
	bool recorded, done = false;

	/* A call by the pre-handler itself, while a trigger acts. */
	if (following && (this_cpu_read(acting) & BIT(interrupt_context_level())))
		return false;

	while (at && (at - 1)->site == site)
		at--;
	recorded = at && READ_ONCE(at->recorded) && !following;
	context.ip = ip;
	context.parent_ip = parent_ip;
	context.regs = regs;
	context.returns = false;
	context.outcome.has = 0;
	context.args.nr = 0;
	context.args.nr_objects = 0;
	context.args.wanted = false;
	context.args.recorded = false;
	context.args.nr_data = 0;
	context.args.calls_of = 0;
	if (!mctracer_task_traced(current)) {
		mctracer_pre_handler_ends(at, &context);
		return recorded;
	}
	if (following &&
	    (at || !READ_ONCE(mctracer_pre_handler_everywhere) || mctracer_site_selected(site)))
		mctracer_pre_handler_objects(&context);
	for (; at && at->site == site; at++)
		if (MCOUNT_HAS_RETURNS && at->begins)
			pre_begin_call(at->trigger, &context);
		else if (at->trigger->when != MCTRACER_WHEN_FOLLOWED || context.args.nr_objects)
			done = mctracer_act(at, &context, recorded, done);
	if (IS_ENABLED(CONFIG_MCOUNT_FILTER) && context.args.calls_of &&
	    READ_ONCE(mctracer_following) == MCTRACER_FOLLOW_CALLS &&
	    !mctracer_nested_begin(ips + 1, &context.args))
		mctracer_emit_mark(ip, MCTRACER_MARK_FOLLOW_FULL, false);
	if ((context.args.recorded || context.args.nr_objects) && !done) {
		mctracer_trigger_record(&context, NULL, 0);
		return false;
	}
	return recorded && !done;
}

static __always_inline void pre_check_stack(const unsigned long *ips,
					    const struct mcount_regs *regs)
{
	if (READ_ONCE(mctracer_pre_handler_everywhere) &&
	    (unsigned long)ips % THREAD_SIZE < READ_ONCE(mctracer_stack_left))
		mctracer_max_stack_record(ips, regs);
}

static noinline bool pre_handle_triggered(const unsigned long *ips, const struct mcount_regs *regs,
					  const struct mctracer_triggered *at)
{
	bool record;

	pre_check_stack(ips, regs);
	record = pre_run_triggers(ips, regs, at);
	preempt_enable_notrace();
	return record;
}

/*
 * Handle calls that pre_handle() can't just count. Out of line, so that pre_handle() saves no
 * registers. pre_handle_triggered() is out of line for functions without triggers: their triggers
 * are removed, or not published yet, or all functions call the pre-handler for the option
 * max_stack.
 */
static noinline bool pre_handle_slow(const unsigned long *ips, const struct mcount_regs *regs)
{
	const unsigned long site = ips[0] - MCOUNT_SITE_SIZE;
	const struct mctracer_triggered *at = mctracer_find_triggered(site);
	bool record;

	if (at || mctracer_is_following())
		return pre_handle_triggered(ips, regs, at);
	pre_check_stack(ips, regs);
	record = mctracer_site_selected(site);
	preempt_enable_notrace();
	return record;
}

/* Handle the most frequent case here: a function whose calls are only counted. */
static __always_inline bool pre_handle(const unsigned long *ips, unsigned long ip,
				       const struct mcount_regs *regs)
{
	const struct mctracer_triggered *at;
	bool record;

	preempt_disable_notrace();
	at = mctracer_find_triggered(ip - MCOUNT_SITE_SIZE);
	if (unlikely(!at || !READ_ONCE(at->counts) || READ_ONCE(mctracer_pids)))
		return pre_handle_slow(ips, regs);
	this_cpu_inc(*at->hits);
	record = READ_ONCE(at->recorded);
	preempt_enable_notrace();
	return record;
}

bool mctracer_pre_handler(unsigned long ip, unsigned long parent_ip, const struct mcount_regs *regs)
{
	return pre_handle(regs->ips, ip, regs);
}

unsigned long mctracer_pre_handler_ips(unsigned long where)
{
	const unsigned long *ips = (const unsigned long *)where;

	return pre_handle(ips, *ips, NULL);
}
