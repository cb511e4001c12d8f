// SPDX-License-Identifier: GPL-2.0
/*
 * What is called for an object: below a call that has it as an argument, until that returns.
 *
 * Each stack on which there is such a call is known by its lowest address; and of the calls on
 * it, the first one that has not returned. A call is below that if it is made on the same stack,
 * in the same context, its return address lies lower, and the first one's is where it was: when
 * that has returned, its caller may have pushed something else there. If one of those is not so
 * the first one has returned unseen. But an interrupt may only have come meanwhile.
 *
 * In mcount's filter are the blocks of memory that the stack lies in: one, or two where a stack is
 * not aligned to its size, as that of interrupts need not be.
 *
 * What is known of a stack is changed on that stack alone, or by who takes its place for another
 * one; states of places are those of follow.c. So what is read of a place may be another stack's,
 * and is used only if it lies in this one.
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
#include "mctracer.h"

#define BUCKETS_BITS	7
#define WAYS		8

#define FREE		0UL
#define CLAIMED		1UL	/* no stack is there */

struct stack {
	unsigned long base;
	const unsigned long *where;
	unsigned long parent_ip;	/* what is there until the call has returned */
	u32 number;
	unsigned int since;		/* what mcount_away was: or its return was not seen */
	u8 context;
};

static struct stack (*buckets)[WAYS];	/* NULL: nobody has asked yet */

int mctracer_below_alloc(void)
{
	lockdep_assert_held(&mctracer_lists_mutex);
	if (!buckets)
		WRITE_ONCE(buckets, kvcalloc(1 << BUCKETS_BITS, sizeof(*buckets), GFP_KERNEL));
	return buckets ? 0 : -ENOMEM;
}

static __always_inline unsigned long base_of(const unsigned long *where)
{
	return mcount_stack(where);
}

static void filter_add(unsigned long base)
{
	mcount_filter_add(base & -THREAD_SIZE);
	mcount_filter_add((base + THREAD_SIZE - 1) & -THREAD_SIZE);
}

static void filter_remove(unsigned long base)
{
	mcount_filter_remove(base & -THREAD_SIZE);
	mcount_filter_remove((base + THREAD_SIZE - 1) & -THREAD_SIZE);
}

static __always_inline bool claim(struct stack *stack, unsigned long from)
{
	return try_cmpxchg(&stack->base, &from, CLAIMED);
}

/* @stack is claimed. */
static void put(struct stack *stack, unsigned long base)
{
	filter_add(base);
	smp_store_release(&stack->base, base);		/* B1: what it says is there */
}

static void let_go(struct stack *stack, unsigned long base)
{
	if (!claim(stack, base))
		return;
	filter_remove(base);
	smp_store_release(&stack->base, FREE);		/* behind what is done with it */
}

static struct stack *stack_at(unsigned long base)
{
	struct stack *stacks = buckets[hash_long(base / PAGE_SIZE, BUCKETS_BITS)];
	int i;

	for (i = 0; i < WAYS; i++)
		if (smp_load_acquire(&stacks[i].base) == base)	/* B1 */
			return &stacks[i];
	return NULL;
}

/* One that is claimed, or NULL: a free one, or else what is known of another stack is lost. */
static struct stack *claim_one(unsigned long base)
{
	struct stack *stacks = buckets[hash_long(base / PAGE_SIZE, BUCKETS_BITS)];
	unsigned long its;
	int i;

	for (i = 0; i < WAYS; i++)
		if (READ_ONCE(stacks[i].base) == FREE && claim(&stacks[i], FREE))
			return &stacks[i];
	its = READ_ONCE(stacks[0].base);
	if (its <= CLAIMED || !claim(&stacks[0], its))
		return NULL;
	filter_remove(its);
	return &stacks[0];
}

u32 mctracer_below(const unsigned long *where)
{
	const unsigned long base = base_of(where);
	const u8 context = interrupt_context_level();
	struct stack *stack = stack_at(base);
	const unsigned long *first;
	u8 its;

	if (!stack)
		return 0;
	first = READ_ONCE(stack->where);
	its = READ_ONCE(stack->context);
	if (base_of(first) == base && where < first && its <= context &&
	    READ_ONCE(stack->since) == READ_ONCE(mcount_away) &&
	    READ_ONCE_NOCHECK(*first) == READ_ONCE(stack->parent_ip))
		return its == context ? READ_ONCE(stack->number) : 0;
	let_go(stack, base);
	return 0;
}

bool mctracer_below_begin(const unsigned long *where, const struct mctracer_args *args)
{
	struct stack *stack;

	if (mctracer_below(where) || stack_at(base_of(where)))
		return true;	/* there is one, perhaps of what an interrupt has come in */
	stack = claim_one(base_of(where));
	if (!stack)
		return false;
	WRITE_ONCE(stack->where, where);
	WRITE_ONCE(stack->parent_ip, *where);
	WRITE_ONCE(stack->number, args->calls_of);
	WRITE_ONCE(stack->since, READ_ONCE(mcount_away));
	WRITE_ONCE(stack->context, interrupt_context_level());
	put(stack, base_of(where));
	return true;
}

void mctracer_below_forget(void)
{
	unsigned long base;
	int i, way;

	for (i = 0; buckets && i < 1 << BUCKETS_BITS; i++) {
		for (way = 0; way < WAYS; way++) {
			base = READ_ONCE(buckets[i][way].base);
			if (base > CLAIMED)
				let_go(&buckets[i][way], base);
		}
	}
}
