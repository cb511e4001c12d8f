// SPDX-License-Identifier: GPL-2.0
/*
 * Read the clock that times are taken from, and provide its conversion to nanoseconds.
 *
 * The clock is the cycle counter as long as the kernel trusts it, because nothing costs less; its
 * times match the kernel's log. When the kernel finds that the counter stops, changes its rate or
 * differs between CPUs, the clock becomes CLOCK_MONOTONIC in nanoseconds. The rings record where
 * the conversion changes, so no earlier event loses its time. Later times still match the log.
 */
#include <linux/bits.h>
#include <linux/cc_platform.h>
#include <linux/cleanup.h>
#include <linux/compiler.h>
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/sched/clock.h>
#include <linux/timekeeping.h>
#include <linux/timex.h>

#include <asm/barrier.h>
#include <asm/timer.h>
#include <asm/tsc.h>

#include "../ring/ring.h"
#include "record.h"

#undef pr_fmt
#define pr_fmt(fmt) "mctracer: " fmt

static bool use_cycles = true;	/* under hook_mutex (tracer.c) */
static s64 mono_offset;		/* of the log's times to CLOCK_MONOTONIC when it became the clock */

bool mctracer_clock_is_cycles(void)
{
	return smp_load_acquire(&use_cycles);	/* before mono_offset */
}

bool mctracer_clock_is_lost(void)
{
	/*
	 * A hypervisor may intercept rdtsc. If it can't see the guest's registers, rdtsc raises an
	 * exception, and the exception's handler is traced: each hook in the handler would read the
	 * counter again, without end. The slow hook refuses calls made while it reads a clock.
	 */
	if (!use_cycles || cc_platform_has(CC_ATTR_GUEST_STATE_ENCRYPT))
		return use_cycles;
	/* A recorded time has 60 bits. */
	return check_tsc_unstable() || get_cycles() >= BIT_ULL(59);
}

void mctracer_clock_to_ns(void)
{
	unsigned long flags;

	pr_warn("the cycle counter can't be used: tracing more slowly, by CLOCK_MONOTONIC\n");
	local_irq_save(flags);	/* nothing may come between the two readings */
	mono_offset = local_clock() - ktime_get_mono_fast_ns();
	local_irq_restore(flags);
	smp_store_release(&use_cycles, false);	/* after mono_offset */
}

/* Interrupt levels in which this CPU reads the conversion: bits by interrupt_context_level(). */
static DEFINE_PER_CPU(u8, reading);

void mctracer_clock_conversion(struct mctracer_clock *clock)
{
	const u8 level = BIT(interrupt_context_level());
	struct cyc2ns_data data;

	if (!mctracer_clock_is_cycles()) {
		*clock = (struct mctracer_clock) {
			.mult	= 1,
			.offset	= mono_offset,
			.is_ns	= true,
		};
		return;
	}
	/* A kprobe in these functions may make traced calls, and their hooks come here. */
	if (this_cpu_read(reading) & level) {
		*clock = raw_cpu_ptr(&mctracer_rings)->clock;
		return;
	}
	this_cpu_or(reading, level);
	barrier();
	cyc2ns_read_begin(&data);
	cyc2ns_read_end();
	barrier();
	this_cpu_and(reading, ~level);
	*clock = (struct mctracer_clock) {
		.mult	= data.cyc2ns_mul,
		.shift	= data.cyc2ns_shift,
		.offset	= data.cyc2ns_offset + READ_ONCE(__sched_clock_offset),
	};
}

u64 mctracer_clock_now(bool is_ns)
{
	return is_ns ? ktime_get_mono_fast_ns() : get_cycles();
}

u64 mctracer_clock_read(struct mctracer_clock *clock)
{
	guard(preempt_notrace)();
	mctracer_clock_conversion(clock);
	return mctracer_clock_now(clock->is_ns);
}
