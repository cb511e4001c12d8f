// SPDX-License-Identifier: GPL-2.0
/*
 * Freeze the recording when the kernel detects an error, so that the events before the error stay.
 *
 * The kernel calls mctracer_freeze() where it detects the error, in any context, before it prints
 * anything: printing makes more calls than a ring holds. Triggers can't undo a freeze; only a write
 * to the file tracing_on or ctrl can.
 *
 * Proof that nothing more is recorded
 * -----------------------------------
 * A hook first compares the current task with the task cached in its ring. A freeze stores the
 * reason, then (F1, in mctracer_invalidate_tasks() of emit.c) invalidates the cached tasks of all
 * CPUs. A hook that misses stores its task in the cache (F2), then checks the reason. So either the
 * hook sees the reason and invalidates the cached task again, or the hook's store comes before
 * F1's, which undoes it. What remains is, in each context of a CPU, the one call whose hook had
 * found its task before: its words are reserved, or will be, and readers treat incomplete words as
 * missing (V1 and V2 in ring.h). The freeze does not wait for these calls: a CPU that was
 * interrupted in a hook may never continue.
 */
#include <linux/array_size.h>
#include <linux/atomic.h>
#include <linux/irqflags.h>
#include <linux/mctracer.h>

#include "record.h"

int mctracer_freezes;

void __mctracer_freeze(enum mctracer_crash crash, bool always)
{
	static const int options[] = {
		[MCTRACER_WARNING]	= MCTRACER_OPT_FREEZE_WARNING,
		[MCTRACER_HUNG_TASK]	= MCTRACER_OPT_FREEZE_HUNG_TASK,
		[MCTRACER_SOFT_LOCKUP]	= MCTRACER_OPT_FREEZE_SOFT_LOCKUP,
		[MCTRACER_HARD_LOCKUP]	= MCTRACER_OPT_FREEZE_HARD_LOCKUP,
	};
	unsigned long flags;

	if (!always && !mctracer_option(options[crash]))
		return;
	/* No preemption: see mctracer_turn_off(). No interrupts: they could overwrite events. */
	raw_local_irq_save(flags);
	/* Keep the first reason: later ones are its consequences. */
	if (cmpxchg(&mctracer_frozen, MCTRACER_NOT_FROZEN, crash) == MCTRACER_NOT_FROZEN) {
		WRITE_ONCE(mctracer_freezes, mctracer_freezes + 1);
		mctracer_invalidate_tasks(false);
	}
	raw_local_irq_restore(flags);
}

enum mctracer_crash mctracer_thaw(void)
{
	enum mctracer_crash crash;

	if (READ_ONCE(mctracer_frozen) == MCTRACER_NOT_FROZEN)
		return MCTRACER_NOT_FROZEN;
	mctracer_add_hole();
	crash = xchg(&mctracer_frozen, MCTRACER_NOT_FROZEN);
	mctracer_invalidate_tasks(false);
	return crash;
}

const char *mctracer_frozen_by(void)
{
	static const char * const names[] = {
		[MCTRACER_OOPS]		= "oops",
		[MCTRACER_PANIC]	= "panic",
		[MCTRACER_WARNING]	= "warning",
		[MCTRACER_HUNG_TASK]	= "hung task",
		[MCTRACER_SOFT_LOCKUP]	= "soft lockup",
		[MCTRACER_HARD_LOCKUP]	= "hard lockup",
		[MCTRACER_SYSRQ]	= "sysrq",
	};

	return names[READ_ONCE(mctracer_frozen)];
}
