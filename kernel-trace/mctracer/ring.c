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
	if (!is_power_of_2(size) || size < MCTRACER_RING_MIN_RECORDS * RECORD_SIZE ||
	    size > MCTRACER_RING_MAX_SIZE)
		return -EINVAL;

	/* Rather fail than make the OOM killer look for pages. */
	ring->base = __vmalloc_node(size, PAGE_SIZE,
				    GFP_KERNEL | __GFP_ZERO | __GFP_RETRY_MAYFAIL | __GFP_NOWARN,
				    node, __builtin_return_address(0));
	if (!ring->base)
		return -ENOMEM;

	ring->mask = size - 1;
	ring->lap_factor = MCTRACER_LAP_BIT / size;
	ring->head = -(2 * (u64)size);
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
			struct mctracer_record *record)
{
	const struct mctracer_record *slot = ring->base + (pos & ring->mask);

	record->parent_ip = READ_ONCE(slot->parent_ip) ^ ((u32)pos * ring->lap_factor &
							  MCTRACER_LAP_BIT);
	smp_rmb();	/* R1 */
	record->stamp = READ_ONCE(slot->stamp);
	record->ip = READ_ONCE(slot->ip);
	smp_rmb();	/* R2 */

	return READ_ONCE(ring->head) - pos <= mctracer_ring_size(ring) &&	/* V1 */
	       record->parent_ip & MCTRACER_LAP_BIT;				/* V2 */
}
