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
	bool by_cycles;				/* what the times are of */
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

/* The ring as it was when it had no more than there is room for, with a note. */
static struct mctracer_ring_counts counts_within(const struct mctracer_ring *ring, size_t room)
{
	struct mctracer_ring_counts counts = mctracer_ring_counts(ring);
	u64 newer = counts.entries - min_t(u64, counts.entries, max(room, 1UL) - 1);

	counts.end -= newer * sizeof(struct mctracer_record);
	counts.written -= newer;
	counts.entries -= newer;
	return counts;
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
	struct mctracer_ring_counts counts = counts_within(ring, copy->room), now;
	u64 pos = counts.end - counts.entries * step;
	const struct mctracer_silence *silence;
	struct mctracer_record record, previous;
	u64 time = 0, missed = 0, from;
	size_t segment = 0, gaps = 0;

	for (; pos != counts.end && copy->nr + 1 < copy->room; pos += step) {
		mctracer_cond_resched();
		silence = mctracer_silence_at(silences, pos);
		if (silence) {
			settle_times(copy, segment, silence->before);
			segment = copy->nr;
		}
		if (!mctracer_ring_read(ring, pos, &record)) {
			from = pos;
			now = mctracer_ring_counts(ring);
			if (now.end - pos > now.entries * step) {
				counts = now;
				pos = counts.end - (counts.entries * 7 / 8 + 1) * step;
			}
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

/*
 * Ask for as much as the rings need now: more may be written before they are
 * copied, but nobody has to wait meanwhile for the tracer's mutex.
 */
static bool alloc_entries(struct mctracer_snapshot *snapshot, int only)
{
	struct cpu_entries *copy;
	size_t sum = 0;
	int cpu;

	mutex_lock(&mctracer_mutex);
	for_each_possible_cpu(cpu) {
		if (only != MCTRACER_ALL_CPUS && cpu != only)
			continue;
		copy = &snapshot->cpus[cpu];
		copy->room = mctracer_ring_counts(per_cpu_ptr(&mctracer_rings, cpu)).entries;
		if (copy->room)
			copy->room++;	/* for a note of a gap */
		sum += copy->room * sizeof(*copy->list);
	}
	mutex_unlock(&mctracer_mutex);
	if (!mctracer_memory_available(sum))
		return false;

	for_each_possible_cpu(cpu) {
		copy = &snapshot->cpus[cpu];
		if (!copy->room)
			continue;
		copy->list = kvmalloc_array(copy->room, sizeof(*copy->list),
					    GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN);
		if (!copy->list)
			return false;
	}
	return true;
}

struct mctracer_snapshot *mctracer_snapshot_take(int only)
{
	struct mctracer_snapshot *snapshot;
	int cpu;

	snapshot = kvzalloc(struct_size(snapshot, cpus, nr_cpu_ids),
			    GFP_KERNEL | __GFP_NOWARN);
	if (!snapshot)
		return NULL;
	if (!alloc_entries(snapshot, only)) {
		mctracer_snapshot_free(snapshot);
		return NULL;
	}

	guard(mutex)(&mctracer_mutex);
	mctracer_look();
	snapshot->by_cycles = mctracer_clock_is_cycles();
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
						     int *cpu, u64 *ns)
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

	*ns = mctracer_clock_ns(oldest->time, snapshot->by_cycles);
	snapshot->cpus[*cpu].next++;
	return &oldest->record;
}

const struct mctracer_ring_counts *
mctracer_snapshot_counts(const struct mctracer_snapshot *snapshot)
{
	return &snapshot->counts;
}
