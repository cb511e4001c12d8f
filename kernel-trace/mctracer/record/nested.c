// SPDX-License-Identifier: GPL-2.0
/*
 * Find the nested calls of a followed call: all that is called, directly or not, until a call that
 * has a followed object as an argument returns ("follow N +calls").
 *
 * The table has an entry for each stack with such a call; the stack's lowest address is the key.
 * The entry describes the first such call on the stack that has not returned ("the first call"). A
 * call is nested if it is made on the same stack and at the same interrupt level, its return
 * address lies lower, and the first call's return address is still in its place: after the first
 * call's return, its caller may push something else there. Otherwise the first call has returned
 * unseen, and the entry is removed; but a call at a higher interrupt level only leaves the entry
 * alone.
 *
 * mcount's arg filter holds the blocks of THREAD_SIZE that the stack lies in: one block, or two if
 * the stack is not aligned to its size, as a stack for interrupts need not be.
 *
 * See slots.h for the states of an entry. Only code on a stack changes the stack's entry, or a
 * caller that needs the entry of a call that has returned unseen for another stack, or
 * mctracer_nested_forget(). So the loaded fields may belong to another stack: they are used only if
 * where lies in the current stack.
 */
#include <linux/compiler.h>
#include <linux/container_of.h>
#include <linux/errno.h>
#include <linux/hash.h>
#include <linux/mcount.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/thread_info.h>

#include "follow.h"
#include "record.h"
#include "returned.h"
#include "slots.h"

#define BUCKETS_BITS	7

struct stack {
	struct mctracer_slot slot;	/* its key is the stack's lowest address */
	const unsigned long *where;	/* where the first call's return address is, */
	unsigned long parent_ip;	/* which stays there until the call has returned */
	u32 number;			/* the object's */
	unsigned int since;		/* mcount_away at the call: else its return may be missed */
	u8 context;			/* interrupt_context_level() at the call */
};

static struct stack (*buckets)[SLOTS_WAYS];	/* NULL until a trigger needs it */

int mctracer_nested_alloc(void)
{
	WRITE_ONCE(buckets, slots_alloc(buckets, BUCKETS_BITS, sizeof(*buckets)));
	return buckets ? 0 : -ENOMEM;
}

static __always_inline unsigned long nested_stack_base(const unsigned long *where)
{
	return mcount_stack(where);
}

static void nested_filter_add(unsigned long base)
{
	mcount_filter_add(base & -THREAD_SIZE);
	mcount_filter_add((base + THREAD_SIZE - 1) & -THREAD_SIZE);
}

static void nested_filter_remove(unsigned long base)
{
	mcount_filter_remove(base & -THREAD_SIZE);
	mcount_filter_remove((base + THREAD_SIZE - 1) & -THREAD_SIZE);
}

/* Free @stack if it is the entry of @base and nobody has claimed it. */
static void nested_drop(struct stack *stack, unsigned long base)
{
	if (!slot_claim(&stack->slot, base))
		return;
	nested_filter_remove(base);
	slot_release(&stack->slot, SLOT_FREE);	/* after nested_filter_remove() */
}

static struct stack *nested_stack_at(unsigned long base)
{
	struct stack *stacks = buckets[hash_long(base / PAGE_SIZE, BUCKETS_BITS)];
	int i;

	for (i = 0; i < SLOTS_WAYS; i++)
		if (slot_has(&stacks[i].slot, base))
			return &stacks[i];
	return NULL;
}

/* Return true if the first call of the stack with @slot has returned unseen. */
static bool nested_is_over(const struct mctracer_slot *slot, unsigned long base)
{
	const struct stack *stack = container_of(slot, struct stack, slot);

	return READ_ONCE(stack->since) != READ_ONCE(mcount_away) ||
	       mctracer_has_returned(READ_ONCE(stack->where), READ_ONCE(stack->parent_ip));
}

/* Claim a free entry, or else one whose first call has returned unseen. NULL: there is none. */
static struct stack *nested_claim_any(unsigned long base)
{
	struct stack *stacks = buckets[hash_long(base / PAGE_SIZE, BUCKETS_BITS)];
	unsigned long its;
	int i;

	for (i = 0; i < SLOTS_WAYS; i++)
		if (slot_claim_free(&stacks[i].slot))
			return &stacks[i];
	for (i = 0; i < SLOTS_WAYS; i++) {
		its = slot_claim_if(&stacks[i].slot, nested_is_over);
		if (its) {
			nested_filter_remove(its);
			return &stacks[i];
		}
	}
	return NULL;
}

u32 mctracer_nested(const unsigned long *where)
{
	const unsigned long base = nested_stack_base(where);
	const u8 context = interrupt_context_level();
	struct stack *stack = nested_stack_at(base);
	const unsigned long *first;
	u8 its;

	if (!stack)
		return 0;
	first = READ_ONCE(stack->where);
	its = READ_ONCE(stack->context);
	if (nested_stack_base(first) == base && where < first && its <= context &&
	    READ_ONCE(stack->since) == READ_ONCE(mcount_away) &&
	    mctracer_is_return_address(READ_ONCE_NOCHECK(*first), READ_ONCE(stack->parent_ip)))
		return its == context ? READ_ONCE(stack->number) : 0;
	nested_drop(stack, base);
	return 0;
}

bool mctracer_nested_begin(const unsigned long *where, const struct mctracer_args *args)
{
	struct stack *stack;

	if (mctracer_nested(where) || nested_stack_at(nested_stack_base(where)))
		return true;	/* there is a first call, perhaps of an interrupted context */
	stack = nested_claim_any(nested_stack_base(where));
	if (!stack)
		return false;
	WRITE_ONCE(stack->where, where);
	WRITE_ONCE(stack->parent_ip, *where);
	WRITE_ONCE(stack->number, args->calls_of);
	WRITE_ONCE(stack->since, READ_ONCE(mcount_away));
	WRITE_ONCE(stack->context, interrupt_context_level());
	nested_filter_add(nested_stack_base(where));
	slot_release(&stack->slot, nested_stack_base(where));
	return true;
}

void mctracer_nested_forget(void)
{
	struct stack *stack;
	unsigned long base;
	int i;

	for (i = 0; buckets && i < SLOTS_WAYS << BUCKETS_BITS; i++) {
		stack = &buckets[i / SLOTS_WAYS][i % SLOTS_WAYS];
		base = slot_key(&stack->slot);
		if (base)
			nested_drop(stack, base);
	}
}
