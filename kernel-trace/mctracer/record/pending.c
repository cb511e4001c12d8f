// SPDX-License-Identifier: GPL-2.0
/*
 * Remember pending returns: calls in progress whose return value must be followed, because an
 * argument is a followed object ("follow N -> ret").
 *
 * The address of a call's return address on the stack identifies the call: no other call has that
 * address until this one returns, whatever task or interrupt runs (see timed.c). A caller claims an
 * entry by cmpxchg(), and only the claim's owner writes the entry. An entry whose return the tracer
 * misses stays until a call at the same address, for the same argument, replaces it, or until
 * another call needs the room and finds that the call has returned.
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

#include "pending.h"
#include "returned.h"
#include "selected.h"
#include "triggers.h"

#define BUCKETS_BITS	7
#define WAYS		8

#define FREE		0UL
#define CLAIMED		1UL	/* return addresses are aligned */

/*
 * Only code on the stack that @where points into makes an entry with that @where. So @function and
 * @from do not change while @where stays the same.
 */
struct pending_call {
	unsigned long where;	/* address of the return address; or FREE, CLAIMED */
	unsigned long function;	/* mctracer_call_function(); with @where and @from, the key */
	unsigned long parent_ip;
	struct mctracer_object object;
	unsigned int since;	/* pending_since() at the call */
	u8 from;		/* the argument's number */
};

static struct pending_call (*buckets)[WAYS];	/* NULL until a trigger needs it */

static atomic_t forgotten;		/* how often all entries were invalidated */

void mctracer_pending_forget(void)
{
	atomic_inc(&forgotten);
}

/* Return a number that changes when returns may have been missed. Both addends only grow. */
static __always_inline unsigned int pending_since(void)
{
	return atomic_read(&forgotten) + READ_ONCE(mcount_away);
}

int mctracer_pending_alloc(void)
{
	lockdep_assert_held(&mctracer_lists_mutex);
	if (!buckets)
		WRITE_ONCE(buckets, kvcalloc(1 << BUCKETS_BITS, sizeof(*buckets), GFP_KERNEL));
	return buckets ? 0 : -ENOMEM;
}

static __always_inline struct pending_call *pending_bucket(unsigned long where)
{
	return buckets[hash_long(where / sizeof(where), BUCKETS_BITS)];
}

static __always_inline bool pending_claim(struct pending_call *call, unsigned long where)
{
	return try_cmpxchg(&call->where, &where, CLAIMED);
}

struct mctracer_object mctracer_pending_take(const struct mctracer_trigger_context *at, u8 from)
{
	const unsigned long where = mctracer_call_where(at);
	const unsigned long function = mctracer_call_function(at);
	struct pending_call *calls = pending_bucket(where);
	struct mctracer_object object = {};
	int i;

	for (i = 0; i < WAYS; i++) {
		if (READ_ONCE(calls[i].where) != where ||
		    READ_ONCE(calls[i].function) != function ||
		    READ_ONCE(calls[i].from) != from || !pending_claim(&calls[i], where))
			continue;
		if (calls[i].since == pending_since())
			object = calls[i].object;
		smp_store_release(&calls[i].where, FREE);	/* after the loads */
		break;
	}
	return object;
}

/* Return true if the return of @call, the call at @where, was missed. */
static bool pending_is_missed(const struct pending_call *call, unsigned long where)
{
	return READ_ONCE(call->since) != pending_since() ||
	       mctracer_has_returned((const unsigned long *)where, READ_ONCE(call->parent_ip));
}

/*
 * Claim @call if its return was missed. Return true if the caller has claimed it. Look again after
 * the claim: meanwhile the entry may have become that of a later call at the same place.
 */
static bool pending_claim_returned(struct pending_call *call)
{
	const unsigned long its = smp_load_acquire(&call->where);	/* before the fields */

	if (its <= CLAIMED || !pending_is_missed(call, its) || !pending_claim(call, its))
		return false;
	if (pending_is_missed(call, its))
		return true;
	smp_store_release(&call->where, its);		/* after the loads */
	return false;
}

/* Claim a free entry, or else one whose return was missed. NULL: there is none. */
static struct pending_call *pending_claim_any(unsigned long where)
{
	struct pending_call *calls = pending_bucket(where);
	int i;

	for (i = 0; i < WAYS; i++)
		if (READ_ONCE(calls[i].where) == FREE && pending_claim(&calls[i], FREE))
			return &calls[i];
	for (i = 0; i < WAYS; i++)
		if (pending_claim_returned(&calls[i]))
			return &calls[i];
	return NULL;
}

bool mctracer_pending_add(const struct mctracer_trigger_context *at, u8 from,
			  struct mctracer_object object)
{
	const unsigned long where = mctracer_call_where(at);
	struct pending_call *call;

	mctracer_pending_take(at, from);
	if (!object.number)
		return true;
	call = pending_claim_any(where);
	if (!call)
		return false;
	call->object = object;
	WRITE_ONCE(call->function, mctracer_call_function(at));
	WRITE_ONCE(call->parent_ip, at->parent_ip);
	WRITE_ONCE(call->since, pending_since());
	WRITE_ONCE(call->from, from);
	smp_store_release(&call->where, where);		/* after the fields */
	return true;
}
