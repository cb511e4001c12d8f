// SPDX-License-Identifier: GPL-2.0
/*
 * When something goes wrong: nothing more is recorded, so that what was before stays.
 *
 * Where the kernel finds that out it calls mctracer_freeze(), in any context, before it prints
 * anything: printing makes more calls than a ring holds. Triggers can't undo it, only who
 * writes to a file can.
 *
 * Proof that nothing more comes
 * -----------------------------
 * What a hook records begins with the task that its ring remembers. Here the reason is
 * stored, then (F1, in forget() of note.c) all CPUs' tasks are forgotten. A hook that finds none
 * remembers its own (F2) and looks at the reason after that. So either it sees the reason and
 * forgets the task again, or that store is before F1's, which then undoes it. What is left is,
 * in each context of a CPU, the one call whose hook had found its task before: its words are
 * reserved, or will be, and readers take what is not whole for missing (V1 and V2 in ring.h).
 * Nobody waits for these: a CPU that was interrupted in a hook may never go on.
 */
#include <linux/array_size.h>
#include <linux/atomic.h>
#include <linux/irqflags.h>
#include <linux/mctracer.h>

#include "mctracer.h"

int mctracer_freezes;

void __mctracer_freeze(enum mctracer_crash crash, bool always)
{
	static const int options[] = {
		[MCTRACER_WARNING]	= MCTRACER_FREEZE_WARNING,
		[MCTRACER_HUNG_TASK]	= MCTRACER_FREEZE_HUNG_TASK,
		[MCTRACER_SOFT_LOCKUP]	= MCTRACER_FREEZE_SOFT_LOCKUP,
		[MCTRACER_HARD_LOCKUP]	= MCTRACER_FREEZE_HARD_LOCKUP,
	};
	unsigned long flags;

	if (!always && !mctracer_option(options[crash]))
		return;
	/* Preemption: as in mctracer_turn_off(). An interrupt could overwrite what was before. */
	raw_local_irq_save(flags);
	/* The first one counts: what comes of it is no news. */
	if (cmpxchg(&mctracer_frozen, MCTRACER_NOT_FROZEN, crash) == MCTRACER_NOT_FROZEN) {
		WRITE_ONCE(mctracer_freezes, mctracer_freezes + 1);
		mctracer_forget_tasks(false);
	}
	raw_local_irq_restore(flags);
}

enum mctracer_crash mctracer_thaw(void)
{
	enum mctracer_crash crash = xchg(&mctracer_frozen, MCTRACER_NOT_FROZEN);

	if (crash != MCTRACER_NOT_FROZEN)
		mctracer_note_hole();
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
