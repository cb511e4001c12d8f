/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The body of all hooks: record a call or return in the ring. Each hook inlines hook_record() with
 * other constants.
 */
#ifndef _KERNEL_TRACE_MCTRACER_HOOK_H
#define _KERNEL_TRACE_MCTRACER_HOOK_H

#include <linux/compiler.h>
#include <linux/mcount.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/timex.h>
#include <asm/sections.h>

#include "../ring/ring.h"
#include "raw_context.h"
#include "record.h"
#include "selected.h"

/* The arguments of the hook. @ips: ip and parent_ip in a plain hook, NULL in a direct one. */
static __always_inline unsigned long hook_ip(const unsigned long *ips)
{
	return ips ? ips[0] : mcount_direct_ip();
}

static __always_inline unsigned long hook_parent_ip(const unsigned long *ips)
{
	return ips ? ips[1] : mcount_direct_parent_ip();
}

/*
 * Return true if the caller is entry code: the kernel was entered from user space, from idle, or by
 * an interrupt or exception. For most callers the first comparison decides. Load the address again
 * for the second one, instead of keeping it in a register.
 */
static __always_inline bool hook_is_called_by_entry_code(const unsigned long *ips)
{
	if (likely(hook_parent_ip(ips) < (unsigned long)__noinstr_text_start))
		return false;
	barrier();
	return hook_parent_ip(ips) < (unsigned long)__noinstr_text_end;
}

/* Read the time as the halves of a time word, in units of two cycles: so one shift is enough. */
static __always_inline void hook_read_clock(u32 *low, u32 *high)
{
	asm volatile("rdtsc" : "=a" (*low), "=d" (*high));
	*low >>= 1;
}

/* What a hook records. MCTRACER_HOOK_TAIL: a jump to a function, which returns in its place. */
enum mctracer_hook_at {
	MCTRACER_HOOK_CALL,
	MCTRACER_HOOK_RETURN,
	MCTRACER_HOOK_TAIL,
};

/*
 * Call @func(@arg), in the slow path. Return true if its result is not 0: at returns no register is
 * free for the result itself.
 */
static __always_inline bool hook_slow_path(const enum mctracer_hook_at at,
					   unsigned long (*func)(unsigned long), unsigned long arg,
					   const unsigned long *ips)
{
	if (ips)
		return func(arg);
	return at == MCTRACER_HOOK_CALL ? mcount_direct_call(func, arg) :
					  mcount_direct_ask(func, arg);
}

/*
 * Return true if the current task is recorded. Preemption must be disabled, from here until the
 * words are written: so the task, the answer and the ring belong together.
 */
static __always_inline bool hook_must_record(const enum mctracer_hook_at at,
					     const unsigned long *ips)
{
	return likely(raw_cpu_read(mctracer_rings.task) == current) ||
	       (raw_cpu_read(mctracer_rings.skipped) != current &&
		hook_slow_path(at, mctracer_emit_task, 0, ips));
}

/*
 * Reserve two words, and read a time that lies between the times before and after them in the ring.
 * If an interrupt has written words before the reserved ones, read the time again. If an interrupt
 * has also written words after them, the new time may be too late: use 0, which means no time. This
 * is faster than reserving only if there was no interrupt.
 */
static __always_inline u64 hook_reserve_with_time(u32 *low, u32 *high)
{
	u64 before, head;

	before = mctracer_ring_head(&mctracer_rings);
	hook_read_clock(low, high);
	head = mctracer_ring_reserve(&mctracer_rings, MCTRACER_STEP(2, 1));
	if (unlikely(head != before)) {
		hook_read_clock(low, high);
		barrier();	/* the time before head */
		before = head + 2 * MCTRACER_WORD_SIZE;
		if (mctracer_ring_head_low(&mctracer_rings) != (u32)before)
			*high = *low = 0;
	}
	return head;
}

