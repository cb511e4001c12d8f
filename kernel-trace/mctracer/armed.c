// SPDX-License-Identifier: GPL-2.0
/*
 * Work that a traced call arms for later, such as the copy for a snapshot. A traced call may be one
 * of the last that a CPU makes on its way down, or one of the first on its way up: an irq_work that
 * is queued there stays on the CPU's list, where no interrupt ever takes it off.
 *
 * Proof that what is armed is done
 * --------------------------------
 * On a CPU that is online, an irq_work is queued. If the CPU goes offline before the interrupt has
 * come, smpcfd_dying_cpu() runs what is queued: that is later than set_cpu_online(false). On a
 * CPU that is not online, and while the machine suspends, nothing is queued. Such a CPU comes
 * online, and then came_online() runs; or it dies, or its start fails, and then has_gone() runs;
 * either after its last traced call in that state. Both look at what is still needed. Suspending
 * ends without either if there is only one CPU: the tracer's watch, which looks every few seconds,
 * finds that.
 */
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/init.h>
#include <linux/irq_work.h>
#include <linux/kernel.h>
#include <linux/smp.h>

#include "mctracer.h"

void mctracer_arm(struct irq_work *work)
{
	if (cpu_online(raw_smp_processor_id()) && system_state < SYSTEM_SUSPEND)
		irq_work_queue(work);
}

void mctracer_finish_armed(void)
{
	mctracer_hold_finish();
	mctracer_soon_finish();
}

static int came_online(unsigned int cpu)
{
	mctracer_finish_armed();
	return 0;
}

static int has_gone(unsigned int cpu)
{
	mctracer_finish_armed();
	return 0;
}

static int __init armed_init(void)
{
	int ret;

	ret = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "trace/mctracer:prepare", NULL,
					has_gone);
	if (ret < 0)
		return ret;
	ret = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "trace/mctracer:online", came_online,
					NULL);
	return min(ret, 0);
}
core_initcall(armed_init);
