// SPDX-License-Identifier: GPL-2.0
/*
 * Run work that a traced call has requested ("armed"), such as copying the rings for a snapshot. A
 * traced call may be one of the last of a CPU that goes offline, or one of the first of a CPU that
 * comes online: an irq_work that is queued there stays in the CPU's list, because no interrupt ever
 * takes it off.
 *
 * Proof that armed work runs
 * --------------------------
 * On an online CPU, mctracer_arm() queues the irq_work. If the CPU goes offline before the
 * interrupt arrives, smpcfd_dying_cpu() runs the queued work, later than set_cpu_online(false). On
 * a CPU that is not online, and while the machine suspends, mctracer_arm() queues nothing. After
 * the CPU's last traced call in this state, either the CPU comes online and armed_cpu_online()
 * runs, or the CPU dies or fails to start and armed_cpu_dead() runs. Both run the work that is
 * still needed. The works are IRQ_WORK_INIT_HARD: otherwise a thread of the CPU would run them with
 * PREEMPT_RT, and this thread stops before its CPU is offline. What they queue is not bound to this
 * CPU, which may never schedule again. With only one CPU, suspend ends without either callback: the
 * tracer's watch, tracer_watch_fn() in tracer.c, checks for armed work every few seconds.
 */
#include <linux/cpumask.h>
#include <linux/irq_work.h>
#include <linux/kernel.h>
#include <linux/smp.h>

#include "record.h"

void mctracer_arm(struct irq_work *work)
{
	if (cpu_online(raw_smp_processor_id()) && system_state < SYSTEM_SUSPEND)
		irq_work_queue(work);
}
