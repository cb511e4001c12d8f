// SPDX-License-Identifier: GPL-2.0
/*
 * A copy of all rings, one CPU's after the other's, and its records in time order.
 *
 * Text is made about a hundred times more slowly than records, so a reader of
 * the live rings would be lapped for ever. Copying is quicker than writing; and
 * what was copied does not change while it is printed.
 */
#include <linux/cleanup.h>
#include <linux/cpumask.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "mctracer.h"

struct entry {
	struct mctracer_record record;
	u64 time;	/* in cycles */
};

struct cpu_entries {
	struct entry *list;
	size_t room;
	size_t nr;
	size_t next;	/* where mctracer_snapshot_next() is */
};

struct mctracer_snapshot {
	struct mctracer_ring_counts counts;	/* all CPUs'; .end is not used */
	struct cpu_entries cpus[];		/* indexed by CPU, up to nr_cpu_ids */
};

/*
 * The entries from @first to the last have times relative to each other. Make
 * them absolute: the last one lies less than a wrap of the clock before @end.
 */
static void settle_times(struct cpu_entries *copy, size_t first, u64 end)
{
	const struct entry *last;
	u64 shift;

	if (first == copy->nr)
		return;
	last = &copy->list[copy->nr - 1];
	shift = end - mctracer_cycles_until(&last->record, end, U64_MAX) - last->time;
	for (; first < copy->nr; first++)
		copy->list[first].time += shift;
}

/*
 * Copy the valid records of a ring, as many as there is room for. A writer that
 * laps the copy makes it go on an eighth of the ring ahead of the writer, where
 * it won't be lapped again at once, and leaves a note of the gap.
 */
static void copy_ring(struct cpu_entries *copy, const struct mctracer_ring *ring,
		      const struct mctracer_silences *silences,
		      struct mctracer_ring_counts *sum)
{
	const u64 step = sizeof(struct mctracer_record);
	struct mctracer_ring_counts counts = mctracer_ring_counts(ring);
	u64 pos = counts.end - counts.entries * step;
	const struct mctracer_silence *silence;
	struct mctracer_record record, previous;
	u64 time = 0, missed = 0, from;
	size_t segment = 0, gaps = 0;

	for (; pos != counts.end && copy->nr + 1 < copy->room; pos += step) {
		cond_resched();
		silence = mctracer_silence_at(silences, pos);
		if (silence) {
			settle_times(copy, segment, silence->before);
			segment = copy->nr;
		}
		if (!mctracer_ring_read(ring, pos, &record)) {
			from = pos;
			counts = mctracer_ring_counts(ring);
			if (counts.end - pos > counts.entries * step)
				pos = counts.end - (counts.entries * 7 / 8 + 1) * step;
			missed += div_u64(pos - from, step) + 1;
			silence = mctracer_silence_within(silences, from, pos);
			if (silence) {
				settle_times(copy, segment, silence->before);
				segment = copy->nr;
			}
			continue;
		}
		if (copy->nr)
			time += mctracer_cycles_between(&previous, &record);
		previous = record;
		if (missed) {
			copy->list[copy->nr++] = (struct entry) { mctracer_gap(missed), time };
			gaps++;
			missed = 0;
		}
		copy->list[copy->nr++] = (struct entry) { record, time };
	}

	silence = mctracer_silence_at(silences, pos);
	settle_times(copy, segment,
		     silence ? silence->before : mctracer_clock_now() + MCTRACER_SILENCE_MARGIN);

	/* At rest nothing but what was overwritten is missing. */
	sum->written += counts.written;
	sum->lost += counts.lost;
	sum->entries += copy->nr - gaps;
	sum->overwritten += counts.written - counts.read - counts.lost - (copy->nr - gaps);
}

static bool alloc_entries(struct cpu_entries *copy, const struct mctracer_ring *ring)
{
	copy->room = mctracer_ring_counts(ring).entries;
	if (!copy->room)
		return true;
	copy->room++;	/* for a note of a gap */
	copy->list = kvmalloc_array(copy->room, sizeof(*copy->list),
				    GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN);
	return copy->list;
}

struct mctracer_snapshot *mctracer_snapshot_take(int only)
{
	struct mctracer_snapshot *snapshot;
	int cpu;

	snapshot = kvzalloc(struct_size(snapshot, cpus, nr_cpu_ids),
			    GFP_KERNEL | __GFP_NOWARN);
	if (!snapshot)
		return NULL;

	guard(mutex)(&mctracer_mutex);
	for_each_possible_cpu(cpu) {
		if (only != MCTRACER_ALL_CPUS && cpu != only)
			continue;
		if (!alloc_entries(&snapshot->cpus[cpu], per_cpu_ptr(&mctracer_rings, cpu))) {
			mctracer_snapshot_free(snapshot);
			return NULL;
		}
	}
	mctracer_look();
	for_each_possible_cpu(cpu)
		if (only == MCTRACER_ALL_CPUS || cpu == only)
			copy_ring(&snapshot->cpus[cpu], per_cpu_ptr(&mctracer_rings, cpu),
				  per_cpu_ptr(&mctracer_silences, cpu), &snapshot->counts);
	return snapshot;
}

void mctracer_snapshot_free(struct mctracer_snapshot *snapshot)
{
	int cpu;

	if (!snapshot)
		return;
	for_each_possible_cpu(cpu)
		kvfree(snapshot->cpus[cpu].list);
	kvfree(snapshot);
}

void mctracer_snapshot_rewind(struct mctracer_snapshot *snapshot)
{
	int cpu;

	for_each_possible_cpu(cpu)
		snapshot->cpus[cpu].next = 0;
}

const struct mctracer_record *mctracer_snapshot_next(struct mctracer_snapshot *snapshot,
						     int *cpu, u64 *cycles)
{
	const struct entry *entry, *oldest = NULL;
	struct cpu_entries *copy;
	int i;

	for_each_possible_cpu(i) {
		copy = &snapshot->cpus[i];
		entry = &copy->list[copy->next];
		if (copy->next < copy->nr && (!oldest || entry->time < oldest->time)) {
			oldest = entry;
			*cpu = i;
		}
	}
	if (!oldest)
		return NULL;

	*cycles = oldest->time;
	snapshot->cpus[*cpu].next++;
	return &oldest->record;
}

const struct mctracer_ring_counts *
mctracer_snapshot_counts(const struct mctracer_snapshot *snapshot)
{
	return &snapshot->counts;
}
