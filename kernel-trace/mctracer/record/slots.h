/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Slots of lockless tables, which traced calls search and change in any context, also in NMIs. A
 * table is an array of buckets of SLOTS_WAYS entries; the hash of a key selects the bucket. Each
 * entry has a slot, which is in one of these states:
 *
 *	free		The entry is empty.
 *	claimed		The entry has an owner: the context that claimed it. Only it writes fields.
 *	a key		The entry is published: its fields are complete.
 *
 * If several contexts claim the same slot, one succeeds. Nobody waits for an owner, because the
 * owner may be the interrupted context: a claimed slot is neither found by its key nor claimed
 * again. So a search may miss an entry that is changing, and a full bucket may have no free slot.
 *
 * When are loaded fields valid?
 * -----------------------------
 *  (V1) After slot_has(), no field is older than the entry of the key.
 *  (V2) If slot_still_has() or slot_claim() then succeeds for the key, no field is newer: a later
 *	 owner would have changed the state before the field. Exception: the later owner published
 *	 the same key. Each table describes why it allows for that.
 *  (V3) Owners load and store fields one after the other, never at the same time.
 *
 *	owner				others				what it guarantees
 *	S1 fields before the state	L1 the key before fields	V1
 *	S2 claim before fields		L2 fields before the key again	V2
 *	S1 fields before the state	S2 claim before fields		V3
 *
 * A successful slot_claim() is a full barrier and implies L2. On x86, only S2 is an instruction.
 */
#ifndef _KERNEL_TRACE_MCTRACER_SLOTS_H
#define _KERNEL_TRACE_MCTRACER_SLOTS_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/lockdep.h>
#include <linux/mcount.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/types.h>

#include <asm/barrier.h>

#include "selected.h"

#define SLOTS_WAYS	8

#define SLOT_FREE	0UL
#define SLOT_CLAIMED	1UL	/* all keys are greater */

struct mctracer_slot {
	unsigned long state;	/* SLOT_FREE, SLOT_CLAIMED, or a key */
};

/* Return @buckets, or 2^@bits new ones of @size bytes. May sleep. Under mctracer_lists_mutex. */
static inline void *slots_alloc(void *buckets, unsigned int bits, size_t size)
{
	lockdep_assert_held(&mctracer_lists_mutex);
	return buckets ?: kvcalloc(1 << bits, size, GFP_KERNEL);
}

/* Return a number that changes when @forgotten or mcount_away is incremented: they only grow. */
static __always_inline unsigned int slots_since(const atomic_t *forgotten)
{
	return atomic_read(forgotten) + READ_ONCE(mcount_away);
}

/* Return the key of @slot; 0: it has none. */
static __always_inline unsigned long slot_key(const struct mctracer_slot *slot)
{
	const unsigned long state = smp_load_acquire(&slot->state);	/* L1 */

	return state > SLOT_CLAIMED ? state : 0;
}

static __always_inline bool slot_has(const struct mctracer_slot *slot, unsigned long key)
{
	return smp_load_acquire(&slot->state) == key;			/* L1 */
}

/* Return true if @slot has @key after the caller has loaded fields. */
static __always_inline bool slot_still_has(const struct mctracer_slot *slot, unsigned long key)
{
	smp_rmb();							/* L2 */
	return READ_ONCE(slot->state) == key;
}

/* Claim @slot if it is in @state: free or a key. Return true if the caller is the owner now. */
static __always_inline bool slot_claim(struct mctracer_slot *slot, unsigned long state)
{
	return try_cmpxchg(&slot->state, &state, SLOT_CLAIMED);		/* S2 */
}

static __always_inline bool slot_claim_free(struct mctracer_slot *slot)
{
	return READ_ONCE(slot->state) == SLOT_FREE && slot_claim(slot, SLOT_FREE);
}

/* End the ownership of @slot: a key as @state publishes the entry, SLOT_FREE removes it. */
static __always_inline void slot_release(struct mctracer_slot *slot, unsigned long state)
{
	smp_store_release(&slot->state, state);				/* S1 */
}

/*
 * Claim @slot if it has a key and @is_over() returns true. Return the key; 0: not claimed. Look
 * again after the claim: meanwhile the slot may have got another entry with the same key.
 */
static __always_inline unsigned long
slot_claim_if(struct mctracer_slot *slot,
	      bool (*is_over)(const struct mctracer_slot *slot, unsigned long key))
{
	const unsigned long key = slot_key(slot);

	if (!key || !is_over(slot, key) || !slot_claim(slot, key))
		return 0;
	if (is_over(slot, key))
		return key;
	slot_release(slot, key);
	return 0;
}

#endif /* _KERNEL_TRACE_MCTRACER_SLOTS_H */
