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
 * Only code on a stack changes the stack's entry, or a caller that needs the entry of a call that
 * has returned unseen for another stack, or mctracer_nested_forget(). Entries have the states that
 * follow.c describes. So the loaded fields may belong to another stack: they are used only if where
 * lies in the current stack.
 */
#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/hash.h>
#include <linux/lockdep.h>
#include <linux/mcount.h>
#include <linux/mm.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/thread_info.h>

#include <asm/barrier.h>

#include "follow.h"
#include "record.h"
#include "returned.h"
#include "selected.h"

#define BUCKETS_BITS	7
#define WAYS		8

#define FREE		0UL
#define CLAIMED		1UL	/* no stack is there */

struct stack {
	unsigned long base;		/* lowest address; or FREE, CLAIMED */
	const unsigned long *where;	/* where the first call's return address is, */
	unsigned long parent_ip;	/* which stays there until the call has returned */
	u32 number;			/* the object's */
	unsigned int since;		/* mcount_away at the call: else its return may be missed */
	u8 context;			/* interrupt_context_level() at the call */
};

static struct stack (*buckets)[WAYS];	/* NULL until a trigger needs it */

int mctracer_nested_alloc(void)
{
	lockdep_assert_held(&mctracer_lists_mutex);
	if (!buckets)
		WRITE_ONCE(buckets, kvcalloc(1 << BUCKETS_BITS, sizeof(*buckets), GFP_KERNEL));
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

static __always_inline bool nested_claim(struct stack *stack, unsigned long from)
{
	return try_cmpxchg(&stack->base, &from, CLAIMED);
}

/* Publish @stack, which the caller has claimed, as the entry of @base. */
static void nested_publish(struct stack *stack, unsigned long base)
{
	nested_filter_add(base);
	smp_store_release(&stack->base, base);		/* B1: fields before base */
}

/* Free @stack if it is the entry of @base and nobody has claimed it. */
static void nested_drop(struct stack *stack, unsigned long base)
{
	if (!nested_claim(stack, base))
		return;
	nested_filter_remove(base);
	smp_store_release(&stack->base, FREE);		/* after nested_filter_remove() */
}

static struct stack *nested_stack_at(unsigned long base)
{
	struct stack *stacks = buckets[hash_long(base / PAGE_SIZE, BUCKETS_BITS)];
	int i;

	for (i = 0; i < WAYS; i++)
		if (smp_load_acquire(&stacks[i].base) == base)	/* B1: base before fields */
			return &stacks[i];
	return NULL;
}

/* Return true if the first call of @stack has returned unseen. */
static bool nested_is_over(const struct stack *stack)
{
	return READ_ONCE(stack->since) != READ_ONCE(mcount_away) ||
	       mctracer_has_returned(READ_ONCE(stack->where), READ_ONCE(stack->parent_ip));
}

/*
 * Claim @stack if its first call has returned unseen. Return true if the caller has claimed it.
 * Look again after the claim: meanwhile the stack may have another first call.
 */
static bool nested_claim_returned(struct stack *stack)
{
	const unsigned long its = smp_load_acquire(&stack->base);	/* B1: base before fields */

	if (its <= CLAIMED || !nested_is_over(stack) || !nested_claim(stack, its))
		return false;
	if (!nested_is_over(stack)) {
		smp_store_release(&stack->base, its);	/* B1: fields before base */
		return false;
	}
	nested_filter_remove(its);
	return true;
}

/* Claim a free entry, or else one whose first call has returned unseen. NULL: there is none. */
static struct stack *nested_claim_any(unsigned long base)
{
	struct stack *stacks = buckets[hash_long(base / PAGE_SIZE, BUCKETS_BITS)];
	int i;

	for (i = 0; i < WAYS; i++)
		if (READ_ONCE(stacks[i].base) == FREE && nested_claim(&stacks[i], FREE))
			return &stacks[i];
	for (i = 0; i < WAYS; i++)
		if (nested_claim_returned(&stacks[i]))
			return &stacks[i];
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
	nested_publish(stack, nested_stack_base(where));
	return true;
}

void mctracer_nested_forget(void)
{
	unsigned long base;
	int i, way;

	for (i = 0; buckets && i < 1 << BUCKETS_BITS; i++) {
		for (way = 0; way < WAYS; way++) {
			base = READ_ONCE(buckets[i][way].base);
			if (base > CLAIMED)
				nested_drop(&buckets[i][way], base);
		}
	}
}
