/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What all hooks do, each with other constants: from the call to the ring.
 */
#ifndef _KERNEL_TRACE_MCTRACER_HOOK_H
#define _KERNEL_TRACE_MCTRACER_HOOK_H

#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/irqflags.h>
#include <linux/mcount.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/thread_info.h>
#include <linux/timex.h>
#include <asm/sections.h>

#include "mctracer.h"

/* What the hook needs of the preempt count lies as in MCTRACER_PREEMPT_DEPTH and so on. */
static_assert(PREEMPT_MASK == MCTRACER_PREEMPT_DEPTH && SOFTIRQ_OFFSET == MCTRACER_SOFTIRQ &&
	      HARDIRQ_MASK == MCTRACER_HARDIRQ && NMI_MASK == MCTRACER_NMI);

/*
 * The context as it is compared for each call: the preempt count with the hook's own
 * share, and these bits that it leaves free. context_said() makes the words' of it.
 */
#define RAW_IRQS_ON		BIT(24)
#define RAW_NEED_RESCHED	BIT(25)

static __always_inline u32 raw_context(void)
{
	u32 raw = raw_cpu_read(pcpu_hot.preempt_count);

	raw ^= (arch_local_save_flags() & X86_EFLAGS_IF) / X86_EFLAGS_IF * RAW_IRQS_ON;
	raw ^= (READ_ONCE(current_thread_info()->flags) & _TIF_NEED_RESCHED) / _TIF_NEED_RESCHED *
	       RAW_NEED_RESCHED;
	return raw;
}

/*
 * The kernel was entered here: user space, idle, an interrupt or exception came in. For
 * most callers the first comparison tells.
 */
#define called_by_entry_code()							\
	(unlikely(mcount_direct_parent_ip() >= (unsigned long)__noinstr_text_start) && \
	 ({ barrier(); mcount_direct_parent_ip() < (unsigned long)__noinstr_text_end; }))

/* The time is in units of two cycles: so it needs but one shift. */
static __always_inline void read_clock(u32 *low, u32 *high)
{
	asm volatile("rdtsc" : "=a" (*low), "=d" (*high));
	*low >>= 1;
}

#endif /* _KERNEL_TRACE_MCTRACER_HOOK_H */
