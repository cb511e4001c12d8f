/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The raw context: the state of interrupts and preemption in one number, in kernels whose preempt
 * count also counts disabled interrupts. In place of the header of this name in mctracer/record.
 */
#ifndef _KERNEL_TRACE_MCTRACER_RAW_CONTEXT_H
#define _KERNEL_TRACE_MCTRACER_RAW_CONTEXT_H

#include <linux/bitfield.h>
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/thread_info.h>
#include <linux/types.h>
#include <uapi/linux/mctracer.h>

/* As in ring.h. */
#define MCTRACER_NO_CONTEXT		U32_MAX

/* The low fields of the preempt count have the layout of a context word; the higher ones do not. */
static_assert(PREEMPT_MASK == MCTRACER_PREEMPT_DEPTH && SOFTIRQ_OFFSET == MCTRACER_SOFTIRQ);

/*
 * The preempt count is rotated left by one, so that its highest bit, PREEMPT_NEED_RESCHED, is the
 * lowest. Two flags replace the count of disabled interrupts. The eighth of nested NMIs is not seen
 * therefore.
 */
#define RAW_SHIFT		1
#define RAW_NO_PREEMPT_RESCHED	BIT(0)
#define RAW_COUNT \
	((PREEMPT_MASK | SOFTIRQ_MASK | HARDIRQ_MASK | NMI_MASK) << RAW_SHIFT)
#define RAW_IRQS_ON		BIT(HARDIRQ_DISABLE_SHIFT + RAW_SHIFT)
#define RAW_NEED_RESCHED	BIT(HARDIRQ_DISABLE_SHIFT + RAW_SHIFT + 1)

/* Return the rotated preempt count, with the hook's own increment, and the flags. */
static __always_inline u32 raw_context_read(void)
{
	/* First, so that no register need hold the task any longer. */
	const u32 need_resched = (READ_ONCE(current_thread_info()->flags) & _TIF_NEED_RESCHED) *
				 (RAW_NEED_RESCHED / _TIF_NEED_RESCHED);
	unsigned long count;
	u32 raw;

	barrier();
	count = raw_cpu_read(__preempt_count);
	raw = count << RAW_SHIFT | count >> (BITS_PER_LONG - RAW_SHIFT);
	raw &= RAW_COUNT | RAW_NO_PREEMPT_RESCHED;
	raw ^= (arch_local_save_flags() & X86_EFLAGS_IF) / X86_EFLAGS_IF * RAW_IRQS_ON;
	raw ^= need_resched;
	return raw;
}

/* Convert @raw to the data of a context word. */
static inline u32 raw_context_data(u32 raw)
{
	const u32 count = (raw >> RAW_SHIFT) - PREEMPT_DISABLE_OFFSET;
	u32 context;

	if (raw == MCTRACER_NO_CONTEXT)
		return MCTRACER_CONTEXT_UNKNOWN;
	context = count & (PREEMPT_MASK | SOFTIRQ_MASK);
	context |= FIELD_PREP(MCTRACER_HARDIRQ, FIELD_GET(HARDIRQ_MASK, count));
	context |= FIELD_PREP(MCTRACER_NMI, FIELD_GET(NMI_MASK, count));
	if (!(raw & RAW_IRQS_ON))
		context |= MCTRACER_IRQS_OFF;
	if (raw & RAW_NEED_RESCHED)
		context |= MCTRACER_NEED_RESCHED;
	if (!(raw & RAW_NO_PREEMPT_RESCHED))
		context |= MCTRACER_PREEMPT_RESCHED;
	return context;
}

#endif /* _KERNEL_TRACE_MCTRACER_RAW_CONTEXT_H */
