// SPDX-License-Identifier: GPL-2.0
/*
 * Request a copy of the rings for the file "snapshot", in any context, and hold the hooks until
 * control/snapshot_file.c has made it in a work.
 */
#include <linux/atomic.h>
#include <linux/cleanup.h>
#include <linux/compiler.h>
#include <linux/irq_work.h>
#include <linux/preempt.h>
#include <linux/workqueue.h>
#include <uapi/linux/mctracer.h>

#include "record.h"

atomic_t mctracer_hold_state = ATOMIC_INIT(MCTRACER_HOLD_NONE);

void mctracer_hold_hooks(void)
{
	guard(preempt_notrace)();	/* see mctracer_turn_off() */
	WRITE_ONCE(mctracer_holding, true);
	mctracer_forget_tasks(false);
}

void (*mctracer_hold_copy)(void);

static void snapshot_copy_fn(struct work_struct *work)
{
	if (atomic_read(&mctracer_hold_state) == MCTRACER_HOLD_TAKING)	/* else already copied */
		mctracer_hold_copy();
}

static DECLARE_WORK(copy_work, snapshot_copy_fn);

static void snapshot_queue_copy(struct irq_work *work)
{
	schedule_work(&copy_work);
}

static DEFINE_IRQ_WORK(copy_irq_work, snapshot_queue_copy);

void mctracer_hold_finish(void)
{
	if (atomic_read(&mctracer_hold_state) == MCTRACER_HOLD_TAKING)
		schedule_work(&copy_work);
}

bool mctracer_hold_is_pending(void)
{
	return atomic_read(&mctracer_hold_state) == MCTRACER_HOLD_BEGINNING ||
	       atomic_read(&mctracer_hold_state) == MCTRACER_HOLD_TAKING;
}

bool mctracer_may_hold(void)
{
	return atomic_read(&mctracer_hold_state) == MCTRACER_HOLD_NONE;
}

void mctracer_hold_at(unsigned long ip)
{
	if (atomic_cmpxchg(&mctracer_hold_state, MCTRACER_HOLD_NONE,
			   MCTRACER_HOLD_BEGINNING) != MCTRACER_HOLD_NONE)
		return;
	mctracer_note_mark(ip, MCTRACER_MARK_SNAPSHOT, false);
	mctracer_hold_hooks();
	atomic_set_release(&mctracer_hold_state, MCTRACER_HOLD_TAKING);
	mctracer_arm(&copy_irq_work);
}

void mctracer_hold_wait(void)
{
	irq_work_sync(&copy_irq_work);
	if (atomic_read(&mctracer_hold_state) == MCTRACER_HOLD_TAKING) {
		schedule_work(&copy_work);
		flush_work(&copy_work);
	}
}
