// SPDX-License-Identifier: GPL-2.0
/*
 * Keep the table of followed objects, by address. Each object gets a number of its own when it
 * begins to be followed: so an object that later lies at the same address has another number.
 *
 * The hook has already looked up each argument in mcount's arg filter, which also passes values
 * that only look like an object; this table decides. See slots.h for the states of a place. If a
 * place changes during a lookup, the object is unknown, unless the place has the same address
 * again: then the lookup returns either object, and both were there during the lookup.
 *
 * Two CPUs that begin to follow the same address at once may use two places. Lookups find the
 * first, and mctracer_unfollow() frees both.
 */
#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/hash.h>
#include <linux/mcount.h>
#include <linux/mm.h>

#include "follow.h"
#include "record.h"
#include "slots.h"

#define OBJECTS_MAX	1024
#define BUCKETS_BITS	10	/* with OBJECTS_MAX objects, one in a million has no room */

struct place {
	struct mctracer_slot slot;	/* its key is the object's address */
	struct mctracer_object object;
	unsigned int since;	/* mcount_away then: if it differs, the end may be missed */
};

static struct place (*buckets)[SLOTS_WAYS];	/* NULL until a trigger needs it */
static atomic_t nr_objects, last_number;
static atomic_t nr_reused;		/* objects allocated again before an end was seen */
static unsigned int swept;		/* mcount_away at the last follow_sweep() */

int mctracer_follow_alloc(void)
{
	WRITE_ONCE(buckets, slots_alloc(buckets, BUCKETS_BITS, sizeof(*buckets)));
	return buckets ? 0 : -ENOMEM;
}

static __always_inline struct place *follow_bucket(unsigned long address)
{
	return buckets[hash_long(address, BUCKETS_BITS)];
}

struct mctracer_object mctracer_object_at(unsigned long address)
{
	struct place *places = follow_bucket(address);
	struct mctracer_object object = {};
	unsigned int since;
	int i;

	for (i = 0; i < SLOTS_WAYS && address > SLOT_CLAIMED; i++) {
		if (!slot_has(&places[i].slot, address))
			continue;
		/* First: the next object at this address may replace an expired one. */
		since = READ_ONCE(places[i].since);
		object.number = READ_ONCE(places[i].object.number);
		object.calls = READ_ONCE(places[i].object.calls);
		if (slot_still_has(&places[i].slot, address) && since == READ_ONCE(mcount_away))
			return object;
		object.number = 0;
	}
	return object;
}

/* Small numbers and error pointers are not followed. */
bool mctracer_may_follow(unsigned long address)
{
	return address >= PAGE_SIZE && !IS_ERR_VALUE(address);
}

/* Publish @object at @address in @place, which the caller has claimed. */
static void follow_publish(struct place *place, unsigned long address,
			   struct mctracer_object object)
{
	WRITE_ONCE(place->object.number, object.number);
	WRITE_ONCE(place->object.calls, object.calls);
	WRITE_ONCE(place->since, READ_ONCE(mcount_away));
	slot_release(&place->slot, address);
}

/* Free @place, which the caller has claimed, and which had @address. */
static void follow_free_place(struct place *place, unsigned long address)
{
	mcount_filter_remove(address);
	slot_release(&place->slot, SLOT_FREE);	/* after mcount_filter_remove() */
	atomic_dec(&nr_objects);
}

/* Free places from before the hook was away (mcount_away). Called once each time it was. */
static void follow_sweep(void)
{
	const unsigned int away = READ_ONCE(mcount_away);
	unsigned long address;
	struct place *place;
	int i;

	for (i = 0; i < SLOTS_WAYS << BUCKETS_BITS; i++) {
		place = &buckets[i / SLOTS_WAYS][i % SLOTS_WAYS];
		address = slot_key(&place->slot);
		/* Don't claim a valid place: an unfollow meanwhile would fail for good. */
		if (!address || READ_ONCE(place->since) == away)
			continue;
		/*
		 * If the address was unfollowed and followed again in between, its object ends too
		 * early, rather than never.
		 */
		if (slot_claim(&place->slot, address))
			follow_free_place(place, address);
	}
}

struct mctracer_object mctracer_follow(unsigned long address, bool calls)
{
	struct mctracer_object object = mctracer_object_at(address);
	struct place *places = follow_bucket(address);
	int i;

	if (object.number)
		return object;
	if (READ_ONCE(swept) != READ_ONCE(mcount_away)) {
		WRITE_ONCE(swept, READ_ONCE(mcount_away));
		follow_sweep();
	}
	if (atomic_inc_return(&nr_objects) > OBJECTS_MAX)
		goto full;
	for (i = 0; i < SLOTS_WAYS; i++) {
		if (!slot_claim_free(&places[i].slot))
			continue;
		do {
			object.number = atomic_inc_return(&last_number);
		} while (!object.number);
		object.calls = calls;
		/* First: a call that passes the filter and finds no object loses nothing. */
		mcount_filter_add(address);
		follow_publish(&places[i], address, object);
		return object;
	}
full:
	atomic_dec(&nr_objects);
	return object;
}

bool mctracer_unfollow(unsigned long address)
{
	struct place *places = follow_bucket(address);
	bool was = false;
	int i;

	for (i = 0; i < SLOTS_WAYS && address > SLOT_CLAIMED; i++) {
		if (!slot_has(&places[i].slot, address) || !slot_claim(&places[i].slot, address))
			continue;
		follow_free_place(&places[i], address);
		was = true;
	}
	return was;
}

/* An allocator returns @address: an object there has ended, although no trigger saw the end. */
void mctracer_end_unseen(unsigned long address)
{
	const bool known = mctracer_object_at(address).number;

	if (mctracer_unfollow(address) && known)
		atomic_inc(&nr_reused);
}

unsigned int mctracer_follow_reused(void)
{
	return atomic_read(&nr_reused);
}

unsigned int mctracer_follow_now(void)
{
	return atomic_read(&nr_objects);
}

void mctracer_followed(struct mctracer_args *args)
{
	struct mctracer_object object;
	unsigned int i;

	/* Leave room for an object that this call begins to follow. */
	for (i = 0; i < args->nr && args->nr_objects < MCTRACER_OBJECTS - 1; i++) {
		object = mctracer_object_at(args->values[i]);
		if (!object.number)
			continue;
		mctracer_args_add_object(args, object.number, i + 1, 0);
		if (object.calls)
			args->calls_of = object.number;
	}
}

void mctracer_follow_forget(void)
{
	unsigned int i, way;

	for (i = 0; buckets && i < 1 << BUCKETS_BITS; i++)
		for (way = 0; way < SLOTS_WAYS; way++)
			mctracer_unfollow(slot_key(&buckets[i][way].slot));
	atomic_set(&nr_reused, 0);
	mctracer_nested_forget();
}
