// SPDX-License-Identifier: GPL-2.0
/*
 * The plain hooks, which are C functions with arguments: for functions whose call site can't call
 * the direct hook, and for calls and returns that mcount catches. They record as the direct hook
 * does, or in the slow path.
 */
#include <linux/compiler.h>
#include <linux/mcount.h>
#include <linux/preempt.h>
#include <linux/sched.h>

#include "follow.h"
#include "hook.h"
#include "record.h"

enum mctracer_plain_form mctracer_plain_form = MCTRACER_PLAIN_SLOW;

void mctracer_plain_hook(unsigned long ip, unsigned long parent_ip)
{
	const unsigned long ips[] = { ip, parent_ip };

	preempt_disable_notrace();
	if (mctracer_is_following())
		;	/* only the pre-handler records */
	else if (READ_ONCE(mctracer_plain_form) == MCTRACER_PLAIN_TIMED)
		hook_record(MCTRACER_HOOK_CALL, true, false, false, ips);
	else if (READ_ONCE(mctracer_plain_form) == MCTRACER_PLAIN_COMPACT)
		hook_record(MCTRACER_HOOK_CALL, false, false, false, ips);
	else
		mctracer_emit_call(ip, parent_ip, NULL, NULL, 0);
	preempt_enable_notrace();
}

void mctracer_plain_return_hook(unsigned long ip, unsigned long parent_ip)
{
	const unsigned long ips[] = { ip, parent_ip };

	mctracer_return_begin();
	if (READ_ONCE(mctracer_plain_form) == MCTRACER_PLAIN_TIMED)
		hook_record(MCTRACER_HOOK_RETURN, true, false, false, ips);
	else if (READ_ONCE(mctracer_plain_form) == MCTRACER_PLAIN_COMPACT)
		hook_record(MCTRACER_HOOK_RETURN, false, false, false, ips);
	else
		mctracer_emit_return(ip);
	mctracer_return_end();
}

/* A followed object may end at the return of a task that is not recorded. */
bool mctracer_wants_return(void)
{
	return mctracer_is_following() || mctracer_task_traced(current);
}
