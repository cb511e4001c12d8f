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

atomic_t mctracer_snapshot_state = ATOMIC_INIT(MCTRACER_SNAPSHOT_NONE);

void mctracer_snapshot_stop_hooks(void)
{
	guard(preempt_notrace)();	/* see mctracer_turn_off() */
	WRITE_ONCE(mctracer_copying, true);
	mctracer_invalidate_tasks(false);
}

void (*mctracer_snapshot_copy)(void);

static void snapshot_copy_fn(struct work_struct *work)
{
	/* Otherwise, it has been copied. */
	if (atomic_read(&mctracer_snapshot_state) == MCTRACER_SNAPSHOT_TAKING)
		mctracer_snapshot_copy();
}

static DECLARE_WORK(copy_work, snapshot_copy_fn);

static void snapshot_queue_copy(struct irq_work *work)
{
	queue_work(system_unbound_wq, &copy_work);
}

static struct irq_work copy_irq_work = IRQ_WORK_INIT_HARD(snapshot_queue_copy);

void mctracer_snapshot_finish(void)
{
	if (atomic_read(&mctracer_snapshot_state) == MCTRACER_SNAPSHOT_TAKING)
		queue_work(system_unbound_wq, &copy_work);
}

bool mctracer_snapshot_is_pending(void)
{
	return atomic_read(&mctracer_snapshot_state) == MCTRACER_SNAPSHOT_BEGINNING ||
	       atomic_read(&mctracer_snapshot_state) == MCTRACER_SNAPSHOT_TAKING;
}

bool mctracer_snapshot_has_failed(void)
{
	return atomic_read(&mctracer_snapshot_state) == MCTRACER_SNAPSHOT_FAILED;
}

void mctracer_snapshot_forget_failure(void)
{
	atomic_cmpxchg(&mctracer_snapshot_state, MCTRACER_SNAPSHOT_FAILED, MCTRACER_SNAPSHOT_NONE);
}

bool mctracer_snapshot_may_request(void)
{
	return atomic_read(&mctracer_snapshot_state) == MCTRACER_SNAPSHOT_NONE;
}

void mctracer_snapshot_request_at(unsigned long ip)
{
	if (atomic_cmpxchg(&mctracer_snapshot_state, MCTRACER_SNAPSHOT_NONE,
			   MCTRACER_SNAPSHOT_BEGINNING) != MCTRACER_SNAPSHOT_NONE)
		return;
	mctracer_emit_mark(ip, MCTRACER_MARK_SNAPSHOT, false);
	mctracer_snapshot_stop_hooks();
	atomic_set_release(&mctracer_snapshot_state, MCTRACER_SNAPSHOT_TAKING);
	mctracer_arm(&copy_irq_work);
}

void mctracer_snapshot_wait(void)
{
	irq_work_sync(&copy_irq_work);
	if (atomic_read(&mctracer_snapshot_state) == MCTRACER_SNAPSHOT_TAKING) {
		queue_work(system_unbound_wq, &copy_work);
		flush_work(&copy_work);
	}
}
