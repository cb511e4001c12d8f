// SPDX-License-Identifier: GPL-2.0
/*
 * What records are stamped with, and how that becomes a time.
 *
 * The cycle counter, as long as the kernel trusts it: nothing costs less. The
 * time is that of the kernel's log then. When the counter is found to stop, to
 * change its pace or to differ between CPUs, CLOCK_MONOTONIC in nanoseconds.
 */
#include <linux/printk.h>
#include <linux/sched/clock.h>
#include <linux/timekeeping.h>
#include <linux/timex.h>

#include <asm/timer.h>
#include <asm/tsc.h>

#include "mctracer.h"

#undef pr_fmt
#define pr_fmt(fmt) "mctracer: " fmt

/* Under the tracer's mutex. */
static bool use_cycles = true;

bool mctracer_clock_is_cycles(void)
{
	return READ_ONCE(use_cycles);
}

bool mctracer_clock_is_bad(void)
{
	return mctracer_clock_is_cycles() && check_tsc_unstable();
}

void mctracer_clock_change(void)
{
	pr_warn("the cycle counter is not reliable: tracing more slowly, by CLOCK_MONOTONIC\n");
	WRITE_ONCE(use_cycles, false);
}

u64 mctracer_clock_now(void)
{
	return mctracer_clock_is_cycles() ? get_cycles() : ktime_get_mono_fast_ns();
}

u64 mctracer_clock_ns(u64 time, bool cycles)
{
	if (!cycles)
		return time;
	return native_sched_clock_from_tsc(time) + __sched_clock_offset;
}

void mctracer_clock_params(struct mctracer_ring_header *header)
{
	struct cyc2ns_data data = { .cyc2ns_mul = 1 };

	if (mctracer_clock_is_cycles()) {
		cyc2ns_read_begin(&data);
		cyc2ns_read_end();
		data.cyc2ns_offset += __sched_clock_offset;
	}
	header->clock_offset = data.cyc2ns_offset;
	header->clock_mult = data.cyc2ns_mul;
	header->clock_shift = data.cyc2ns_shift;
}
