// SPDX-License-Identifier: GPL-2.0
/*
 * Which objects are followed. Each has a number of its own, from where it begins to be followed
 * until it is let go: so what comes to lie at the same address later is another one.
 *
 * The hook has looked at each argument already, in mcount's filter; here it is found out whether
 * it is one of those, and which. States of a place: free, claimed, or an address. Who has made it
 * claimed, from one of the others, owns it until it says otherwise; nobody waits for that, so an
 * interrupt, or an NMI, that finds it claimed goes on as if it were free, or full.
 *
 * O1: what a place says of its object is written before the address, and read behind it. O2: the
 * place is claimed before that is written, and who has read it looks at the address again: the
 * same one, or nothing is known. That may be another object at the same address; then both were
 * there while it was asked for.
 *
 * Two CPUs that begin with the same address at once may give it two places. It is the one in the
 * first of them then; both are let go at once.
 */
#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/hash.h>
#include <linux/lockdep.h>
#include <linux/mcount.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include <asm/barrier.h>

#include "follow.h"
#include "mctracer.h"

#define OBJECTS_MAX	1024
#define BUCKETS_BITS	10
#define WAYS		8	/* of OBJECTS_MAX, one in a million has no room */

#define FREE		0UL
#define CLAIMED		1UL	/* no object is there */

struct place {
	unsigned long address;
	struct mctracer_object object;
	unsigned int since;	/* what mcount_away was: of what came later not all was seen */
};

static struct place (*buckets)[WAYS];	/* NULL: nobody has asked yet */
static atomic_t nr_objects, last_number;
static atomic_t nr_reused;		/* allocated again before an end was seen */
static unsigned int swept;		/* what mcount_away was then */

int mctracer_follow_alloc(void)
{
	lockdep_assert_held(&mctracer_lists_mutex);
	if (!buckets)
		WRITE_ONCE(buckets, kvcalloc(1 << BUCKETS_BITS, sizeof(*buckets), GFP_KERNEL));
	return buckets ? 0 : -ENOMEM;
}

static __always_inline struct place *bucket_of(unsigned long address)
{
	return buckets[hash_long(address, BUCKETS_BITS)];
}

static __always_inline bool claim(struct place *place, unsigned long from)
{
	return try_cmpxchg(&place->address, &from, CLAIMED);	/* O2 */
}

struct mctracer_object mctracer_object_at(unsigned long address)
{
	struct place *places = bucket_of(address);
	struct mctracer_object object = {};
	unsigned int since;
	int i;

	for (i = 0; i < WAYS && address > CLAIMED; i++) {
		if (smp_load_acquire(&places[i].address) != address)	/* O1 */
			continue;
		object.number = READ_ONCE(places[i].object.number);
		object.calls = READ_ONCE(places[i].object.calls);
		since = READ_ONCE(places[i].since);
		smp_rmb();						/* O2 */
		if (READ_ONCE(places[i].address) == address && since == READ_ONCE(mcount_away))
			return object;
		object.number = 0;
	}
	return object;
}

/* Numbers and errors are not followed. */
bool mctracer_may_follow(unsigned long address)
{
	return address >= PAGE_SIZE && !IS_ERR_VALUE(address);
}

/* @place is claimed. */
static void put(struct place *place, unsigned long address, struct mctracer_object object)
{
	WRITE_ONCE(place->object.number, object.number);
	WRITE_ONCE(place->object.calls, object.calls);
	WRITE_ONCE(place->since, READ_ONCE(mcount_away));
	smp_store_release(&place->address, address);	/* O1 */
}

/* @place is claimed. */
static void free_place(struct place *place, unsigned long address)
{
	mcount_filter_remove(address);
	smp_store_release(&place->address, FREE);	/* behind what is done with it */
	atomic_dec(&nr_objects);
}

/* Make room of what came before the hook was away. Once for each time that it was. */
static void sweep(void)
{
	const unsigned int away = READ_ONCE(mcount_away);
	unsigned long address;
	struct place *place;
	int i, way;

	for (i = 0; i < 1 << BUCKETS_BITS; i++) {
		for (way = 0; way < WAYS; way++) {
			place = &buckets[i][way];
			address = smp_load_acquire(&place->address);	/* O1 */
			/* Not a living one: an unfollow that fails is not tried again. */
			if (address <= CLAIMED || READ_ONCE(place->since) == away)
				continue;
			/*
			 * It may have been let go and followed anew in between: then it is not
			 * followed any more, rather than for ever.
			 */
			if (claim(place, address))
				free_place(place, address);
		}
	}
}

struct mctracer_object mctracer_follow(unsigned long address, bool calls)
{
	struct mctracer_object object = mctracer_object_at(address);
	struct place *places = bucket_of(address);
	int i;

	if (object.number)
		return object;
	if (READ_ONCE(swept) != READ_ONCE(mcount_away)) {
		WRITE_ONCE(swept, READ_ONCE(mcount_away));
		sweep();
	}
	if (atomic_inc_return(&nr_objects) > OBJECTS_MAX)
		goto full;
	for (i = 0; i < WAYS; i++) {
		if (READ_ONCE(places[i].address) != FREE || !claim(&places[i], FREE))
			continue;
		do {
			object.number = atomic_inc_return(&last_number);
		} while (!object.number);
		object.calls = calls;
		/* First: who is let through and finds nothing has lost nothing. */
		mcount_filter_add(address);
		put(&places[i], address, object);
		return object;
	}
full:
	atomic_dec(&nr_objects);
	return object;
}

bool mctracer_unfollow(unsigned long address)
{
	struct place *places = bucket_of(address);
	bool was = false;
	int i;

	for (i = 0; i < WAYS && address > CLAIMED; i++) {
		if (READ_ONCE(places[i].address) != address || !claim(&places[i], address))
			continue;
		free_place(&places[i], address);
		was = true;
	}
	return was;
}

/* Of an address that an allocator returns: what was there has ended, though nobody has said so. */
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

	/* There is to be room for one that begins. */
	for (i = 0; i < args->nr && args->nr_objects < MCTRACER_OBJECTS - 1; i++) {
		object = mctracer_object_at(args->values[i]);
		if (!object.number)
			continue;
		mctracer_concerns(args, object.number, i + 1, 0);
		if (object.calls)
			args->calls_of = object.number;
	}
}

void mctracer_follow_forget(void)
{
	unsigned int i, way;

	for (i = 0; buckets && i < 1 << BUCKETS_BITS; i++)
		for (way = 0; way < WAYS; way++)
			mctracer_unfollow(READ_ONCE(buckets[i][way].address));
	atomic_set(&nr_reused, 0);
	mctracer_below_forget();
}
