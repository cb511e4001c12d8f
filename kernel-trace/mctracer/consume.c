// SPDX-License-Identifier: GPL-2.0
/*
 * Taking the records of all CPUs away, the oldest first.
 *
 * All readers share what there is: between mctracer_consume_begin() and _end()
 * one of them looks at the next record of each CPU, uses the oldest, and only
 * then takes it. A reader that is killed has taken nothing that it did not use.
 * In between there are no page faults: what user space has not got there fails.
 */
#include <linux/cpumask.h>
#include <linux/percpu.h>

#include "mctracer.h"

#define RECORD_SIZE	sizeof(struct mctracer_record)

/* Under the tracer's mutex. */
struct cursor {
	/* Where this reader is, and whether it has been there before. */
	enum { UNKNOWN, NOTHING, PEEKED } state;
	bool again;
	struct mctracer_record record;
	u64 time;

	/* The record taken last, by any reader of this kind. */
	u64 last_pos;
	struct mctracer_record last;
	u64 last_time;
};

static DEFINE_PER_CPU(struct cursor, cursors);
static bool live;	/* under the mutex: records may be coming */
static u64 horizon;	/* under the mutex: when this reader began */

int mctracer_consume_begin(void)
{
	int cpu, ret;

	ret = mctracer_lock_to_copy();
	if (ret)
		return ret;
	mctracer_look();
	live = mctracer_is_live();
	horizon = mctracer_clock_now();
	for_each_possible_cpu(cpu) {
		per_cpu_ptr(&cursors, cpu)->state = UNKNOWN;
		per_cpu_ptr(&cursors, cpu)->again = false;
	}
	return 0;
}

void mctracer_consume_end(void)
{
	mctracer_unlock_copied();
}

/*
 * When was the record at @pos written? It is one of a row of records, each less
 * than half a wrap of the clock after the one before, that ends now or at a
 * silence (silence.h). To be called where the row was left or broken only.
 */
static u64 find_time(const struct mctracer_ring *ring, const struct mctracer_silences *silences,
		     u64 pos, struct mctracer_record previous)
{
	u64 end = mctracer_ring_end(ring), bound = mctracer_clock_now() + MCTRACER_SILENCE_MARGIN;
	const struct mctracer_silence *silence;
	struct mctracer_record record;
	u64 distance = 0;

	for (pos += RECORD_SIZE; pos != end; pos += RECORD_SIZE) {
		mctracer_cond_resched();
		silence = mctracer_silence_at(silences, pos);
		if (silence) {
			bound = silence->before;
			break;
		}
		if (!mctracer_ring_read(ring, pos, &record))
			continue;
		distance += mctracer_cycles_between(&previous, &record);
		previous = record;
	}
	return bound - mctracer_cycles_until(&previous, bound, U64_MAX) - distance;
}

/*
 * The same for a record that is known to be from between the one taken last and
 * now, if that is far less than half a wrap. find_time() goes through the ring, and
 * a reader that is overtaken would be overtaken again meanwhile. False if nothing
 * was taken for so long, or the clock may have been set back since.
 */
static bool find_recent_time(struct cursor *cursor)
{
	u64 now = mctracer_clock_now();
	u64 bound = now + MCTRACER_SILENCE_MARGIN;

	cursor->time = bound - mctracer_cycles_until(&cursor->record, bound, U64_MAX);
	return cursor->last_time && now - cursor->last_time < MCTRACER_SILENCE_MARGIN &&
	       cursor->time - cursor->last_time <= now - cursor->last_time;
}

static void peek(struct cursor *cursor, int cpu)
{
	const struct mctracer_silences *silences = per_cpu_ptr(&mctracer_silences, cpu);
	struct mctracer_ring *ring = per_cpu_ptr(&mctracer_rings, cpu);
	bool again = cursor->again;

	cursor->state = NOTHING;
	cursor->again = true;
	if (!ring->base || !mctracer_ring_peek(ring, &cursor->record, live, again))
		return;

	cursor->state = PEEKED;
	if (cursor->last_pos + RECORD_SIZE == ring->user.read && cursor->last_time &&
	    ring->user.read != ring->floor && !mctracer_silence_at(silences, ring->user.read))
		cursor->time = cursor->last_time +
			       mctracer_cycles_between(&cursor->last, &cursor->record);
	else if (!find_recent_time(cursor))
		cursor->time = find_time(ring, silences, ring->user.read, cursor->record);
}

bool mctracer_consume_next(struct mctracer_next *next)
{
	struct cursor *cursor, *oldest = NULL;
	bool nothing = false;
	int cpu;

	for_each_possible_cpu(cpu) {
		cursor = per_cpu_ptr(&cursors, cpu);
		if (cursor->state == UNKNOWN)
			peek(cursor, cpu);
		if (cursor->state == NOTHING)
			nothing = true;
		if (cursor->state == PEEKED && (!oldest || cursor->time < oldest->time)) {
			oldest = cursor;
			next->cpu = cpu;
		}
	}
	/* A CPU that had nothing may have got something since, and older. */
	if (!oldest || (nothing && oldest->time > horizon))
		return false;

	next->record = oldest->record;
	next->ns = mctracer_clock_ns(oldest->time, mctracer_clock_is_cycles());
	next->missed = per_cpu_ptr(&mctracer_rings, next->cpu)->missed;
	return true;
}

void mctracer_consume_take(const struct mctracer_next *next)
{
	struct mctracer_ring *ring = per_cpu_ptr(&mctracer_rings, next->cpu);
	struct cursor *cursor = per_cpu_ptr(&cursors, next->cpu);

	cursor->state = UNKNOWN;
	cursor->last_pos = ring->user.read;
	cursor->last = next->record;
	cursor->last_time = cursor->time;
	mctracer_ring_consume(ring);
}

void mctracer_consume_forget_times(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		per_cpu_ptr(&cursors, cpu)->last_time = 0;
}

void mctracer_consume_told(const struct mctracer_next *next)
{
	per_cpu_ptr(&mctracer_rings, next->cpu)->missed = 0;
}

bool mctracer_anything_to_consume(int only)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		const struct mctracer_ring *ring = per_cpu_ptr(&mctracer_rings, cpu);

		if (only != MCTRACER_ALL_CPUS && cpu != only)
			continue;
		if (READ_ONCE(ring->base) && mctracer_ring_end(ring) != READ_ONCE(ring->user.read))
			return true;
	}
	return false;
}
