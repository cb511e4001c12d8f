// SPDX-License-Identifier: GPL-2.0
/*
 * The hook: what is done for every call of every kernel function.
 *
 * Nothing here may be traced, call anything out of line, or fault; then it can
 * not recurse and needs no guard against that. The stub jumps here and the
 * compiler saves only what is used.
 */
#include <linux/compiler.h>
#include <linux/kprobes.h>
#include <linux/mcount.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/timex.h>

#include "mctracer.h"

DEFINE_PER_CPU_SHARED_ALIGNED(struct mctracer_ring, mctracer_rings);

void __mcount_direct mctracer_hook(void)
{
	struct mctracer_record *slot;
	u64 pos, clock;

	/*
	 * The slot must be committed before anything else than an interrupt
	 * runs on this CPU.
	 */
	preempt_disable_notrace();
	do {
		pos = mctracer_ring_head(&mctracer_rings);
		clock = get_cycles();
		OPTIMIZER_HIDE_VAR(clock);	/* or its halves occupy a register more */
	} while (!mctracer_ring_reserve(&mctracer_rings, pos));

	slot = mctracer_ring_fill(&mctracer_rings, pos, mcount_direct_ip(),
				  mctracer_stamp(clock, current->pid));
	mctracer_ring_commit(&mctracer_rings, pos, slot, mcount_direct_parent_ip());
	preempt_enable_notrace();
}

NOKPROBE_SYMBOL(mctracer_hook);
