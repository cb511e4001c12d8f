// SPDX-License-Identifier: GPL-2.0
/*
 * When did a call begin? Remembered by the place on the stack that its return address has,
 * which no other call has until it returns: whatever task or interrupt it belongs to.
 *
 * Calls that never return are left behind, until another one has the same place, or the room
 * is needed: then the oldest of a bucket goes, and if it was not one of those it is not timed.
 * So are calls whose return is not seen, since nobody is called then or their trigger has
 * gone; these are told by when that was.
 *
 * A place is written by whoever has claimed it: nobody else does anything with it meanwhile.
 * It is claimed by cmpxchg, so an interrupt finds it free, claimed, or whole. T1: began is
 * written before where says whose it is, and read behind that.
 */
#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/hash.h>
#include <linux/lockdep.h>
#include <linux/mcount.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/sched/clock.h>
#include <linux/slab.h>

#include <asm/barrier.h>

#include "mctracer.h"
#include "triggers.h"

#define BUCKETS_BITS	10
#define WAYS		8

#define FREE		0UL
#define CLAIMED		1UL	/* return addresses are aligned */

struct timed_call {
	unsigned long where;
	u64 began;
	unsigned int since;	/* what since() was */
};

static struct timed_call (*buckets)[WAYS];	/* NULL: nobody has asked yet */
static DEFINE_PER_CPU(unsigned long, missed);
static unsigned long missed_before;	/* of these, those nobody is told of any more */
static unsigned int forgotten;

int mctracer_timed_alloc(void)
{
	lockdep_assert_held(&mctracer_lists_mutex);
	if (!buckets)
		WRITE_ONCE(buckets, kvcalloc(1 << BUCKETS_BITS, sizeof(*buckets), GFP_KERNEL));
	return buckets ? 0 : -ENOMEM;
}

void mctracer_timed_forget(void)
{
	WRITE_ONCE(forgotten, forgotten + 1);
}

/* Another number when returns may not have been seen. Both parts only grow. */
static __always_inline unsigned int since(void)
{
	return READ_ONCE(forgotten) + READ_ONCE(mcount_away);
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

static __always_inline struct timed_call *bucket_of(unsigned long where)
{
	return buckets[hash_long(where / sizeof(where), BUCKETS_BITS)];
}

static __always_inline bool claim(struct timed_call *call, unsigned long where)
{
	return try_cmpxchg(&call->where, &where, CLAIMED);
}

/* One that is claimed, or NULL: that of @where, a free one, or the oldest. */
static struct timed_call *claim_one(unsigned long where)
{
	struct timed_call *calls = bucket_of(where), *oldest = NULL;
	unsigned long its = FREE, seen;
	int i;

	for (i = 0; i < WAYS; i++)
		if (READ_ONCE(calls[i].where) == where && claim(&calls[i], where))
			return &calls[i];
	for (i = 0; i < WAYS; i++)
		if (READ_ONCE(calls[i].where) == FREE && claim(&calls[i], FREE))
			return &calls[i];
	for (i = 0; i < WAYS; i++) {
		seen = READ_ONCE(calls[i].where);
		if (seen > CLAIMED &&
		    (!oldest || READ_ONCE(calls[i].began) < READ_ONCE(oldest->began))) {
			oldest = &calls[i];
			its = seen;
		}
	}
	this_cpu_inc(missed);
	return oldest && claim(oldest, its) ? oldest : NULL;
}

void mctracer_timed_begin(const unsigned long *where)
{
	struct timed_call *call = claim_one((unsigned long)where);

	if (!call)
		return;
	call->since = since();
	WRITE_ONCE(call->began, local_clock_noinstr());
	smp_store_release(&call->where, (unsigned long)where);	/* T1 */
}

bool mctracer_timed_end(const unsigned long *where, u64 *took)
{
	struct timed_call *calls;
	unsigned int its;
	u64 began;
	int i;

	if (!READ_ONCE(buckets))
		return false;
	calls = bucket_of((unsigned long)where);
	for (i = 0; i < WAYS; i++) {
		if (smp_load_acquire(&calls[i].where) != (unsigned long)where)	/* T1 */
			continue;
		began = READ_ONCE(calls[i].began);
		its = READ_ONCE(calls[i].since);
		if (!claim(&calls[i], (unsigned long)where))
			return false;
		WRITE_ONCE(calls[i].where, FREE);
		/* Clocks of two CPUs may differ a little. */
		*took = max_t(s64, local_clock_noinstr() - began, 0);
		return its == since();
	}
	return false;
}
