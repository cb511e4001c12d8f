// SPDX-License-Identifier: GPL-2.0
/* Code for kernels that trace idle CPUs, where RCU does not watch. */
#include <linux/mcount.h>
#include <trace/events/power.h>

#include "compat.h"
#include "mctracer/ring/ring.h"

unsigned int arch_mcount_callers(unsigned long ip, unsigned long parent_ip,
				 const struct mcount_regs *regs, u32 *callers, u32 *stacks,
				 unsigned int max)
{
	bool missed = mctracer_compat_watch();
	unsigned int n = mctracer_compat_callers(ip, parent_ip, regs, callers, stacks, max);

	mctracer_compat_unwatch(missed);
	return n;
}

/* Invalidate the cached task after idle, so that the next call is recorded with its time. */
void mctracer_compat_idles(void *data, unsigned int state, unsigned int cpu)
{
	if (state == (unsigned int)PWR_EVENT_EXIT)
		raw_cpu_write(mctracer_at_mctracer_rings->task, NULL);
}
