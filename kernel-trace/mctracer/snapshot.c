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
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/timex.h>

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
	shift = end - mctracer_stamp_delta(last->record.stamp, mctracer_stamp(end, 0)) - last->time;
	for (; first < copy->nr; first++)
		copy->list[first].time += shift;
}

/*
 * Copy the valid records of a ring, as many as there is room for. A writer that
 * laps the copy makes it go on an eighth of the ring ahead of the writer, where
 * it won't be lapped again at once.
 */
static void copy_ring(struct cpu_entries *copy, const struct mctracer_ring *ring,
		      const struct mctracer_silences *silences,
		      struct mctracer_ring_counts *sum)
{
	const u64 step = sizeof(struct mctracer_record);
	struct mctracer_ring_counts counts = mctracer_ring_counts(ring);
	u64 pos = counts.end - counts.entries * step;
	const struct mctracer_silence *silence;
	u64 previous = 0, time = 0;
	size_t segment = 0;

	for (; pos != counts.end && copy->nr < copy->room; pos += step) {
		struct entry *entry = &copy->list[copy->nr];

		silence = mctracer_silence_at(silences, pos);
		if (silence) {
			settle_times(copy, segment, silence->before);
			segment = copy->nr;
		}
		if (!mctracer_ring_read(ring, pos, &entry->record)) {
			counts = mctracer_ring_counts(ring);
			if (counts.end - pos > counts.entries * step)
				pos = counts.end - (counts.entries * 7 / 8 + 1) * step;
			continue;
		}
		if (copy->nr)
			time += mctracer_stamp_delta(previous, entry->record.stamp);
		entry->time = time;
		previous = entry->record.stamp;
		copy->nr++;
	}

	silence = mctracer_silence_at(silences, pos);
	settle_times(copy, segment,
		     silence ? silence->before : get_cycles() + MCTRACER_SILENCE_MARGIN);

	/* At rest nothing but what was overwritten is missing. */
	sum->written += counts.written;
	sum->entries += copy->nr;
	sum->overwritten += counts.written - copy->nr;
}

static bool alloc_entries(struct cpu_entries *copy, const struct mctracer_ring *ring)
{
	copy->room = mctracer_ring_counts(ring).entries;
	if (!copy->room)
		return true;
	copy->list = kvmalloc_array(copy->room, sizeof(*copy->list),
				    GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN);
	return copy->list;
}

struct mctracer_snapshot *mctracer_snapshot_take(void)
{
	struct mctracer_snapshot *snapshot;
	int cpu;

	snapshot = kvzalloc(struct_size(snapshot, cpus, nr_cpu_ids), GFP_KERNEL);
	if (!snapshot)
		return NULL;

	guard(mutex)(&mctracer_mutex);
	for_each_possible_cpu(cpu) {
		if (!alloc_entries(&snapshot->cpus[cpu], per_cpu_ptr(&mctracer_rings, cpu))) {
			mctracer_snapshot_free(snapshot);
			return NULL;
		}
	}
	mctracer_look();
	for_each_possible_cpu(cpu)
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
						     int *cpu)
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

	snapshot->cpus[*cpu].next++;
	return &oldest->record;
}

const struct mctracer_ring_counts *
mctracer_snapshot_counts(const struct mctracer_snapshot *snapshot)
{
	return &snapshot->counts;
}
