// SPDX-License-Identifier: GPL-2.0
/*
 * Recording, or not, while hooks stay registered: by triggers, in any context, or by the
 * file tracing_on.
 *
 * What a hook that begins now does is decided where it finds a task that the ring does not
 * remember: so all are forgotten.
 */
#include <linux/atomic.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/preempt.h>
#include <linux/workqueue.h>
#include <uapi/linux/mctracer.h>

#include "mctracer.h"

/* What has said that it is to be off soon, and when, in jiffies. */
static unsigned long soon_ip, soon_at;

static bool change(enum mctracer_on from, enum mctracer_on to)
{
	return atomic_cmpxchg(&mctracer_recording, from, to) == from;
}

bool mctracer_turn_on(void)
{
	if (atomic_xchg(&mctracer_recording, MCTRACER_ON) == MCTRACER_ON)
		return false;
	mctracer_note_hole();
	return true;
}

void mctracer_turn_off(void)
{
	guard(preempt_notrace)();	/* or a task could go where it is known, and come back */
	atomic_set(&mctracer_recording, MCTRACER_OFF);
	mctracer_forget_tasks(false);
}

/* The mark is written before, unless somebody has turned it on meanwhile, or off. */
static void turn_off_marked(unsigned long ip, bool always)
{
	mctracer_note_mark(ip, MCTRACER_MARK_OFF, always);
	if (change(MCTRACER_CHANGING, MCTRACER_OFF))
		mctracer_forget_tasks(false);
}

static void soon_fn(struct work_struct *work);
static DECLARE_DELAYED_WORK(soon_work, soon_fn);

static void queue_soon(struct irq_work *work)
{
	unsigned long at = READ_ONCE(soon_at), now = jiffies;

	mod_delayed_work(system_wq, &soon_work, time_after(at, now) ? at - now : 0);
}

static DEFINE_IRQ_WORK(soon_irq_work, queue_soon);

/* It may be that of an earlier time: then it is not the last. */
static void soon_fn(struct work_struct *work)
{
	if (atomic_read(&mctracer_recording) != MCTRACER_OFF_SOON)
		return;
	if (time_before(jiffies, READ_ONCE(soon_at))) {
		queue_soon(NULL);
		return;
	}
	guard(preempt_notrace)();
	if (change(MCTRACER_OFF_SOON, MCTRACER_CHANGING))
		turn_off_marked(READ_ONCE(soon_ip), true);
}

void mctracer_soon_finish(void)
{
	if (atomic_read(&mctracer_recording) == MCTRACER_OFF_SOON)
		queue_soon(NULL);
}

void mctracer_forget_soon(void)
{
	change(MCTRACER_OFF_SOON, MCTRACER_ON);
	irq_work_sync(&soon_irq_work);
	cancel_delayed_work_sync(&soon_work);
}

void mctracer_turn_off_at(unsigned long ip, unsigned int after)
{
	if (!after) {
		if (change(MCTRACER_ON, MCTRACER_CHANGING) ||
		    change(MCTRACER_OFF_SOON, MCTRACER_CHANGING))
			turn_off_marked(ip, false);
		return;
	}
	if (!change(MCTRACER_ON, MCTRACER_CHANGING))
		return;
	WRITE_ONCE(soon_ip, ip);
	WRITE_ONCE(soon_at, jiffies + msecs_to_jiffies(after));
	mctracer_note_mark(ip, MCTRACER_MARK_OFF_SOON, false);
	if (change(MCTRACER_CHANGING, MCTRACER_OFF_SOON))
		mctracer_arm(&soon_irq_work);
}
