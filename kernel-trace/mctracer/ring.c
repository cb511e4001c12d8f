// SPDX-License-Identifier: GPL-2.0
/*
 * The ring off the hot path: memory, counts and reading. ring.h has the design
 * and the writer.
 */
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/vmalloc.h>

#include "ring.h"

#define RECORD_SIZE	sizeof(struct mctracer_record)

int mctracer_ring_alloc(struct mctracer_ring *ring, size_t size, int node)
{
	if (!is_power_of_2(size) || size < MCTRACER_RING_MIN_RECORDS * RECORD_SIZE)
		return -EINVAL;

	/*
	 * A tracer that asks for too much gets an error: it must not make the
	 * OOM killer look for somebody else.
	 */
	ring->base = __vmalloc_node(size, PAGE_SIZE,
				    GFP_KERNEL | __GFP_ZERO | __GFP_RETRY_MAYFAIL | __GFP_NOWARN,
				    node, __builtin_return_address(0));
	if (!ring->base)
		return -ENOMEM;

	ring->mask = size - 1;
	ring->head = -(u64)(size / 2);
	ring->start = ring->head;
	ring->floor = ring->head;
	return 0;
}

void mctracer_ring_free(struct mctracer_ring *ring)
{
	vfree(ring->base);
	ring->base = NULL;
}

void mctracer_ring_clear(struct mctracer_ring *ring)
{
	/* Pairs with the acquire in mctracer_ring_counts(). */
	smp_store_release(&ring->start, READ_ONCE(ring->head));
}

struct mctracer_ring_counts mctracer_ring_counts(const struct mctracer_ring *ring)
{
	/* start first: it must not pass head if a clear comes in between. */
	u64 start = smp_load_acquire(&ring->start);
	u64 end = READ_ONCE(ring->head);
	u64 shown = min3(end - start, end - ring->floor, mctracer_ring_size(ring));
	struct mctracer_ring_counts counts;

	counts.end = end;
	counts.written = div_u64(end - start, RECORD_SIZE);
	counts.entries = div_u64(shown, RECORD_SIZE);
	counts.overwritten = counts.written - counts.entries;
	return counts;
}

bool mctracer_ring_read(const struct mctracer_ring *ring, u64 pos,
			const u64 *previous, struct mctracer_record *record)
{
	const struct mctracer_record *slot = ring->base + (pos & ring->mask);

	record->stamp = READ_ONCE(slot->stamp);
	smp_rmb();	/* R1 */
	record->ip = READ_ONCE(slot->ip);
	record->parent_ip = READ_ONCE(slot->parent_ip);
	smp_rmb();	/* R2 */

	if (READ_ONCE(ring->head) - pos > mctracer_ring_size(ring))
		return false;	/* V1 */
	if (previous)
		return mctracer_stamp_follows(*previous, record->stamp);	/* V2 */
	return record->ip;
}
