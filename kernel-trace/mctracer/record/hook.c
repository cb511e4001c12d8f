// SPDX-License-Identifier: GPL-2.0
/*
 * The hook: record each call of a traced kernel function in the CPU's ring.
 *
 * Nothing here may be traced, fault, or call anything out of line that doesn't preserve all
 * registers. So the hook can't recurse and needs no guard against recursion. (A due preemption and
 * paravirt call functions that are not traced and preserve all registers.) The stub jumps here. The
 * compiler saves only registers that the hook uses and the traced function may need: see
 * CC_FLAGS_MCOUNT_DIRECT in linux/mcount.h.
 *
 * The slow path is emit.c: hooks call its functions by mcount_direct_call() and its variants.
 */
#include <linux/mcount.h>
#include <linux/percpu.h>

#include "../ring/ring.h"
#include "hook.h"
#include "record.h"

/*
 * Record a time between two calls, unless there is only one call since the last time: entry code
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
			mcount_direct_call_void(mctracer_emit_block);
			return;
		}
		hook_read_clock(&low, &high);
	} while (!mctracer_ring_reserve_at(&mctracer_rings, head, MCTRACER_STEP(1, 1)));
	raw_cpu_write(mctracer_rings.time_low, (u32)head + MCTRACER_WORD_SIZE);
	slot = mctracer_ring_slot(&mctracer_rings, head);
	mctracer_ring_put(slot, mctracer_ring_lap(&mctracer_rings, head), high, low);
}

void __mcount_direct mctracer_hook(void)
{
	hook_record(MCTRACER_HOOK_CALL, false, false, false, NULL);
}

void __mcount_direct mctracer_hook_timed(void)
{
	hook_record(MCTRACER_HOOK_CALL, true, false, false, NULL);
}

void __mcount_direct mctracer_hook_context(void)
{
	hook_record(MCTRACER_HOOK_CALL, false, true, false, NULL);
}

void __mcount_direct mctracer_hook_timed_context(void)
{
	hook_record(MCTRACER_HOOK_CALL, true, true, false, NULL);
}
