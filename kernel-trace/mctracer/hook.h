/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What all hooks do, each with other constants: from the call to the ring.
 */
#ifndef _KERNEL_TRACE_MCTRACER_HOOK_H
#define _KERNEL_TRACE_MCTRACER_HOOK_H

#include <linux/compiler.h>
#include <linux/irqflags.h>
#include <linux/mcount.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/thread_info.h>
#include <linux/timekeeping.h>
#include <linux/timex.h>

#include "mctracer.h"

/* MCTRACER_IRQS_OFF and so on, where the traced function has the preempt count @count. */
static __always_inline u32 context_of(u32 count)
{
	u32 context = min(count & PREEMPT_MASK, 15U) << MCTRACER_PREEMPT_SHIFT;

	if (raw_irqs_disabled())
		context |= MCTRACER_IRQS_OFF;
	if (tif_need_resched())
		context |= MCTRACER_NEED_RESCHED;
	if (test_preempt_need_resched())
		context |= MCTRACER_PREEMPT_RESCHED;
	if (count & NMI_MASK)
		context |= MCTRACER_NMI;
	if (count & HARDIRQ_MASK)
		context |= MCTRACER_HARDIRQ;
	if (count & SOFTIRQ_OFFSET)
		context |= MCTRACER_SOFTIRQ;
	return context;
}

/*
 * @keep: when the ring is full, keep its oldest records and count what comes as
 * lost. @with_context: record the context, too. @cycles: the time is the cycle
 * counter's.
 */
static __always_inline void record_call(bool keep, bool with_context, const bool cycles)
{
	/* The slow hook has disabled preemption already. */
	const u32 count = preempt_count() - (cycles ? 0 : PREEMPT_DISABLE_OFFSET);
	u32 context = with_context ? context_of(count) : 0;
	struct mctracer_record *slot;
	u64 pos, clock, stamp;
	u32 ip;

	/*
	 * The slot must be committed before anything else than an interrupt
	 * runs on this CPU.
	 */
	preempt_disable_notrace();
	do {
		pos = mctracer_ring_head(&mctracer_rings);
		if (keep && mctracer_ring_full(&mctracer_rings, pos))
			goto out;
		clock = cycles ? get_cycles() : ktime_get_mono_fast_ns();
		OPTIMIZER_HIDE_VAR(clock);	/* or its halves occupy a register more */
	} while (!mctracer_ring_reserve(&mctracer_rings, pos));

	if (with_context) {
		ip = mcount_direct_ip() & ~MCTRACER_PLAIN;
		stamp = mctracer_context_stamp(clock, context, current->pid);
		slot = mctracer_ring_fill(&mctracer_rings, pos, ip, stamp);
	} else {
		slot = mctracer_ring_fill(&mctracer_rings, pos, mcount_direct_ip(),
					  mctracer_stamp(clock, current->pid));
	}
	mctracer_ring_commit(&mctracer_rings, pos, slot, mcount_direct_parent_ip());
out:
	preempt_enable_notrace();
}

#endif /* _KERNEL_TRACE_MCTRACER_HOOK_H */
