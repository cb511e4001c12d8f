// SPDX-License-Identifier: GPL-2.0
/*
 * Remember when calls began, for the trigger condition "slow TIME". The address of a call's return
 * address on the stack identifies the call: no other call has that address until this one returns,
 * whatever task or interrupt runs. Calls of functions that jumped to each other have it in common
 * where rethook catches returns; mctracer_call_function() tells those apart.
 *
 * The entry of a call that never returns stays until another call has the same address, or until a
 * full bucket evicts its oldest entry; if the evicted call was still running, it is not timed. The
 * tracer misses a return if no hook is called at that moment, or if the trigger was removed: the
 * number that slots_since(&forgotten) returns has changed then, so the stale entry is not used.
 *
 * See slots.h for the states of an entry. Only code on the stack that a key points into publishes
 * the key, so function does not change while the key stays the same.
 */
#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/hash.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/sched/clock.h>

#include "selected.h"
#include "slots.h"
#include "triggers.h"

#define BUCKETS_BITS	10

struct timed_call {
	struct mctracer_slot slot;	/* its key is the address of the return address */
	unsigned long function;	/* mctracer_call_function(); with the key, it identifies the call */
	u64 began;		/* local_clock() at the call */
	unsigned int since;	/* slots_since(&forgotten) at the call */
};

static struct timed_call (*buckets)[SLOTS_WAYS];	/* NULL until a trigger needs it */
static DEFINE_PER_CPU(unsigned long, missed);	/* evicted or untimed calls */
static unsigned long missed_before;	/* sum of missed when the count was last reset */
static atomic_t forgotten;		/* how often all entries were invalidated */

int mctracer_timed_alloc(void)
{
	WRITE_ONCE(buckets, slots_alloc(buckets, BUCKETS_BITS, sizeof(*buckets)));
	return buckets ? 0 : -ENOMEM;
}

void mctracer_timed_forget(void)
{
	atomic_inc(&forgotten);
}

unsigned long mctracer_timed_missed(void)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu(missed, cpu));
	return sum - missed_before;
}

void mctracer_timed_count_anew(void)
{
	lockdep_assert_held(&mctracer_sets_mutex);
	missed_before += mctracer_timed_missed();
}

static __always_inline struct timed_call *timed_bucket(unsigned long where)
{
	return buckets[hash_long(where / sizeof(where), BUCKETS_BITS)];
}

static __always_inline bool timed_is_of(const struct timed_call *call, unsigned long where,
					unsigned long function)
{
	return slot_has(&call->slot, where) && READ_ONCE(call->function) == function;
}

/* Claim an entry: the call's own, else a free one, else the oldest. NULL: others hold it. */
static struct timed_call *timed_claim_any(unsigned long where, unsigned long function)
{
	struct timed_call *calls = timed_bucket(where), *oldest = NULL;
	unsigned long its = 0, seen;
	int i;

	for (i = 0; i < SLOTS_WAYS; i++)
		if (timed_is_of(&calls[i], where, function) && slot_claim(&calls[i].slot, where))
			return &calls[i];
	for (i = 0; i < SLOTS_WAYS; i++)
		if (slot_claim_free(&calls[i].slot))
			return &calls[i];
	for (i = 0; i < SLOTS_WAYS; i++) {
		seen = slot_key(&calls[i].slot);
		if (seen && (!oldest || READ_ONCE(calls[i].began) < READ_ONCE(oldest->began))) {
			oldest = &calls[i];
			its = seen;
		}
	}
	this_cpu_inc(missed);
	return oldest && slot_claim(&oldest->slot, its) ? oldest : NULL;
}

void mctracer_timed_begin(const struct mctracer_trigger_context *at)
{
	const unsigned long where = mctracer_call_where(at);
	const unsigned long function = mctracer_call_function(at);
	struct timed_call *call = timed_claim_any(where, function);

	if (!call)
		return;
	WRITE_ONCE(call->function, function);
	call->since = slots_since(&forgotten);
	WRITE_ONCE(call->began, local_clock_noinstr());
	slot_release(&call->slot, where);
}

bool mctracer_timed_end(const struct mctracer_trigger_context *at, u64 *took)
{
	const unsigned long where = mctracer_call_where(at);
	struct timed_call *calls;
	unsigned int its;
	u64 began;
	int i;

	if (!READ_ONCE(buckets))
		return false;
	calls = timed_bucket(where);
	for (i = 0; i < SLOTS_WAYS; i++) {
		if (!timed_is_of(&calls[i], where, mctracer_call_function(at)))
			continue;
		began = READ_ONCE(calls[i].began);
		its = READ_ONCE(calls[i].since);
		if (!slot_claim(&calls[i].slot, where))
			return false;
		slot_release(&calls[i].slot, SLOT_FREE);
		/* The clocks of two CPUs may differ slightly. */
		*took = max_t(s64, local_clock_noinstr() - began, 0);
		return its == slots_since(&forgotten);
	}
	return false;
}
