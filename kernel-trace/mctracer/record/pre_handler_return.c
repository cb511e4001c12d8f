// SPDX-License-Identifier: GPL-2.0
/*
 * The pre-handler at returns, for functions that have triggers at their returns. It determines the
 * result and the duration of the call, runs the triggers, and decides whether the hook at returns
 * is called. The rules of pre_handler.c hold here.
 */
#include <linux/compiler.h>
#include <linux/err.h>
#include <linux/mcount.h>
#include <linux/preempt.h>
#include <linux/sched.h>

#include "follow.h"
#include "record.h"
#include "selected.h"
#include "triggers.h"

/*
 * Return true if @result is a negative error number or an error pointer. The upper half of an int
 * may hold anything, so ignore it: one in a million other values counts as an error, too.
 */
static __always_inline bool return_is_error(u64 result)
{
	return (u32)result >= (u32)-MAX_ERRNO;
}

/*
 * Return true if the return meets the condition of @at. A tail jump, whose result is unknown, meets
 * WHEN_FAILS: mctracer_act() only counts it.
 */
static bool return_meets_condition(const struct mctracer_triggered *at,
				   const struct mctracer_outcome *outcome)
{
	switch (at->trigger->when) {
	case MCTRACER_WHEN_FAILS:
		return at->unknown || return_is_error(outcome->result);
	case MCTRACER_WHEN_SLOW:
		return (outcome->has & MCTRACER_HAS_TOOK) && outcome->took > at->trigger->longer;
	default:
		return true;
	}
}

/*
 * Run the triggers of the return site. Return true if the hook at returns must be called. With
 * preemption disabled.
 */
static bool return_run_triggers(const unsigned long *ips, const struct mcount_regs *regs,
				u64 result)
{
	const unsigned long site = ips[0] - MCOUNT_SITE_SIZE;
	const struct mctracer_triggered *at = mctracer_find_triggered(site);
	struct mctracer_trigger_context context __uninitialized;
	struct mctracer_outcome *outcome = &context.outcome;
	const struct mctracer_triggered *each;
	bool record, timed = false, done = false;

	if (!at)	/* removed, or not published yet */
		return READ_ONCE(mctracer_graph) && !mctracer_is_following() &&
		       mctracer_site_selected(site);
	while ((at - 1)->site == site)
		at--;
	context.ip = ips[0];
	context.parent_ip = ips[1];
	context.regs = regs;
	context.returns = true;
	context.how = 0;
	context.args.nr = 0;
	context.args.nr_objects = 0;
	context.args.wanted = false;
	context.args.recorded = false;
	context.args.nr_data = 0;
	context.args.calls_of = 0;
	outcome->has = 0;
	record = READ_ONCE(at->recorded) && !mctracer_is_following();
	for (each = at; each->site == site; each++)
		timed |= each->trigger->when == MCTRACER_WHEN_SLOW;
	if (timed && mctracer_timed_end(&context, &outcome->took))
		outcome->has |= MCTRACER_HAS_TOOK;
	if (at->tail) {
		context.how = MCTRACER_RETURN_TAIL;
	} else {
		outcome->has |= MCTRACER_HAS_RESULT;
		outcome->result = result;
	}
	if (!mctracer_task_traced(current)) {
		mctracer_pre_handler_ends(at, &context);
		return record;
	}
	for (; at->site == site; at++)
		if (return_meets_condition(at, outcome))
			done = mctracer_act(at, &context, record, done);
	if (context.args.nr_objects && !done) {
		mctracer_trigger_record(&context, NULL, 0);
		return false;
	}
	return record && !done;
}

bool mctracer_return_pre_handler(unsigned long ip, unsigned long parent_ip,
				 const struct mcount_regs *regs, unsigned long result)
{
	bool record;

	mctracer_return_begin();
	record = return_run_triggers(regs->ips, regs, result);
	mctracer_return_end();
	return record;
}
