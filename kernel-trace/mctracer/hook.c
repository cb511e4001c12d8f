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
#include <linux/kprobes.h>
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

NOKPROBE_SYMBOL(mctracer_hook_time);

/*
 * To be gone through with preemption disabled: then the task, whether it is recorded and
 * whose ring it is are one thing.
 */
#define must_record()								\
	(likely(raw_cpu_read(mctracer_rings.task) == current) ||		\
	 (raw_cpu_read(mctracer_rings.skipped) != current &&			\
	  mcount_direct_call(mctracer_note_task, 0)))

/*
 * A time that fits between those before and behind what is reserved with it. Interrupted
 * before that, it is read again; interrupted once more behind it, it is too late and left
 * out: 0. This is quicker than to reserve only if not interrupted.
 */
static __always_inline u64 reserve_with_time(u32 *low, u32 *high)
{
	u64 before, head;

	before = mctracer_ring_head(&mctracer_rings);
	read_clock(low, high);
	head = mctracer_ring_reserve(&mctracer_rings, MCTRACER_STEP(2, 1));
	if (unlikely(head != before)) {
		read_clock(low, high);
		barrier();	/* the time before head */
		before = head + 2 * MCTRACER_WORD_SIZE;
		if (mctracer_ring_head_low(&mctracer_rings) != (u32)before)
			*high = *low = 0;
	}
	return head;
}

/*
 * One call, and before it with @exact its time and with @context, where that has changed,
 * the context: which must not be that before an interrupt's words, so then it is looked
 * at again.
 */
static __always_inline void record(const bool exact, const bool context)
{
	const u64 step = exact ? MCTRACER_STEP(2, 1) : MCTRACER_STEP(1, 0);
	u32 *slot, lap, low, high, raw;
	u64 head;

	preempt_disable_notrace();
	if (!must_record()) {
		preempt_enable_notrace();
		return;
	}
	if (!exact && called_by_entry_code())
		mctracer_hook_time();

	if (context)
		raw = raw_context();
	if (!exact && !context) {
		head = mctracer_ring_reserve(&mctracer_rings, step);
	} else if (!context) {
		head = reserve_with_time(&low, &high);
	} else {
		do {
			head = mctracer_ring_head(&mctracer_rings);
			while (unlikely(raw_cpu_read(mctracer_rings.context) != raw)) {
				mcount_direct_call(mctracer_note_context, raw);
				head = mctracer_ring_head(&mctracer_rings);
			}
			if (exact)
				read_clock(&low, &high);
		} while (!mctracer_ring_reserve_at(&mctracer_rings, head, step));
	}

	if (unlikely(!(head & (exact ? MCTRACER_EXACT_BLOCK - 2 * MCTRACER_WORD_SIZE :
				       MCTRACER_COMPACT_BLOCK - MCTRACER_WORD_SIZE))))
		mcount_direct_call_void(mctracer_note_block);
	slot = mctracer_ring_slot(&mctracer_rings, head);
	lap = mctracer_ring_lap(&mctracer_rings, head);
	if (exact) {
		mctracer_ring_put(slot, lap, high, low);
		slot += 2;
	}
	mctracer_ring_put_ip(slot, mcount_direct_ip());
	mctracer_ring_commit(slot, lap, mcount_direct_parent_ip());
	preempt_enable_notrace();
}

void __mcount_direct mctracer_hook(void)
{
	record(false, false);
}

NOKPROBE_SYMBOL(mctracer_hook);

void __mcount_direct mctracer_hook_exact(void)
{
	record(true, false);
}

NOKPROBE_SYMBOL(mctracer_hook_exact);

void __mcount_direct mctracer_hook_context(void)
{
	record(false, true);
}

NOKPROBE_SYMBOL(mctracer_hook_context);

void __mcount_direct mctracer_hook_exact_context(void)
{
	record(true, true);
}

NOKPROBE_SYMBOL(mctracer_hook_exact_context);
