// SPDX-License-Identifier: GPL-2.0
/*
 * The hook: what is done for every call of every kernel function.
 *
 * Nothing here may be traced, call anything out of line that does not preserve all
 * registers, or fault; then it can not recurse and needs no guard against that. (What
 * is called when a preemption is due, or by paravirt, is not traced and preserves
 * them.) The stub jumps here and the compiler saves only what is used, of that what the
 * traced function may need: see CC_FLAGS_MCOUNT_DIRECT in linux/mcount.h.
 *
 * What is done for few calls is called by mcount_direct_call() and its like: note.c.
 */
#include <linux/mcount.h>
#include <linux/percpu.h>

#include "hook.h"
#include "mctracer.h"

DEFINE_PER_CPU_PAGE_ALIGNED(struct mctracer_ring, mctracer_rings);

/*
 * A time between two calls. Not if there is but one call since the last time: entry code
 * calls more than one function.
 */
noinline void __mcount_direct mctracer_hook_time(void)
{
	u64 head;
	u32 *slot, low, high;

	if (mctracer_ring_head_low(&mctracer_rings) - raw_cpu_read(mctracer_rings.time_low) ==
	    MCTRACER_WORD_SIZE)
		return;
	do {
		head = mctracer_ring_head(&mctracer_rings);
		if (unlikely(!(head & (MCTRACER_COMPACT_BLOCK - 1)))) {
			mcount_direct_call_void(mctracer_note_block);
			return;
		}
		read_clock(&low, &high);
	} while (!mctracer_ring_reserve_at(&mctracer_rings, head, MCTRACER_STEP(1, 1)));
	raw_cpu_write(mctracer_rings.time_low, (u32)head + MCTRACER_WORD_SIZE);
	slot = mctracer_ring_slot(&mctracer_rings, head);
	mctracer_ring_put(slot, mctracer_ring_lap(&mctracer_rings, head), high, low);
}

void __mcount_direct mctracer_hook(void)
{
	record(MCTRACER_HOOK_CALL, false, false, false);
}

void __mcount_direct mctracer_hook_exact(void)
{
	record(MCTRACER_HOOK_CALL, true, false, false);
}

void __mcount_direct mctracer_hook_context(void)
{
	record(MCTRACER_HOOK_CALL, false, true, false);
}

void __mcount_direct mctracer_hook_exact_context(void)
{
	record(MCTRACER_HOOK_CALL, true, true, false);
}
