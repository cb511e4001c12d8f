// SPDX-License-Identifier: GPL-2.0
/*
 * A copy of all rings, one CPU's after the other's, and its calls in time order.
 *
 * Text is made some thirty times more slowly than words, so a reader of the live
 * rings would be overtaken for ever. Copying is quicker than writing; and what was copied
 * does not change while it is printed.
 */
#include <linux/cleanup.h>
#include <linux/cpumask.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "mctracer.h"

struct snapshot_cpu {
	struct mctracer_copy copy;
	u64 *memory;
	size_t room;		/* words */
};

struct mctracer_snapshot {
	struct mctracer_ring_counts counts;	/* all CPUs' */
	struct mctracer_stream *streams, *first;	/* by CPU; as they were at first */
	unsigned int *heap, nr;		/* CPUs that have something, the oldest first */
	struct snapshot_cpu cpus[];		/* up to nr_cpu_ids */
};

/*
 * Copy the words that are there, as many as there is room for, and tell how many calls
 * there are before the end. What was overwritten meanwhile goes, and so does what is
 * then before the first notes.
 */
static u64 copy_words(struct snapshot_cpu *cpu, const struct mctracer_ring *ring)
{
	const u64 quarter = mctracer_ring_quarter(ring), room = cpu->room * MCTRACER_WORD_SIZE;
	struct mctracer_copy *copy = &cpu->copy;
	u64 calls, from = mctracer_ring_oldest(ring), pos, *to = cpu->memory;

	calls = mctracer_ring_end_calls(ring, &copy->end);
	if (mctracer_distance(from, copy->end) > room) {
		from = mctracer_position((copy->end - room + quarter - 1) & -quarter);
		if (mctracer_distance(from, copy->end) > room)
			from = copy->end;
	}

	for (pos = from; pos != copy->end; pos = mctracer_position(pos + MCTRACER_WORD_SIZE)) {
		mctracer_cond_resched();
		*to++ = mctracer_ring_load(ring, pos);
	}
	smp_rmb();	/* R2 */

	copy->from = mctracer_ring_oldest(ring);			/* V1 */
	if (mctracer_is_before(copy->from, from))
		copy->from = from;
	if (mctracer_is_before(copy->end, copy->from))
		copy->from = copy->end;
	copy->words = cpu->memory + mctracer_distance(from, copy->from) / MCTRACER_WORD_SIZE;
	return calls;
}

static void advance(struct mctracer_stream *stream)
{
	stream->found = mctracer_cursor_next(&stream->cursor);
}

/* A caller's address is right behind its call. */
static bool comes_before(const struct mctracer_snapshot *snapshot, unsigned int a, unsigned int b)
{
	const struct mctracer_stream *x = &snapshot->streams[a], *y = &snapshot->streams[b];

	if (x->found == MCTRACER_FOUND_FRAME || y->found == MCTRACER_FOUND_FRAME)
		return y->found != MCTRACER_FOUND_FRAME;
	return x->cursor.ns != y->cursor.ns ? x->cursor.ns < y->cursor.ns : a < b;
}

/* Let what is at @i of the binary heap come to its place: O(log CPUs). */
static void sift_down(struct mctracer_snapshot *snapshot, unsigned int i)
{
	unsigned int *heap = snapshot->heap, child;

	for (; (child = 2 * i + 1) < snapshot->nr; i = child) {
		if (child + 1 < snapshot->nr &&
		    comes_before(snapshot, heap[child + 1], heap[child]))
			child++;
		if (!comes_before(snapshot, heap[child], heap[i]))
			break;
		swap(heap[i], heap[child]);
	}
}

static void make_heap(struct mctracer_snapshot *snapshot)
{
	unsigned int cpu, i;

	snapshot->nr = 0;
	for_each_possible_cpu(cpu)
		if (snapshot->streams[cpu].found != MCTRACER_FOUND_NOTHING)
			snapshot->heap[snapshot->nr++] = cpu;
	for (i = snapshot->nr / 2; i; i--)
		sift_down(snapshot, i - 1);
}

static void take_ring(struct mctracer_snapshot *snapshot, int i, const struct mctracer_ring *ring)
{
	struct mctracer_ring_counts *sum = &snapshot->counts;
	struct mctracer_stream *stream = &snapshot->streams[i];
	struct snapshot_cpu *cpu = &snapshot->cpus[i];
	u64 calls, entries, lost, written;

	calls = copy_words(cpu, ring);
	mctracer_cursor_begin(&stream->cursor, ring, &cpu->copy, false, ring->user.read, false);
	lost = mctracer_ring_lost(ring) - ring->lost_before;
	written = calls - ring->start_calls + lost;
	entries = cpu->copy.from == cpu->copy.end ? 0 : calls - stream->cursor.state.calls;
	sum->written += written;
	sum->lost += lost;
	sum->entries += entries;
	sum->overwritten += written - lost - ring->nr_read - entries;
	advance(stream);
}

