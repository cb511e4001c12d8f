// SPDX-License-Identifier: GPL-2.0
/*
 * The ring off the hot path: memory, counts and reading. ring.h has the design
 * and the writer.
 */
#include <linux/gfp.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/vmalloc.h>

#include "ring.h"

#define RECORD_SIZE	sizeof(struct mctracer_record)

/* Rather fail than make the OOM killer look for pages. */
#define GFP_RING	(GFP_KERNEL | __GFP_ZERO | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/* 32-bit has vmalloc faults: the first access by a task may have to be mended. */
static void *alloc_memory(size_t size, int node)
{
	struct page *pages;

	if (IS_ENABLED(CONFIG_64BIT))
		return __vmalloc_node(size, PAGE_SIZE, GFP_RING, node,
				      __builtin_return_address(0));

	pages = alloc_pages_node(node, GFP_RING, get_order(size));
	return pages ? page_address(pages) : NULL;
}

static void free_memory(void *base, size_t size)
{
	if (IS_ENABLED(CONFIG_64BIT))
		vfree(base);
	else
		free_pages((unsigned long)base, get_order(size));
}

int mctracer_ring_alloc(struct mctracer_ring *ring, size_t size, int node)
{
	if (!is_power_of_2(size) || size < MCTRACER_RING_MIN_SIZE ||
	    size > MCTRACER_RING_MAX_SIZE)
		return -EINVAL;

	ring->base = alloc_memory(size, node);
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
	free_memory(ring->base, mctracer_ring_size(ring));
	ring->base = NULL;
}

/* On 32-bit a head is written in one step, but takes two to read. */
u64 mctracer_ring_end(const struct mctracer_ring *ring)
{
	const u32 *halves = (const u32 *)&ring->head;
	u32 high, low;

	if (IS_ENABLED(CONFIG_64BIT))
		return READ_ONCE(ring->head);

	do {
		high = READ_ONCE(halves[1]);
		smp_rmb();	/* high before low ... */
		low = READ_ONCE(halves[0]);
		smp_rmb();	/* ... before high: as it only grows, they belong together */
	} while (READ_ONCE(halves[1]) != high);
	return (u64)high << 32 | low;
}

void mctracer_ring_clear(struct mctracer_ring *ring)
{
	ring->start = mctracer_ring_end(ring);
}

struct mctracer_ring_counts mctracer_ring_counts(const struct mctracer_ring *ring)
{
	u64 start = ring->start;
	u64 end = mctracer_ring_end(ring);
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

	return mctracer_ring_end(ring) - pos <= mctracer_ring_size(ring) &&	/* V1 */
	       record->parent_ip & MCTRACER_LAP_BIT;				/* V2 */
}
