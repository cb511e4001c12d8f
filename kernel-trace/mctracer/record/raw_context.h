/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The raw context: the state of interrupts and preemption in one number. Hooks compare it at each
 * call with that of the call before.
 */
#ifndef _KERNEL_TRACE_MCTRACER_RAW_CONTEXT_H
#define _KERNEL_TRACE_MCTRACER_RAW_CONTEXT_H

#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/thread_info.h>
#include <linux/types.h>

#include "../ring/ring.h"

/* The preempt count's fields have the layout of MCTRACER_PREEMPT_DEPTH and so on. */
static_assert(PREEMPT_MASK == MCTRACER_PREEMPT_DEPTH && SOFTIRQ_OFFSET == MCTRACER_SOFTIRQ &&
	      HARDIRQ_MASK == MCTRACER_HARDIRQ && NMI_MASK == MCTRACER_NMI);

/* Flags in free bits of the preempt count. */
#define RAW_IRQS_ON		BIT(24)
#define RAW_NEED_RESCHED	BIT(25)

/* Return the preempt count, with the hook's own increment, and the flags. */
static __always_inline u32 raw_context_read(void)
{
	u32 raw = raw_cpu_read(pcpu_hot.preempt_count);

	raw ^= (arch_local_save_flags() & X86_EFLAGS_IF) / X86_EFLAGS_IF * RAW_IRQS_ON;
	raw ^= (READ_ONCE(current_thread_info()->flags) & _TIF_NEED_RESCHED) / _TIF_NEED_RESCHED *
	       RAW_NEED_RESCHED;
	return raw;
}

/* Convert @raw to the data of a context word. */
static inline u32 raw_context_data(u32 raw)
{
	u32 context;

	if (raw == MCTRACER_NO_CONTEXT)
		return MCTRACER_CONTEXT_UNKNOWN;
	context = (raw - PREEMPT_DISABLE_OFFSET) &
		  (PREEMPT_MASK | SOFTIRQ_MASK | HARDIRQ_MASK | NMI_MASK);
	if (!(raw & RAW_IRQS_ON))
		context |= MCTRACER_IRQS_OFF;
	if (raw & RAW_NEED_RESCHED)
		context |= MCTRACER_NEED_RESCHED;
	if (!(raw & PREEMPT_NEED_RESCHED))
		context |= MCTRACER_PREEMPT_RESCHED;
	return context;
}

#endif /* _KERNEL_TRACE_MCTRACER_RAW_CONTEXT_H */
