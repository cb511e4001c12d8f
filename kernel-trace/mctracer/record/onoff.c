// SPDX-License-Identifier: GPL-2.0
/*
 * Turn recording on and off while the hooks stay registered: by triggers, in any context, or by the
 * file tracing_on.
 *
 * A hook checks whether recording is on only if the current task is not the cached one. So each
 * change invalidates the cached tasks of all rings.
 */
#include <linux/atomic.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/preempt.h>
#include <linux/workqueue.h>
#include <uapi/linux/mctracer.h>

#include "record.h"

/*
 * For MCTRACER_OFF_SOON: the trigger's function, when recording ends, in jiffies, and the count of
 * modules at the call.
 */
static unsigned long soon_ip, soon_at;
static u32 soon_modules;

static bool onoff_change(enum mctracer_on from, enum mctracer_on to)
{
	return atomic_cmpxchg(&mctracer_recording, from, to) == from;
}

bool mctracer_turn_on(void)
{
	if (atomic_read(&mctracer_recording) == MCTRACER_ON)
		return false;
	mctracer_add_hole();
	if (atomic_xchg(&mctracer_recording, MCTRACER_ON) == MCTRACER_ON)
		return false;
	mctracer_invalidate_tasks(false);
	return true;
}

void mctracer_turn_off(void)
{
	/* Be quick: meanwhile, a task could migrate to a CPU that has it cached, and come back. */
	guard(preempt_notrace)();
	atomic_set(&mctracer_recording, MCTRACER_OFF);
	mctracer_invalidate_tasks(false);
}

/* Write the mark, then turn recording off, unless somebody has turned it on or off meanwhile. */
static void onoff_turn_off_marked(unsigned long ip)
{
	mctracer_emit_mark(ip, MCTRACER_MARK_OFF, true);
	if (onoff_change(MCTRACER_CHANGING, MCTRACER_OFF))
		mctracer_invalidate_tasks(false);
}

static void onoff_soon_fn(struct work_struct *work);
static DECLARE_DELAYED_WORK(soon_work, onoff_soon_fn);

static void onoff_queue_soon(struct irq_work *work)
{
	unsigned long at = READ_ONCE(soon_at), now = jiffies;

	mod_delayed_work(system_unbound_wq, &soon_work, time_after(at, now) ? at - now : 0);
}

static struct irq_work soon_irq_work = IRQ_WORK_INIT_HARD(onoff_queue_soon);

/* End the recording. If an earlier request has queued the work, queue it again for the latest. */
static void onoff_soon_fn(struct work_struct *work)
{
	unsigned long ip;

	if (atomic_read(&mctracer_recording) != MCTRACER_OFF_SOON)
		return;
	if (time_before(jiffies, READ_ONCE(soon_at))) {
		onoff_queue_soon(NULL);
		return;
	}
	ip = READ_ONCE(soon_ip);
	if (!mctracer_module_was_there(ip, READ_ONCE(soon_modules)))
		ip = 0;		/* another module is there now */
	guard(preempt_notrace)();
	if (onoff_change(MCTRACER_OFF_SOON, MCTRACER_CHANGING))
		onoff_turn_off_marked(ip);
}

void mctracer_turn_off_finish(void)
{
	if (atomic_read(&mctracer_recording) == MCTRACER_OFF_SOON)
		onoff_queue_soon(NULL);
}

void mctracer_cancel_turn_off(void)
{
	onoff_change(MCTRACER_OFF_SOON, MCTRACER_ON);
	irq_work_sync(&soon_irq_work);
	cancel_delayed_work_sync(&soon_work);
}

void mctracer_turn_off_at(unsigned long ip, unsigned int after)
{
	if (!after) {
		if (onoff_change(MCTRACER_ON, MCTRACER_CHANGING) ||
		    onoff_change(MCTRACER_OFF_SOON, MCTRACER_CHANGING))
			onoff_turn_off_marked(ip);
		return;
	}
	if (!onoff_change(MCTRACER_ON, MCTRACER_CHANGING))
		return;
	WRITE_ONCE(soon_ip, ip);
	WRITE_ONCE(soon_modules, mctracer_module_count());
	WRITE_ONCE(soon_at, jiffies + msecs_to_jiffies(after));
	mctracer_emit_mark(ip, MCTRACER_MARK_OFF_SOON, false);
	if (onoff_change(MCTRACER_CHANGING, MCTRACER_OFF_SOON))
		mctracer_arm(&soon_irq_work);
}