/* With static call sites: return the called function's enum mcount_site. */
static __always_inline unsigned int hook_site_kind(void)
{
	unsigned long at = mctracer_map_index(mcount_direct_ip());

	if (likely(at < mctracer_map_size))
		return READ_ONCE(mctracer_map)[at];
	barrier();	/* load ip again below, instead of keeping it in a register */
	return mcount_direct_call(mctracer_ip_kind, mcount_direct_ip());
}

/* With static call sites: return true if the called function is recorded. */
static __always_inline bool hook_is_selected(void)
{
	unsigned int kind = hook_site_kind();

	if (kind == MCOUNT_NOTHING)
		return false;
	return likely(kind == MCOUNT_HOOK) ||
	       mcount_direct_call(mctracer_pre_handler_ips, (unsigned long)mcount_direct_ips());
}

static __always_inline void hook_put_event(u32 *slot, u32 lap, const enum mctracer_hook_at at,
					   const unsigned long *ips)
{
	if (at == MCTRACER_HOOK_CALL) {
		mctracer_ring_put_ip(slot, hook_ip(ips));
		mctracer_ring_commit(slot, lap, hook_parent_ip(ips));
		return;
	}
	mctracer_ring_put_ip(slot, MCTRACER_RETURN << MCTRACER_TYPE_SHIFT |
				   (at == MCTRACER_HOOK_TAIL ? MCTRACER_RETURN_TAIL : 0));
	mctracer_ring_commit(slot, lap, hook_ip(ips));
}

/*
 * Record one call or return. With @timed, its time goes before it. With @context, the context goes
 * before both if it has changed; an interrupt may write its own context after that, so check again
 * if reserving fails. With @selected, record only selected functions. @ips: ip and parent_ip in a
 * plain hook, NULL in a direct one.
 */
static __always_inline void hook_record(const enum mctracer_hook_at at, const bool timed,
					const bool context, const bool selected,
					const unsigned long *ips)
{
	const u64 step = timed ? MCTRACER_STEP(2, 1) : MCTRACER_STEP(1, 0);
	u32 *slot, lap, low, high, raw;
	u64 head;

	if (selected && !hook_is_selected())
		return;
	preempt_disable_notrace();
	if (!hook_must_record(at, ips)) {
		preempt_enable_notrace();
		return;
	}
	if (at == MCTRACER_HOOK_CALL && !timed && hook_is_called_by_entry_code(ips))
		mctracer_hook_time();

	if (context)
		raw = raw_context_read();
	if (!timed && !context) {
		head = mctracer_ring_reserve(&mctracer_rings, step);
	} else if (!context) {
		head = hook_reserve_with_time(&low, &high);
	} else {
		do {
			head = mctracer_ring_head(&mctracer_rings);
			while (unlikely(raw_cpu_read(mctracer_rings.context) != raw)) {
				hook_slow_path(at, mctracer_emit_context, raw, ips);
				head = mctracer_ring_head(&mctracer_rings);
			}
			if (timed)
				hook_read_clock(&low, &high);
		} while (!mctracer_ring_reserve_at(&mctracer_rings, head, step));
	}

	if (unlikely(!(head & (timed ? MCTRACER_TIMED_BLOCK - 2 * MCTRACER_WORD_SIZE :
				       MCTRACER_COMPACT_BLOCK - MCTRACER_WORD_SIZE))))
		mcount_direct_call_void(mctracer_emit_block);
	slot = mctracer_ring_slot(&mctracer_rings, head);
	lap = mctracer_ring_lap(&mctracer_rings, head);
	if (timed) {
		mctracer_ring_put(slot, lap, high, low);
		slot += 2;
	}
	hook_put_event(slot, lap, at, ips);
	preempt_enable_notrace();
}

/* Record a return or tail jump in the slow path, which works with any clock. */
static __always_inline void hook_record_return_slow(const enum mctracer_hook_at at)
{
	preempt_disable_notrace();
	hook_slow_path(at, at == MCTRACER_HOOK_TAIL ? mctracer_emit_tail : mctracer_emit_return,
		       mcount_direct_ip(), NULL);
	preempt_enable_notrace();
}

#endif /* _KERNEL_TRACE_MCTRACER_HOOK_H */
