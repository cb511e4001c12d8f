// SPDX-License-Identifier: GPL-2.0
/*
 * Calls that return what is to be followed, as long as they last: by the place on the stack that
 * their return address has, as in timed.c, and what is said there of places holds here. What is
 * left behind, by calls whose return is not seen, goes when such a function is called from the
 * same place again, or when another one needs the room.
 */
#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/hash.h>
#include <linux/lockdep.h>
#include <linux/mcount.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include <asm/barrier.h>

#include "awaited.h"
#include "mctracer.h"

#define BUCKETS_BITS	7
#define WAYS		8

#define FREE		0UL
#define CLAIMED		1UL	/* return addresses are aligned */

struct awaited {
	unsigned long where;
	struct mctracer_object object;
	unsigned int since;	/* what since() was */
	u8 from;		/* with where it tells which: changed by who is there alone */
};

static struct awaited (*buckets)[WAYS];	/* NULL: nobody has asked yet */

static unsigned int forgotten;

void mctracer_awaited_forget(void)
{
	WRITE_ONCE(forgotten, forgotten + 1);
}

/* Another number when returns may not have been seen. Both parts only grow. */
static __always_inline unsigned int since(void)
{
	return READ_ONCE(forgotten) + READ_ONCE(mcount_away);
}

int mctracer_awaited_alloc(void)
{
	lockdep_assert_held(&mctracer_lists_mutex);
	if (!buckets)
		WRITE_ONCE(buckets, kvcalloc(1 << BUCKETS_BITS, sizeof(*buckets), GFP_KERNEL));
	return buckets ? 0 : -ENOMEM;
}

static __always_inline struct awaited *bucket_of(unsigned long where)
{
	return buckets[hash_long(where / sizeof(where), BUCKETS_BITS)];
}

static __always_inline bool claim(struct awaited *call, unsigned long where)
{
	return try_cmpxchg(&call->where, &where, CLAIMED);
}

struct mctracer_object mctracer_awaited(const unsigned long *where, u8 from)
{
	struct awaited *calls = bucket_of((unsigned long)where);
	struct mctracer_object object = {};
	int i;

	for (i = 0; i < WAYS; i++) {
		if (READ_ONCE(calls[i].where) != (unsigned long)where ||
		    READ_ONCE(calls[i].from) != from || !claim(&calls[i], (unsigned long)where))
			continue;
		if (calls[i].since == since())
			object = calls[i].object;
		smp_store_release(&calls[i].where, FREE);	/* what it says was read */
		break;
	}
	return object;
}

/* One that is claimed, or NULL: a free one, or some other. */
static struct awaited *claim_one(unsigned long where)
{
	struct awaited *calls = bucket_of(where);
	unsigned long its;
	int i;

	for (i = 0; i < WAYS; i++)
		if (READ_ONCE(calls[i].where) == FREE && claim(&calls[i], FREE))
			return &calls[i];
	its = READ_ONCE(calls[0].where);
	return its != CLAIMED && claim(&calls[0], its) ? &calls[0] : NULL;
}

void mctracer_await(const unsigned long *where, u8 from, struct mctracer_object object)
{
	struct awaited *call;

	mctracer_awaited(where, from);
	call = object.number ? claim_one((unsigned long)where) : NULL;
	if (!call)
		return;
	call->object = object;
	call->since = since();
	WRITE_ONCE(call->from, from);
	smp_store_release(&call->where, (unsigned long)where);	/* what it says is there */
}
