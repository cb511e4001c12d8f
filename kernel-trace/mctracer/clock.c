// SPDX-License-Identifier: GPL-2.0
/*
 * What times are taken from, and how they become nanoseconds.
 *
 * The cycle counter, as long as the kernel trusts it: nothing costs less. The time is
 * that of the kernel's log then. When the counter is found to stop, to change its pace
 * or to differ between CPUs, CLOCK_MONOTONIC in nanoseconds. The rings say where the
 * conversion changes, so nothing recorded before loses its time.
 */
#include <linux/bits.h>
#include <linux/cc_platform.h>
#include <linux/init.h>
#include <linux/printk.h>
#include <linux/sched/clock.h>
#include <linux/syscore_ops.h>
#include <linux/timekeeping.h>
#include <linux/timex.h>

#include <asm/timer.h>
#include <asm/tsc.h>

#include "mctracer.h"

#undef pr_fmt
#define pr_fmt(fmt) "mctracer: " fmt

static bool use_cycles = true;	/* under the hook's mutex */

bool mctracer_clock_is_cycles(void)
{
	return READ_ONCE(use_cycles);
}

bool mctracer_clock_is_lost(void)
{
	/*
	 * A hypervisor may intercept rdtsc. Where it can't see the guest's registers, that raises
	 * an exception, whose handler is traced: each hook in it would read the counter again,
	 * without end. The slow hook refuses what is called while it reads a clock.
	 */
	if (!use_cycles || cc_platform_has(CC_ATTR_GUEST_STATE_ENCRYPT))
		return use_cycles;
	/* A time has 60 bits. */
	return check_tsc_unstable() || get_cycles() >= BIT_ULL(59);
}

void mctracer_clock_to_ns(void)
{
	pr_warn("the cycle counter can't be used: tracing more slowly, by CLOCK_MONOTONIC\n");
	WRITE_ONCE(use_cycles, false);
}

u64 mctracer_clock_read(struct mctracer_clock *clock)
{
	struct cyc2ns_data data;

	if (!mctracer_clock_is_cycles()) {
		*clock = (struct mctracer_clock) { .mult = 1, .is_ns = true };
		return ktime_get_mono_fast_ns();
	}
	cyc2ns_read_begin(&data);
	cyc2ns_read_end();
	*clock = (struct mctracer_clock) {
		.mult	= data.cyc2ns_mul,
		.shift	= data.cyc2ns_shift,
		.offset	= data.cyc2ns_offset + READ_ONCE(__sched_clock_offset),
	};
	return get_cycles();
}

/*
 * The machine has slept, and the counter may have begun again. The kernel has mended
 * the conversion before: the next call on each CPU is to see that.
 */
static void clock_resume(void *unused)
{
	mctracer_forget_tasks(false);
}

static const struct syscore_ops clock_ops = {
	.resume	= clock_resume,
};

static struct syscore clock_syscore = {
	.ops	= &clock_ops,
};

static int __init clock_init(void)
{
	register_syscore(&clock_syscore);
	return 0;
}
core_initcall(clock_init);