/*
 * Ask for as much as the rings need now: more may be written before they are copied,
 * but nobody has to wait meanwhile for the tracer's mutex.
 */
static bool alloc_copies(struct mctracer_snapshot *snapshot, int only)
{
	const struct mctracer_ring *ring;
	struct snapshot_cpu *cpu;
	size_t sum = 0;
	u64 used;
	int i;

	mutex_lock(&mctracer_mutex);
	for_each_possible_cpu(i) {
		ring = per_cpu_ptr(&mctracer_rings, i);
		if ((only != MCTRACER_ALL_CPUS && i != only) || !ring->base)
			continue;
		used = mctracer_distance(mctracer_ring_oldest(ring), mctracer_ring_end(ring));
		if (used)
			used = min(used + mctracer_ring_quarter(ring), mctracer_ring_size(ring));
		snapshot->cpus[i].room = used / MCTRACER_WORD_SIZE;
		sum += used;
	}
	mutex_unlock(&mctracer_mutex);
	if (!mctracer_memory_available(sum))
		return false;

	for_each_possible_cpu(i) {
		cpu = &snapshot->cpus[i];
		if (!cpu->room)
			continue;
		cpu->memory = kvmalloc_array(cpu->room, sizeof(u64),
					     GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN);
		if (!cpu->memory)
			return false;
	}
	return true;
}

struct mctracer_snapshot *mctracer_snapshot_take(int only)
{
	CLASS(mctracer_own_work, own)();
	struct mctracer_snapshot *snapshot;
	int cpu;

	snapshot = kvzalloc(struct_size(snapshot, cpus, nr_cpu_ids),
			    GFP_KERNEL | __GFP_NOWARN);
	if (!snapshot)
		return NULL;
	snapshot->streams = kvcalloc(2 * nr_cpu_ids, sizeof(*snapshot->streams),
				     GFP_KERNEL | __GFP_NOWARN);
	snapshot->heap = kvcalloc(nr_cpu_ids, sizeof(*snapshot->heap), GFP_KERNEL | __GFP_NOWARN);
	if (!snapshot->streams || !snapshot->heap || !alloc_copies(snapshot, only)) {
		mctracer_snapshot_free(snapshot);
		return NULL;
	}
	snapshot->first = snapshot->streams + nr_cpu_ids;

	guard(mutex)(&mctracer_mutex);
	for_each_possible_cpu(cpu)
		if (snapshot->cpus[cpu].room)
			take_ring(snapshot, cpu, per_cpu_ptr(&mctracer_rings, cpu));
	memcpy(snapshot->first, snapshot->streams, nr_cpu_ids * sizeof(*snapshot->streams));
	make_heap(snapshot);
	return snapshot;
}

void mctracer_snapshot_free(struct mctracer_snapshot *snapshot)
{
	CLASS(mctracer_own_work, own)();
	int cpu;

	if (!snapshot)
		return;
	for_each_possible_cpu(cpu)
		kvfree(snapshot->cpus[cpu].memory);
	kvfree(snapshot->heap);
	kvfree(snapshot->streams);
	kvfree(snapshot);
}

void mctracer_snapshot_rewind(struct mctracer_snapshot *snapshot)
{
	memcpy(snapshot->streams, snapshot->first, nr_cpu_ids * sizeof(*snapshot->streams));
	make_heap(snapshot);
}

const struct mctracer_stream *mctracer_snapshot_next(struct mctracer_snapshot *snapshot, int *cpu)
{
	if (!snapshot->nr)
		return NULL;
	*cpu = snapshot->heap[0];
	return &snapshot->streams[*cpu];
}

void mctracer_snapshot_advance(struct mctracer_snapshot *snapshot)
{
	struct mctracer_stream *stream = &snapshot->streams[snapshot->heap[0]];

	advance(stream);
	if (stream->found == MCTRACER_FOUND_NOTHING)
		snapshot->heap[0] = snapshot->heap[--snapshot->nr];
	sift_down(snapshot, 0);
}

const struct mctracer_ring_counts *
mctracer_snapshot_counts(const struct mctracer_snapshot *snapshot)
{
	return &snapshot->counts;
}
