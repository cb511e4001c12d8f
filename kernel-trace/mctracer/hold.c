// SPDX-License-Identifier: GPL-2.0
/*
 * The file "snapshot": one copy of the rings, made by a trigger in any context or by a write to the
 * file, and kept until it is cleared.
 *
 * Copying sleeps. So, from the request until the copy is complete, hooks count calls as lost
 * instead of recording them, and then write a gap into the rings.
 */
#include <linux/atomic.h>
#include <linux/cleanup.h>
#include <linux/compiler.h>
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/irq_work.h>
#include <linux/mutex.h>
#include <linux/printk.h>
#include <linux/workqueue.h>
#include <uapi/linux/mctracer.h>

#include "mctracer.h"

#undef pr_fmt
#define pr_fmt(fmt) "mctracer: " fmt

enum {
	NONE,
	BEGINNING,	/* hooks still record, so nothing may be copied yet */
	TAKING,
	TAKEN,
};

static atomic_t state = ATOMIC_INIT(NONE);

/* Protects the variables below. */
static DEFINE_MUTEX(held_mutex);
static struct mctracer_snapshot *held;
static bool is_read;		/* a reader uses held: then free the copy ... */
static bool is_cleared;		/* ... when the reader closes it, if this is set */
static int failed;		/* why the last attempt failed, or 0 */

static void snapshot_hold_hooks(void)
{
	guard(preempt_notrace)();	/* see mctracer_turn_off() */
	WRITE_ONCE(mctracer_holding, true);
	mctracer_forget_tasks(false);
}

static void snapshot_copy_fn(struct work_struct *work)
{
	CLASS(mctracer_own_work, own)();
	struct mctracer_snapshot *snapshot;

	if (atomic_read(&state) != TAKING)
		return;		/* already copied */
	snapshot = mctracer_snapshot_take(MCTRACER_ALL_CPUS);
	if (!snapshot)
		pr_warn("no memory for a snapshot\n");
	WRITE_ONCE(mctracer_holding, false);
	mctracer_forget_tasks(true);
	scoped_guard(mutex, &held_mutex) {
		held = snapshot;
		failed = snapshot ? 0 : -ENOMEM;
	}
	atomic_set(&state, snapshot ? TAKEN : NONE);
}

static DECLARE_WORK(copy_work, snapshot_copy_fn);

static void snapshot_queue_copy(struct irq_work *work)
{
	schedule_work(&copy_work);
}

static DEFINE_IRQ_WORK(copy_irq_work, snapshot_queue_copy);

void mctracer_hold_finish(void)
{
	if (atomic_read(&state) == TAKING)
		schedule_work(&copy_work);
}

/* Return true while a copy is requested or being made. */
static bool snapshot_is_pending(void)
{
	return atomic_read(&state) == BEGINNING || atomic_read(&state) == TAKING;
}

bool mctracer_may_hold(void)
{
	return atomic_read(&state) == NONE;
}

void mctracer_hold_at(unsigned long ip)
{
	if (atomic_cmpxchg(&state, NONE, BEGINNING) != NONE)
		return;
	mctracer_note_mark(ip, MCTRACER_MARK_SNAPSHOT, false);
	snapshot_hold_hooks();
	atomic_set_release(&state, TAKING);
	mctracer_arm(&copy_irq_work);
}

/* Wait until a requested copy is complete. May sleep. */
static void snapshot_finish(void)
{
	irq_work_sync(&copy_irq_work);
	if (atomic_read(&state) == TAKING) {
		schedule_work(&copy_work);
		flush_work(&copy_work);
	}
}

int mctracer_held_clear(void)
{
	CLASS(mctracer_own_work, own)();
	struct mctracer_snapshot *gone = NULL;

	snapshot_finish();
	scoped_guard(mutex, &held_mutex) {
		if (snapshot_is_pending())
			return -EBUSY;
		failed = 0;
		if (is_read && !is_cleared)
			is_cleared = true;	/* the reader uses held */
		else
			gone = held;
		held = NULL;
		atomic_cmpxchg(&state, TAKEN, NONE);
	}
	mctracer_snapshot_free(gone);
	return 0;
}

int mctracer_hold_now(void)
{
	int ret = mctracer_held_clear();

	if (ret)
		return ret;
	if (atomic_cmpxchg(&state, NONE, BEGINNING) != NONE)
		return -EBUSY;
	snapshot_hold_hooks();
	atomic_set_release(&state, TAKING);
	snapshot_finish();
	return atomic_read(&state) == NONE ? -ENOMEM : 0;
}

struct mctracer_snapshot *mctracer_held_open(void)
{
	guard(mutex)(&held_mutex);
	if (is_read || snapshot_is_pending())
		return ERR_PTR(-EBUSY);
	if (!held)
		return ERR_PTR(failed ?: -ENODATA);
	is_read = true;
	is_cleared = false;
	return held;
}

void mctracer_held_close(struct mctracer_snapshot *snapshot)
{
	bool gone;

	scoped_guard(mutex, &held_mutex) {
		gone = is_cleared;
		is_read = false;
		is_cleared = false;
	}
	if (gone)
		mctracer_snapshot_free(snapshot);
}
