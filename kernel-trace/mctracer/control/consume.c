// SPDX-License-Identifier: GPL-2.0
/* Consume the events of all CPUs, oldest first: see consume.h. */
#include <linux/cleanup.h>
#include <linux/cpumask.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/slab.h>

#include "../record/record.h"
#include "../ring/cursor.h"
#include "../ring/ring.h"
#include "../ring/streams.h"
#include "consume.h"
#include "control.h"

/* Indexed by CPU. This and what follows: under mctracer_mutex. */
static struct mctracer_streams all;
static unsigned int nr_rings;	/* how many have memory */
static u64 horizon;	/* when the current reader began, in ns */
static bool live;	/* uncommitted words will be committed */

int mctracer_consume_prepare(void)
{
	guard(mutex)(&mctracer_mutex);
	return all.streams ? 0 : mctracer_streams_alloc(&all, nr_cpu_ids);
}

/* Overwritten calls are reported once, because the caller then moves user.read past them. */
u64 mctracer_consume_from(struct mctracer_cursor *cursor, const struct mctracer_ring *ring,
			  bool live, bool ahead)
{
	mctracer_cursor_begin(cursor, ring, NULL, live, ring->user.read, ahead);
	if (cursor->pos == ring->user.read || !(cursor->state.known & MCTRACER_KNOWS_COUNT))
		return 0;
	return cursor->state.calls - ring->read_calls;
}

/* Return true if the cursor of @stream stands at the next word to consume of @ring. */
static bool consume_stream_is_current(const struct mctracer_stream *stream,
				      const struct mctracer_ring *ring)
{
	return stream->moves == ring->moves && stream->cursor.pos == ring->user.read &&
	       stream->cursor.state.known & MCTRACER_KNOWS_COUNT;
}

/*
 * Until the next time is known, an event's time is estimated from the pace of the calls before. It
 * may lie ahead, and would keep the event back; but the event has happened. So limit it to now.
 */
static void consume_limit_time(struct mctracer_cursor *cursor)
{
	struct mctracer_clock clock;
	u64 time;

	if (!live || cursor->sure || cursor->ns <= horizon)
		return;
	time = mctracer_clock_read(&clock);
	cursor->ns = min(cursor->ns, mctracer_clock_ns(&clock, time));
}

/* Find the next event of @cpu, unless the stream has it already. */
static void consume_look(int cpu)
{
	struct mctracer_ring *ring = per_cpu_ptr(&mctracer_rings, cpu);
	struct mctracer_stream *stream = &all.streams[cpu];
	struct mctracer_cursor *cursor = &stream->cursor;
	bool again = false;

	if (!ring->base)
		return;
	if (stream->found != MCTRACER_FOUND_NOTHING && stream->begin == ring->user.read &&
	    stream->moves == ring->moves)
		return;
	stream->begin = ring->user.read;
	stream->missed = 0;
	stream->found = MCTRACER_FOUND_OVERWRITTEN;
	if (consume_stream_is_current(stream, ring)) {
		cursor->live = live;
		stream->found = mctracer_cursor_next(cursor);
	}
	stream->moves = ring->moves;
	while (stream->found == MCTRACER_FOUND_OVERWRITTEN) {
		stream->missed = mctracer_consume_from(cursor, ring, live, again);
		stream->from = cursor->pos;
		stream->from_calls = cursor->state.calls;
		stream->found = MCTRACER_FOUND_NOTHING;
		if (cursor->state.known & MCTRACER_KNOWS_COUNT)
			stream->found = mctracer_cursor_next(cursor);
		again = true;
	}
	consume_limit_time(cursor);
	if (stream->found == MCTRACER_FOUND_NOTHING && !stream->missed &&
	    cursor->state.known & MCTRACER_KNOWS_COUNT)
		mctracer_ring_set_read(ring, cursor->pos, cursor->state.calls);
}

int mctracer_consume_begin(void)
{
	struct mctracer_clock clock;
	u64 time;
	int cpu, ret = mctracer_lock_to_copy();

	if (ret)
		return ret;
	live = mctracer_may_commit();
	time = mctracer_clock_read(&clock);
	horizon = mctracer_clock_ns(&clock, time);
	nr_rings = 0;
	for_each_possible_cpu(cpu) {
		consume_look(cpu);
		nr_rings += !!per_cpu(mctracer_rings, cpu).base;
	}
	mctracer_streams_order(&all);
	return 0;
}

void mctracer_consume_end(void)
{
	mctracer_unlock_copied();
}

const struct mctracer_stream *mctracer_consume_next(int *cpu)
{
	struct mctracer_stream *oldest = mctracer_streams_oldest(&all);

	/* While the tracer runs, a ring that was empty at the horizon may have older events now. */
	if (!oldest || (live && all.nr < nr_rings && oldest->cursor.ns > horizon))
		return NULL;
	*cpu = oldest - all.streams;
	return oldest;
}

bool mctracer_consume_chain(void)
{
	const struct mctracer_stream *next;
	int cpu;

	next = mctracer_consume_next(&cpu);
	return next && next->found == MCTRACER_FOUND_FRAME;
}

void mctracer_consume_take(int cpu)
{
	struct mctracer_ring *ring = per_cpu_ptr(&mctracer_rings, cpu);
	struct mctracer_stream *stream = &all.streams[cpu];

	if (stream->missed) {
		mctracer_ring_set_read(ring, stream->from, stream->from_calls);
		stream->begin = stream->from;
		stream->missed = 0;
		return;
	}
	if (stream->found == MCTRACER_FOUND_CALL || stream->found == MCTRACER_FOUND_RETURN)
		ring->nr_read++;
	stream->found = MCTRACER_FOUND_NOTHING;
	mctracer_ring_set_read(ring, stream->cursor.pos, stream->cursor.state.calls);
	consume_look(cpu);
	mctracer_streams_moved(&all);
}

/* Return true if @ring has calls or a mark. On 32-bit, marked may be torn: callers check again. */
static bool consume_ring_has_events(const struct mctracer_ring *ring)
{
	u64 end, calls = mctracer_ring_end_calls(ring, &end), read = READ_ONCE(ring->user.read);

	if (read == end)	/* also if the last words were never committed */
		return false;
	return calls != READ_ONCE(ring->read_calls) ||
	       mctracer_distance(read, READ_ONCE(ring->marked)) - 1 < mctracer_distance(read, end);
}

bool mctracer_anything_to_consume(int only)
{
	const struct mctracer_ring *ring;
	int cpu;

	for_each_possible_cpu(cpu) {
		ring = per_cpu_ptr(&mctracer_rings, cpu);
		if (only != MCTRACER_ALL_CPUS && cpu != only)
			continue;
		if (READ_ONCE(ring->base) && consume_ring_has_events(ring))
			return true;
	}
	return false;
}
