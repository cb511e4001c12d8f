// SPDX-License-Identifier: GPL-2.0
/*
 * Allocate and free the per-CPU rings, and read words from them. ring.h describes the design and
 * contains the writer.
 */
#include <linux/gfp.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/topology.h>
#include <linux/vmalloc.h>

#include "ring.h"
#include "words.h"

/* Fail rather than invoke the OOM killer. */
#define GFP_RING	(GFP_KERNEL | __GFP_ZERO | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/*
 * 32-bit gets contiguous pages: the first access to vmalloc memory can fault there, which a hook
 * cannot handle.
 */
static void *ring_alloc_memory(size_t size, int node)
{
	struct page *pages;

	if (IS_ENABLED(CONFIG_64BIT))
		return __vmalloc_node(size, PAGE_SIZE, GFP_RING, node,
				      mctracer_ring_alloc);

	pages = alloc_pages_node(node, GFP_RING, get_order(size));
	return pages ? page_address(pages) : NULL;
}

static void ring_free_memory(void *base, size_t size)
{
	if (IS_ENABLED(CONFIG_64BIT))
		vfree(base);
	else
		free_pages((unsigned long)base, get_order(size));
}

unsigned long mctracer_ring_pfn(const struct mctracer_ring *ring, size_t offset)
{
	if (is_vmalloc_addr(ring->base))
		return vmalloc_to_pfn(ring->base + offset);
	return page_to_pfn(virt_to_page(ring->base + offset));
}

static bool ring_size_is_valid(size_t size)
{
	return is_power_of_2(size) && size >= MCTRACER_RING_MIN_SIZE &&
	       size <= MCTRACER_RING_MAX_SIZE;
}

/* Initialize the @ring of @cpu with memory at @base, which is all zeroes. */
static void ring_init_at(struct mctracer_ring *ring, unsigned int cpu, void *base, size_t size)
{
	ring->base = base;
	ring->user = (struct mctracer_ring_header) {
		.magic		= MCTRACER_MAGIC,
		.version	= MCTRACER_VERSION,
		.header_size	= PAGE_SIZE,
		.cpu		= cpu,
		.ring_size	= size,
		.sync_every	= size / 4,
		.base		= MCTRACER_BASE,
		.head		= mctracer_position(-(2 * (u64)size)),
	};
	ring->mask = size - 1;
	ring->lap_factor = BIT(31) / size;
	ring->origin = ring->user.head;
	ring->user.start = ring->user.head;
	ring->sync_at = U64_MAX;
	ring->context = MCTRACER_NO_CONTEXT;
	mctracer_ring_set_read(ring, ring->user.head, 0);
}

int mctracer_ring_alloc(struct mctracer_ring *ring, unsigned int cpu, size_t size)
{
	void *base;

	if (!ring_size_is_valid(size))
		return -EINVAL;
	base = ring_alloc_memory(size, cpu_to_node(cpu));
	if (!base)
		return -ENOMEM;
	ring_init_at(ring, cpu, base, size);
	return 0;
}

int mctracer_ring_place(struct mctracer_ring *ring, unsigned int cpu, void *base, size_t size)
{
	if (!ring_size_is_valid(size))
		return -EINVAL;
	ring->external = true;
	ring_init_at(ring, cpu, base, size);
	return 0;
}

void mctracer_ring_free(struct mctracer_ring *ring)
{
	if (!ring->external)
		ring_free_memory(ring->base, mctracer_ring_size(ring));
	ring->base = NULL;
}

bool mctracer_memory_available(size_t size)
{
	/* An estimate, but it avoids the OOM killer. Early in boot not all memory is counted. */
	return system_state != SYSTEM_RUNNING ||
	       si_mem_available() >= (long)DIV_ROUND_UP(size, PAGE_SIZE);
}

/* Load a counter that only grows. 32-bit writers store it in one step, but a load takes two. */
static u64 ring_load_counter(const u64 *counter)
{
	const u32 *halves = (const u32 *)counter;
	u32 high, low;

	if (IS_ENABLED(CONFIG_64BIT))
		return READ_ONCE(*counter);

	do {
		high = READ_ONCE(halves[1]);
		smp_rmb();	/* high before low ... */
		low = READ_ONCE(halves[0]);
		smp_rmb();	/* ... before high: if high is unchanged, low belongs to it */
	} while (READ_ONCE(halves[1]) != high);
	return (u64)high << 32 | low;
}

u64 mctracer_ring_end(const struct mctracer_ring *ring)
{
	return mctracer_position(ring_load_counter(&ring->user.head));
}

u64 mctracer_ring_end_calls(const struct mctracer_ring *ring, u64 *end)
{
	u64 head, meta;

	do {
		meta = ring_load_counter(&ring->meta);
		smp_rmb();	/* others before head ... */
		head = ring_load_counter(&ring->user.head);
		smp_rmb();	/* ... before others: if unchanged, both are of one moment */
	} while (ring_load_counter(&ring->meta) != meta);
	*end = mctracer_position(head);
	return mctracer_ring_calls_at(ring, head, meta);
}

u64 mctracer_ring_lost(const struct mctracer_ring *ring)
{
	return ring_load_counter(&ring->user.lost);
}

void mctracer_ring_set_read(struct mctracer_ring *ring, u64 pos, u64 calls)
{
	u64 sync = pos & -mctracer_ring_quarter(ring);

	if (pos == ring->user.read && calls == ring->read_calls)
		return;	/* a store would move the cache line here */
	ring->user.read = pos;
	ring->read_calls = calls;
	WRITE_ONCE(ring->limit, (u32)(sync + mctracer_ring_size(ring) - MCTRACER_KEEP_MARGIN));
}

void mctracer_ring_clear(struct mctracer_ring *ring)
{
	u64 end;

	ring->start_calls = mctracer_ring_end_calls(ring, &end);
	WRITE_ONCE(ring->user.start_calls, ring->start_calls);
	smp_wmb();	/* start_calls before start: readers load start before and after */
	WRITE_ONCE(ring->user.start, end);
	ring->nr_read = 0;
	ring->lost_before = mctracer_ring_lost(ring);
	mctracer_ring_set_read(ring, end, ring->start_calls);
}

u64 mctracer_ring_oldest(const struct mctracer_ring *ring)
{
	const u64 quarter = mctracer_ring_quarter(ring);
	u64 end = mctracer_ring_end(ring);

	if (mctracer_distance(ring->origin, end) <= mctracer_ring_size(ring))
		return ring->origin;
	return mctracer_position((end - mctracer_ring_size(ring) + quarter - 1) & -quarter);
}

enum mctracer_read mctracer_ring_read(const struct mctracer_ring *ring, u64 pos, u64 *word)
{
	*word = mctracer_ring_load(ring, pos);
	smp_rmb();	/* R2 */

	if (mctracer_distance(pos, mctracer_ring_end(ring)) > mctracer_ring_size(ring))
		return MCTRACER_READ_OVERWRITTEN;		/* V1 */
	if (!(*word & MCTRACER_WORD_VALID))
		return MCTRACER_READ_UNCOMMITTED;		/* V2 */
	return MCTRACER_READ_OK;
}

void mctracer_ring_put_at_rest(struct mctracer_ring *ring, u64 word)
{
	u64 head = ring->user.head;
	u32 *slot = ring->base + (head & ring->mask);
	bool call = mctracer_word_counts(word);

	slot[0] = word;
	slot[1] = (u32)(word >> 32) ^ ((u32)head * ring->lap_factor & BIT(31));
	ring->user.head = head + MCTRACER_STEP(1, !call);
	ring->meta += !call;
}
