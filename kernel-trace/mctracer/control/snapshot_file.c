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
static DEFINE_MUTEX(snapshot_mutex);
static struct mctracer_ring_copy *held;
static bool is_read;		/* a reader uses a copy: then free this copy ... */
static bool is_cleared;		/* ... when the reader closes it, if this is set */
static int copy_error;		/* of the latest copy */

/* Hold @new, or nothing. Return the copy to be freed, if any; with snapshot_mutex. */
static struct mctracer_ring_copy *snapshot_replace(struct mctracer_ring_copy *new)
{
	struct mctracer_ring_copy *gone = held;

	if (is_read && !is_cleared) {
		is_cleared = true;	/* the reader uses held */
		gone = NULL;
	}
	held = new;
	return gone;
}

static void snapshot_copy(void)
{
	CLASS(mctracer_own_work, own)();
	struct mctracer_ring_copy *snapshot, *gone = NULL;

	snapshot = mctracer_ring_copy_take(MCTRACER_ALL_CPUS);
	if (!snapshot)
		pr_warn("no memory for a snapshot\n");
	WRITE_ONCE(mctracer_copying, false);
	mctracer_invalidate_tasks(true);
	scoped_guard(mutex, &snapshot_mutex) {
		copy_error = snapshot ? 0 : -ENOMEM;
		if (snapshot)
			gone = snapshot_replace(snapshot);
		atomic_set(&mctracer_snapshot_state,
			   held ? MCTRACER_SNAPSHOT_TAKEN : MCTRACER_SNAPSHOT_FAILED);
	}
	mctracer_ring_copy_free(gone);
}

int mctracer_snapshot_clear(void)
{
	CLASS(mctracer_own_work, own)();
	struct mctracer_ring_copy *gone = NULL;

	mctracer_snapshot_wait();
	scoped_guard(mutex, &snapshot_mutex) {
		if (mctracer_snapshot_is_pending())
			return -EBUSY;
		gone = snapshot_replace(NULL);
		atomic_cmpxchg(&mctracer_snapshot_state, MCTRACER_SNAPSHOT_TAKEN,
			       MCTRACER_SNAPSHOT_NONE);
		mctracer_snapshot_forget_failure();
	}
	mctracer_ring_copy_free(gone);
	return 0;
}

int mctracer_snapshot_make(void)
{
	int before;

	mctracer_snapshot_wait();
	before = atomic_read(&mctracer_snapshot_state);
	do {
		if (before == MCTRACER_SNAPSHOT_BEGINNING || before == MCTRACER_SNAPSHOT_TAKING)
			return -EBUSY;
	} while (!atomic_try_cmpxchg(&mctracer_snapshot_state, &before,
				     MCTRACER_SNAPSHOT_BEGINNING));
	mctracer_snapshot_stop_hooks();
	atomic_set_release(&mctracer_snapshot_state, MCTRACER_SNAPSHOT_TAKING);
	mctracer_snapshot_wait();
	guard(mutex)(&snapshot_mutex);
	return copy_error;
}

struct mctracer_ring_copy *mctracer_snapshot_open(void)
{
	guard(mutex)(&snapshot_mutex);
	if (is_read || mctracer_snapshot_is_pending())
		return ERR_PTR(-EBUSY);
	if (!held)
		return ERR_PTR(mctracer_snapshot_has_failed() ? -ENOMEM : -ENODATA);
	is_read = true;
	is_cleared = false;
	return held;
}

void mctracer_snapshot_close(struct mctracer_ring_copy *snapshot)
{
	bool gone;

	scoped_guard(mutex, &snapshot_mutex) {
		gone = is_cleared;
		is_read = false;
		is_cleared = false;
	}
	if (gone)
		mctracer_ring_copy_free(snapshot);
}

static int __init snapshot_file_init(void)
{
	mctracer_snapshot_copy = snapshot_copy;
	return 0;
}
core_initcall(snapshot_file_init);
