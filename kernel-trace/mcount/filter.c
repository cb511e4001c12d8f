// SPDX-License-Identifier: GPL-2.0
/*
 * The arg filter: the set of values that mcount_filter_hook() looks for in argument registers. It
 * is a counting Bloom filter with two hashes (Fan and others, 2000). Each hash has a table of its
 * own, with a byte for each counter, because the hook rarely needs the second table. A counter that
 * has reached its maximum stays there.
 */
#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/kprobes.h>
#include <linux/limits.h>
#include <linux/mcount.h>
#include <linux/types.h>

u8 mcount_filter[1 << MCOUNT_FILTER_BITS];
u8 mcount_filter_2[1 << MCOUNT_FILTER_BITS_2];

static u8 *mcount_arg_filter_counter(unsigned long value)
{
	return &mcount_filter[(u32)value * MCOUNT_FILTER_FACTOR >> (32 - MCOUNT_FILTER_BITS)];
}

NOKPROBE_SYMBOL(mcount_arg_filter_counter);

static u8 *mcount_arg_filter_counter_2(unsigned long value)
{
	return &mcount_filter_2[(u32)value * MCOUNT_FILTER_FACTOR_2 >> (32 - MCOUNT_FILTER_BITS_2)];
}

NOKPROBE_SYMBOL(mcount_arg_filter_counter_2);

static void mcount_arg_filter_count(u8 *counter, int by)
{
	u8 old = READ_ONCE(*counter);

	while (old != U8_MAX && !try_cmpxchg(counter, &old, old + by))
		;
}

NOKPROBE_SYMBOL(mcount_arg_filter_count);

void mcount_filter_add(unsigned long value)
{
	mcount_arg_filter_count(mcount_arg_filter_counter_2(value), 1);
	mcount_arg_filter_count(mcount_arg_filter_counter(value), 1);
}

NOKPROBE_SYMBOL(mcount_filter_add);

void mcount_filter_remove(unsigned long value)
{
	mcount_arg_filter_count(mcount_arg_filter_counter(value), -1);
	mcount_arg_filter_count(mcount_arg_filter_counter_2(value), -1);
}

NOKPROBE_SYMBOL(mcount_filter_remove);
