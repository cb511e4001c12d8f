// SPDX-License-Identifier: GPL-2.0
/*
 * Remember pending returns: calls in progress whose return value must be followed, because an
 * argument is a followed object ("follow N -> ret").
 *
 * The address of a call's return address on the stack identifies the call: no other call has that
 * address until this one returns, whatever task or interrupt runs (see timed.c). An entry whose
 * return the tracer misses stays until a call at the same address, for the same argument, replaces
 * it, or until another call needs the room and finds that the call has returned.
 *
 * See slots.h for the states of an entry. Only code on the stack that a key points into publishes
 * the key, so function and from do not change while the key stays the same.
 */
#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/container_of.h>
#include <linux/errno.h>
#include <linux/hash.h>

#include "pending.h"
#include "returned.h"
#include "slots.h"
#include "triggers.h"

#define BUCKETS_BITS	7

struct pending_call {
	struct mctracer_slot slot;	/* its key is the address of the return address */
	unsigned long function;	/* mctracer_call_function(); the call's key, with from and slot */
	unsigned long parent_ip;
	struct mctracer_object object;
	unsigned int since;	/* slots_since(&forgotten) at the call */
	u8 from;		/* the argument's number */
};

static struct pending_call (*buckets)[SLOTS_WAYS];	/* NULL until a trigger needs it */
static atomic_t forgotten;		/* how often all entries were invalidated */

void mctracer_pending_forget(void)
{
	atomic_inc(&forgotten);
}

int mctracer_pending_alloc(void)
{
	WRITE_ONCE(buckets, slots_alloc(buckets, BUCKETS_BITS, sizeof(*buckets)));
	return buckets ? 0 : -ENOMEM;
}

static __always_inline struct pending_call *pending_bucket(unsigned long where)
{
	return buckets[hash_long(where / sizeof(where), BUCKETS_BITS)];
}

struct mctracer_object mctracer_pending_take(const struct mctracer_trigger_context *at, u8 from)
{
	const unsigned long where = mctracer_call_where(at);
	const unsigned long function = mctracer_call_function(at);
	struct pending_call *calls = pending_bucket(where);
	struct mctracer_object object = {};
	int i;

	for (i = 0; i < SLOTS_WAYS; i++) {
		if (!slot_has(&calls[i].slot, where) || READ_ONCE(calls[i].function) != function ||
		    READ_ONCE(calls[i].from) != from || !slot_claim(&calls[i].slot, where))
			continue;
		if (calls[i].since == slots_since(&forgotten))
			object = calls[i].object;
		slot_release(&calls[i].slot, SLOT_FREE);
		break;
	}
	return object;
}

/* Return true if the return of the call with @slot, the call at @where, was missed. */
static bool pending_is_missed(const struct mctracer_slot *slot, unsigned long where)
{
	const struct pending_call *call = container_of(slot, struct pending_call, slot);

	return READ_ONCE(call->since) != slots_since(&forgotten) ||
	       mctracer_has_returned((const unsigned long *)where, READ_ONCE(call->parent_ip));
}

/* Claim a free entry, or else one whose return was missed. NULL: there is none. */
static struct pending_call *pending_claim_any(unsigned long where)
{
	struct pending_call *calls = pending_bucket(where);
	int i;

	for (i = 0; i < SLOTS_WAYS; i++)
		if (slot_claim_free(&calls[i].slot))
			return &calls[i];
	for (i = 0; i < SLOTS_WAYS; i++)
		if (slot_claim_if(&calls[i].slot, pending_is_missed))
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
	WRITE_ONCE(call->since, slots_since(&forgotten));
	WRITE_ONCE(call->from, from);
	slot_release(&call->slot, where);
	return true;
}
