// SPDX-License-Identifier: GPL-2.0
/*
 * The hook for where the cycle counter can't be used. It calls a function, so it
 * saves all registers that functions may clobber.
 */
#include <linux/compiler.h>
#include <linux/kprobes.h>
#include <linux/mcount.h>
#include <linux/percpu.h>
#include <linux/preempt.h>

#include "hook.h"
#include "mctracer.h"

DEFINE_PER_CPU(unsigned long, mctracer_recursions);
static DEFINE_PER_CPU(bool, recording);

/*
 * What reads another clock may be traced: refuse and count what comes from there,
 * and from interrupts meanwhile.
 */
void __mcount_direct mctracer_hook_slow(void)
{
	preempt_disable_notrace();
	if (this_cpu_read(recording)) {
		this_cpu_inc(mctracer_recursions);
	} else {
		this_cpu_write(recording, true);
		barrier();
		record_call(!mctracer_option(MCTRACER_OVERWRITE),
			    mctracer_option(MCTRACER_CONTEXT), false);
		barrier();
		this_cpu_write(recording, false);
	}
	preempt_enable_notrace();
}

NOKPROBE_SYMBOL(mctracer_hook_slow);
