// SPDX-License-Identifier: GPL-2.0
/*
 * Wait for events, for trace_pipe and raw.
 *
 * The hook wakes nobody, because the traced function may hold any of the locks that a wakeup takes.
 * While a task waits, a work item checks for events ten times a second.
 */
#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/poll.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "../control/consume.h"
#include "../control/control.h"
#include "debugfs.h"

static DECLARE_WAIT_QUEUE_HEAD(waiting);
static unsigned int found;	/* how often the work has found events */

static void wait_find_events(struct work_struct *work);
static DECLARE_DELAYED_WORK(check, wait_find_events);

static void wait_check_soon(void)
{
	queue_delayed_work(system_unbound_wq, &check, HZ / 10);
}

static void wait_find_events(struct work_struct *work)
{
	if (mctracer_anything_to_consume(MCTRACER_ALL_CPUS)) {
		WRITE_ONCE(found, found + 1);
		wake_up_interruptible_all(&waiting);
	}
	if (wq_has_sleeper(&waiting))
		wait_check_soon();
}

/* Wait for a second at most: the work may run before this task sleeps, see no sleeper, and stop. */
int mctracer_wait_for_calls(void)
{
	unsigned int before = READ_ONCE(found);
	long ret;

	wait_check_soon();
	ret = wait_event_interruptible_timeout(waiting, READ_ONCE(found) != before, HZ);
	return min(ret, 0L);
}

__poll_t mctracer_poll(struct file *file, struct poll_table_struct *table, int only)
{
	poll_wait(file, &waiting, table);
	wait_check_soon();	/* always: an edge-triggered waiter does not poll again */
	return mctracer_anything_to_consume(only) ? EPOLLIN | EPOLLRDNORM : 0;
}
