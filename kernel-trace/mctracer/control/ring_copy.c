// SPDX-License-Identifier: GPL-2.0
/*
 * Copy all rings, one CPU after the other, and return the events of the copies in time order, for
 * the files trace and snapshot.
 *
 * Printing an event takes about thirty times longer than recording it, so writers would overtake a
 * reader of the live rings again and again. Copying is quicker than recording; and copied words do
 * not change while they are printed.
 */
#include <linux/cleanup.h>
#include <linux/cpumask.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "../record/record.h"
#include "../ring/cursor.h"
#include "../ring/ring.h"
#include "../ring/streams.h"
#include "control.h"

struct snapshot_cpu {
	struct mctracer_copy copy;
	u64 *memory;
	size_t room;		/* words */
};

struct mctracer_ring_copy {
	struct mctracer_ring_counts counts;	/* sums of all CPUs */
	struct mctracer_streams all;		/* one stream for each CPU number */
	struct mctracer_stream *first;		/* their initial states, to rewind */
	struct snapshot_cpu cpus[];		/* nr_cpu_ids of them */
};

/*
 * Copy the latest words of @ring, from a sync point on, as many as there is room for. Drop words
 * that were overwritten meanwhile, up to the next sync point. Return the number of calls before the
 * end.
 */
static u64 ring_copy_words(struct snapshot_cpu *cpu, const struct mctracer_ring *ring)
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

static void ring_copy_take(struct mctracer_ring_copy *snapshot, int i,
			   const struct mctracer_ring *ring)
{
	struct mctracer_ring_counts *sum = &snapshot->counts;
	struct mctracer_stream *stream = &snapshot->all.streams[i];
	struct snapshot_cpu *cpu = &snapshot->cpus[i];
	u64 calls, entries, lost, written;

	calls = ring_copy_words(cpu, ring);
	mctracer_cursor_begin(&stream->cursor, ring, &cpu->copy, false, ring->user.read, false);
	lost = mctracer_ring_lost(ring) - ring->lost_before;
	written = calls - ring->start_calls + lost;
	entries = cpu->copy.from == cpu->copy.end ? 0 : calls - stream->cursor.state.calls;
	sum->written += written;
	sum->lost += lost;
	sum->entries += entries;
	sum->overwritten += written - lost - ring->nr_read - entries;
	stream->found = mctracer_cursor_next(&stream->cursor);
}

/*
 * Allocate as much memory as the rings need now, plus a quarter of a ring for words that are
 * written before the copying. So mctracer_mutex is not held while memory is allocated.
 */
static bool ring_copy_alloc_all(struct mctracer_ring_copy *snapshot, int only)
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

struct mctracer_ring_copy *mctracer_ring_copy_take(int only)
{
	CLASS(mctracer_own_work, own)();
	struct mctracer_ring_copy *snapshot;
	int cpu;

	snapshot = kvzalloc(struct_size(snapshot, cpus, nr_cpu_ids),
			    GFP_KERNEL | __GFP_NOWARN);
	if (!snapshot)
		return NULL;
	snapshot->first = kvcalloc(nr_cpu_ids, sizeof(*snapshot->first), GFP_KERNEL | __GFP_NOWARN);
	if (!snapshot->first || mctracer_streams_alloc(&snapshot->all, nr_cpu_ids) ||
	    !ring_copy_alloc_all(snapshot, only)) {
		mctracer_ring_copy_free(snapshot);
		return NULL;
	}

	guard(mutex)(&mctracer_mutex);
	for_each_possible_cpu(cpu)
		if (snapshot->cpus[cpu].room)
			ring_copy_take(snapshot, cpu, per_cpu_ptr(&mctracer_rings, cpu));
	memcpy(snapshot->first, snapshot->all.streams, nr_cpu_ids * sizeof(*snapshot->first));
	mctracer_streams_order(&snapshot->all);
	return snapshot;
}

void mctracer_ring_copy_free(struct mctracer_ring_copy *snapshot)
{
	CLASS(mctracer_own_work, own)();
	int cpu;

	if (!snapshot)
		return;
	for_each_possible_cpu(cpu)
		kvfree(snapshot->cpus[cpu].memory);
	mctracer_streams_free(&snapshot->all);
	kvfree(snapshot->first);
	kvfree(snapshot);
}

void mctracer_ring_copy_rewind(struct mctracer_ring_copy *snapshot)
{
	memcpy(snapshot->all.streams, snapshot->first, nr_cpu_ids * sizeof(*snapshot->first));
	mctracer_streams_order(&snapshot->all);
}

const struct mctracer_stream *mctracer_ring_copy_next(struct mctracer_ring_copy *snapshot, int *cpu)
{
	const struct mctracer_stream *oldest = mctracer_streams_oldest(&snapshot->all);

	if (oldest)
		*cpu = oldest - snapshot->all.streams;
	return oldest;
}

void mctracer_ring_copy_advance(struct mctracer_ring_copy *snapshot)
{
	mctracer_streams_advance(&snapshot->all);
}

const struct mctracer_ring_counts *
mctracer_ring_copy_counts(const struct mctracer_ring_copy *snapshot)
{
	return &snapshot->counts;
}
