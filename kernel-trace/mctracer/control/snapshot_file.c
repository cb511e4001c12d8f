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
#include <linux/init.h>
#include <linux/mutex.h>
#include <linux/printk.h>

#include "../record/record.h"
#include "control.h"

#undef pr_fmt
#define pr_fmt(fmt) "mctracer: " fmt

/* Protects the variables below. */
static DEFINE_MUTEX(held_mutex);
static struct mctracer_snapshot *held;
static bool is_read;		/* a reader uses held: then free the copy ... */
static bool is_cleared;		/* ... when the reader closes it, if this is set */
static int failed;		/* why the last attempt failed, or 0 */

static void snapshot_copy(void)
{
	CLASS(mctracer_own_work, own)();
	struct mctracer_snapshot *snapshot;

	snapshot = mctracer_snapshot_take(MCTRACER_ALL_CPUS);
	if (!snapshot)
		pr_warn("no memory for a snapshot\n");
	WRITE_ONCE(mctracer_holding, false);
	mctracer_forget_tasks(true);
	scoped_guard(mutex, &held_mutex) {
		held = snapshot;
		failed = snapshot ? 0 : -ENOMEM;
	}
	atomic_set(&mctracer_hold_state, snapshot ? MCTRACER_HOLD_TAKEN : MCTRACER_HOLD_NONE);
}

int mctracer_held_clear(void)
{
	CLASS(mctracer_own_work, own)();
	struct mctracer_snapshot *gone = NULL;

	mctracer_hold_wait();
	scoped_guard(mutex, &held_mutex) {
		if (mctracer_hold_is_pending())
			return -EBUSY;
		failed = 0;
		if (is_read && !is_cleared)
			is_cleared = true;	/* the reader uses held */
		else
			gone = held;
		held = NULL;
		atomic_cmpxchg(&mctracer_hold_state, MCTRACER_HOLD_TAKEN, MCTRACER_HOLD_NONE);
	}
	mctracer_snapshot_free(gone);
	return 0;
}

int mctracer_hold_now(void)
{
	int ret = mctracer_held_clear();

	if (ret)
		return ret;
	if (atomic_cmpxchg(&mctracer_hold_state, MCTRACER_HOLD_NONE,
			   MCTRACER_HOLD_BEGINNING) != MCTRACER_HOLD_NONE)
		return -EBUSY;
	mctracer_hold_hooks();
	atomic_set_release(&mctracer_hold_state, MCTRACER_HOLD_TAKING);
	mctracer_hold_wait();
	return atomic_read(&mctracer_hold_state) == MCTRACER_HOLD_NONE ? -ENOMEM : 0;
}

struct mctracer_snapshot *mctracer_held_open(void)
{
	guard(mutex)(&held_mutex);
	if (is_read || mctracer_hold_is_pending())
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

static int __init snapshot_file_init(void)
{
	mctracer_hold_copy = snapshot_copy;
	return 0;
}
core_initcall(snapshot_file_init);
