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
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "ring.h"

#define RECORD_SIZE	sizeof(struct mctracer_record)

static struct mctracer_record *slot_at(const struct mctracer_ring *ring, u64 pos)
{
	return ring->base + (pos & ring->mask);
}

static u32 lap_bit(const struct mctracer_ring *ring, u64 pos)
{
	return (u32)pos * ring->lap_factor & MCTRACER_LAP_BIT;
}

/* Rather fail than make the OOM killer look for pages. */
#define GFP_RING	(GFP_KERNEL | __GFP_ZERO | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/* 32-bit has vmalloc faults: the first access by a task may have to be mended. */
static void *alloc_memory(size_t size, int node)
{
	struct page *pages;

	if (IS_ENABLED(CONFIG_64BIT))
		return __vmalloc_node(size, PAGE_SIZE, GFP_RING, node,
				      mctracer_ring_alloc);

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

static void set_limit(struct mctracer_ring *ring)
{
	WRITE_ONCE(ring->limit, (u32)(ring->user.read + mctracer_ring_size(ring)));
}

unsigned long mctracer_ring_pfn(const struct mctracer_ring *ring, size_t offset)
{
	if (IS_ENABLED(CONFIG_64BIT))
		return vmalloc_to_pfn(ring->base + offset);
	return page_to_pfn(virt_to_page(ring->base + offset));
}

int mctracer_ring_alloc(struct mctracer_ring *ring, size_t size, int node)
{
	if (!is_power_of_2(size) || size < MCTRACER_RING_MIN_SIZE ||
	    size > MCTRACER_RING_MAX_SIZE)
		return -EINVAL;

	ring->base = alloc_memory(size, node);
	if (!ring->base)
		return -ENOMEM;

	ring->user.magic = MCTRACER_MAGIC;
	ring->user.version = MCTRACER_VERSION;
	ring->user.record_size = RECORD_SIZE;
	ring->user.header_size = PAGE_SIZE;
	ring->user.ring_size = size;
	ring->mask = size - 1;
	ring->lap_factor = MCTRACER_LAP_BIT / size;
	ring->user.head = -(2 * (u64)size);
	ring->user.start = ring->user.head;
	ring->user.read = ring->user.head;
	ring->floor = ring->user.head;
	ring->user.nr_read = 0;
	ring->missed = 0;
	ring->lost_before = ring->user.lost;
	set_limit(ring);
	return 0;
}

void mctracer_ring_free(struct mctracer_ring *ring)
{
	free_memory(ring->base, mctracer_ring_size(ring));
	ring->base = NULL;
}

/* For what grows: on 32-bit it is written in one step, but takes two to read. */
static u64 load(const u64 *counter)
{
	const u32 *halves = (const u32 *)counter;
	u32 high, low;

	if (IS_ENABLED(CONFIG_64BIT))
		return READ_ONCE(*counter);

	do {
		high = READ_ONCE(halves[1]);
		smp_rmb();	/* high before low ... */
		low = READ_ONCE(halves[0]);
		smp_rmb();	/* ... before high: as it only grows, they belong together */
	} while (READ_ONCE(halves[1]) != high);
	return (u64)high << 32 | low;
}

u64 mctracer_ring_end(const struct mctracer_ring *ring)
{
	return load(&ring->user.head);
}

void mctracer_ring_clear(struct mctracer_ring *ring)
{
	ring->user.start = mctracer_ring_end(ring);
	ring->user.read = ring->user.start;
	ring->user.nr_read = 0;
	ring->missed = 0;
	ring->lost_before = load(&ring->user.lost);
	set_limit(ring);
}

/* In bytes, up to @end. */
static u64 unread(const struct mctracer_ring *ring, u64 end)
{
	return min3(end - ring->user.read, end - ring->floor, mctracer_ring_size(ring));
}

struct mctracer_ring_counts mctracer_ring_counts(const struct mctracer_ring *ring)
{
	u64 end = mctracer_ring_end(ring);
	u64 reserved = div_u64(end - ring->user.start, RECORD_SIZE);
	struct mctracer_ring_counts counts;

	counts.end = end;
	counts.read = ring->user.nr_read;
	counts.entries = div_u64(unread(ring, end), RECORD_SIZE);
	counts.overwritten = reserved - counts.read - counts.entries;
	counts.lost = load(&ring->user.lost) - ring->lost_before;
	counts.written = reserved + counts.lost;
	return counts;
}

static void skip_to(struct mctracer_ring *ring, u64 pos)
{
	ring->missed += div_u64(pos - ring->user.read, RECORD_SIZE);
	ring->user.read = pos;
	set_limit(ring);
}

void mctracer_ring_settle(struct mctracer_ring *ring)
{
	u64 end = mctracer_ring_end(ring);

	skip_to(ring, end - unread(ring, end));
}

void mctracer_ring_move(struct mctracer_ring *ring, struct mctracer_ring *new)
{
	u64 size = mctracer_ring_size(new);
	u64 end = mctracer_ring_end(ring);
	struct mctracer_record *slot;
	u64 pos;

	if (!ring->base) {
		*ring = *new;
		new->base = NULL;
		return;
	}

	mctracer_ring_settle(ring);	/* more room does not bring back what was overwritten */

	/* What a slot holds that waits to be reserved for the next time. */
	for (pos = end; pos != end + size; pos += RECORD_SIZE)
		slot_at(new, pos)->parent_ip = lap_bit(new, pos);

	for (pos = end - min(end - ring->user.read, size); pos != end; pos += RECORD_SIZE) {
		slot = slot_at(new, pos);
		/* What can't be read now has nobody left to commit it. */
		if (mctracer_ring_read(ring, pos, slot))
			slot->parent_ip ^= lap_bit(new, pos);
		else
			slot->parent_ip = lap_bit(new, pos);
	}

	free_memory(ring->base, mctracer_ring_size(ring));
	ring->base = new->base;
	ring->user.ring_size = new->user.ring_size;
	ring->mask = new->mask;
	ring->lap_factor = new->lap_factor;
	new->base = NULL;
	mctracer_ring_settle(ring);
}

bool mctracer_ring_peek(struct mctracer_ring *ring, struct mctracer_record *record,
			bool live, bool again)
{
	u64 size = mctracer_ring_size(ring);
	u64 end, left;

	for (;; again = true) {
		end = mctracer_ring_end(ring);
		left = unread(ring, end);
		if (again && end - ring->user.read > size)
			left -= round_down(left / 8, RECORD_SIZE);
		skip_to(ring, end - left);
		if (!left)
			return false;
		if (mctracer_ring_read(ring, ring->user.read, record))
			return true;

		end = mctracer_ring_end(ring);
		if (end - ring->user.read > size)
			continue;	/* overwritten meanwhile */
		/* Its writer is about to commit it, or was lapped: "What remains" in ring.h. */
		if (live && end - ring->user.read <= size / 2)
			return false;
		skip_to(ring, ring->user.read + RECORD_SIZE);
	}
}

void mctracer_ring_consume(struct mctracer_ring *ring)
{
	ring->user.read += RECORD_SIZE;
	ring->user.nr_read++;
	ring->missed = 0;
	set_limit(ring);
}

bool mctracer_ring_read(const struct mctracer_ring *ring, u64 pos,
			struct mctracer_record *record)
{
	const struct mctracer_record *slot = slot_at(ring, pos);

	record->parent_ip = READ_ONCE(slot->parent_ip) ^ lap_bit(ring, pos);
	smp_rmb();	/* R1 */
	record->stamp = READ_ONCE(slot->stamp);
	record->ip = READ_ONCE(slot->ip);
	smp_rmb();	/* R2 */

	return mctracer_ring_end(ring) - pos <= mctracer_ring_size(ring) &&	/* V1 */
	       record->parent_ip & MCTRACER_LAP_BIT;				/* V2 */
}

/*
 * As fast as can be: a chunk is copied without looking at head, and whether a
 * writer came in between is seen afterwards; then what was copied is not used.
 */
#define CHUNK	(1024 * RECORD_SIZE)

/* ip, and parent_ip in the upper half: that first. */
static __always_inline u64 load_ips(const struct mctracer_record *slot)
{
	u32 parent_ip;

	if (IS_ENABLED(CONFIG_64BIT))
		return READ_ONCE(*(const u64 *)slot);

	parent_ip = READ_ONCE(slot->parent_ip);
	smp_rmb();	/* R1 */
	return (u64)parent_ip << 32 | READ_ONCE(slot->ip);
}

/* The number of bytes copied up to a fault or to one that is not committed, or -EFAULT. */
static long copy_chunk(const struct mctracer_ring *ring, u64 pos, void __user *buf, size_t size)
{
	const struct mctracer_record *slot = slot_at(ring, pos);
	const struct mctracer_record *first = slot, *end = (const void *)slot + size;
	const u64 flip = (u64)lap_bit(ring, pos) << 32;	/* the chunk is of one lap */
	u64 __user *to = buf;
	u64 ips;

	if (!user_access_begin(to, size))
		return -EFAULT;
#pragma GCC unroll 4
	for (; slot < end; slot++, to += 2) {
		ips = load_ips(slot) ^ flip;
		if ((s64)ips >= 0)
			break;					/* V2 */
		smp_rmb();	/* R1 */
		unsafe_put_user(ips, to, fault);
		unsafe_put_user(READ_ONCE(slot->stamp), to + 1, fault);
	}
	user_access_end();
	smp_rmb();	/* R2 */
	return (const void *)slot - (const void *)first;

fault:
	user_access_end();
	smp_rmb();	/* R2 */
	return slot == first ? -EFAULT : (const void *)slot - (const void *)first;
}

ssize_t mctracer_ring_consume_to_user(struct mctracer_ring *ring, void __user *to, size_t size,
				      bool live)
{
	const unsigned long start = jiffies;
	struct mctracer_record record;
	bool again = false;
	size_t done = 0;
	u64 left;
	long copied;

	size = round_down(size, RECORD_SIZE);
	while (done < size && !signal_pending(current) && !(done && mctracer_time_is_up(start)) &&
	       mctracer_ring_peek(ring, &record, live, again)) {
		again = true;
		mctracer_cond_resched();
		if (ring->missed) {
			record = mctracer_gap(ring->missed);
			if (copy_to_user(to + done, &record, RECORD_SIZE))
				return done ?: -EFAULT;
			ring->missed = 0;
			done += RECORD_SIZE;
			continue;
		}
		left = mctracer_ring_end(ring) - ring->user.read;
		left = min3(left, (u64)(size - done), (u64)CHUNK);
		left = min(left, mctracer_ring_size(ring) - (ring->user.read & ring->mask));
		copied = copy_chunk(ring, ring->user.read, to + done, left);
		if (copied < 0)
			return done ?: copied;
		if (mctracer_ring_end(ring) - ring->user.read > mctracer_ring_size(ring))
			continue;					/* V1 */
		ring->user.read += copied;
		ring->user.nr_read += copied / RECORD_SIZE;
		done += copied;
		set_limit(ring);
	}
	return done;
}
