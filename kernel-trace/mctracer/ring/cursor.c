// SPDX-License-Identifier: GPL-2.0
/* Read events from a ring or a copy of one, and count a ring's events: see cursor.h. */
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "cursor.h"

#define WORD		MCTRACER_WORD_SIZE

/* Bytes to look ahead: each block has a time, unless a packet covers the block's beginning. */
#define LOOK_AHEAD	(3 * MCTRACER_COMPACT_BLOCK)

/* Return the position behind the last word. */
static u64 cursor_end(const struct mctracer_cursor *cursor)
{
	return cursor->copy ? cursor->copy->end : mctracer_ring_end(cursor->ring);
}

static enum mctracer_read cursor_read_word(const struct mctracer_cursor *cursor, u64 pos, u64 *word)
{
	const struct mctracer_copy *copy = cursor->copy;

	if (!copy)
		return mctracer_ring_read(cursor->ring, pos, word);
	*word = copy->words[mctracer_distance(copy->from, pos) / WORD];
	return *word & MCTRACER_WORD_VALID ? MCTRACER_READ_OK : MCTRACER_READ_UNCOMMITTED;
}

/*
 * Read the next word. Skip words that will never be committed, because their writers were overtaken
 * or are gone; a live cursor waits for a word until half a ring of words follows.
 */
static enum mctracer_read cursor_next_word(struct mctracer_cursor *cursor, u64 *word)
{
	enum mctracer_read ret;
	u64 end = cursor->walks ? cursor->to : cursor_end(cursor);

	for (; cursor->pos != end; cursor->pos = mctracer_position(cursor->pos + WORD)) {
		ret = cursor_read_word(cursor, cursor->pos, word);
		if (ret == MCTRACER_READ_OK)
			cursor->pos = mctracer_position(cursor->pos + WORD);
		if (ret != MCTRACER_READ_UNCOMMITTED)
			return ret;
		if (cursor->live && mctracer_distance(cursor->pos, end) <=
				    mctracer_ring_size(cursor->ring) / 2)
			break;
		cursor->called = false;		/* next frames may belong to the skipped word, */
		mctracer_tear_pending(&cursor->state);	/* and pending attributes, too */
	}
	return MCTRACER_READ_UNCOMMITTED;
}

/* Find the pace of the calls from the last time to the next, if the ring has that already. */
static void cursor_find_pace(struct mctracer_cursor *cursor)
{
	u64 pos = cursor->time_pos, end = cursor_end(cursor), word, time;
	u32 calls = 0;

	cursor->sure = false;
	mctracer_pace_set(&cursor->pace, 0);
	end = mctracer_position(pos + min_t(u64, mctracer_distance(pos, end), LOOK_AHEAD));
	for (; pos != end; pos = mctracer_position(pos + WORD)) {
		if (cursor_read_word(cursor, pos, &word) != MCTRACER_READ_OK)
			return;
		if (mctracer_word_counts(word))
			calls++;
		else if (mctracer_is_other_clock(&cursor->state, word))
			break;
		else if (mctracer_word_type(word) == MCTRACER_TIME && mctracer_word_data(word))
			break;
	}
	if (pos == end)
		return;
	cursor->sure = true;
	time = mctracer_word_data(word) << 1;
	if (!calls || mctracer_word_type(word) != MCTRACER_TIME || time < cursor->time)
		return;
	mctracer_pace_set(&cursor->pace, max(div_u64(time - cursor->time, calls), 1ULL));
}

static void cursor_take_time(struct mctracer_cursor *cursor)
{
	/*
	 * Forget the usual pace in each quarter, so that times don't depend on where reading began
	 * ...
	 */
	u64 changed = (cursor->time_pos ^ cursor->pos) & -cursor->quarter;

	/* ... nor on when: the next time may have been missing then. */
	if (!cursor->sure)
		cursor_find_pace(cursor);
	cursor->time = cursor->state.time;
	cursor->pace.usual = changed ? 0 : cursor->pace.next;
	cursor->time_pos = cursor->pos;
	cursor->calls_before = cursor->state.calls;
	cursor_find_pace(cursor);
}

static void cursor_set_ns(struct mctracer_cursor *cursor, u64 time)
{
	if (cursor->state.known & MCTRACER_KNOWS_CLOCK)
		cursor->ns = max(cursor->ns, mctracer_clock_ns(&cursor->state.clock, time));
}

/* Return the time of the call or return that was just decoded, in units of the clock. */
static u64 cursor_event_time(struct mctracer_cursor *cursor)
{
	bool timed = cursor->state.calls - 1 == cursor->calls_before;

	if (!cursor->sure)
		cursor_find_pace(cursor);
	cursor->exact = timed && cursor->timed;
	cursor->timed = timed;
	return cursor->time + (cursor->state.calls - 1 - cursor->calls_before) * cursor->pace.step;
}

static enum mctracer_found cursor_find_event(struct mctracer_cursor *cursor)
{
	enum mctracer_read ret;
	u64 word, calls;

	for (;;) {
		ret = cursor_next_word(cursor, &word);
		if (ret == MCTRACER_READ_OVERWRITTEN)
			return MCTRACER_FOUND_OVERWRITTEN;
		if (ret != MCTRACER_READ_OK)
			return MCTRACER_FOUND_NOTHING;
		calls = cursor->state.calls;
		switch (mctracer_decode(&cursor->state, word)) {
		case MCTRACER_EVENT_CALL:
			cursor_set_ns(cursor, cursor_event_time(cursor));
			cursor->called = true;
			return MCTRACER_FOUND_CALL;
		case MCTRACER_EVENT_RETURN:
			cursor_set_ns(cursor, cursor_event_time(cursor));
			cursor->called = true;
			return MCTRACER_FOUND_RETURN;
		case MCTRACER_EVENT_TIME:
			cursor_take_time(cursor);
			break;
		case MCTRACER_EVENT_COUNT:
			cursor->calls_before += cursor->state.calls - calls;
			break;
		case MCTRACER_EVENT_GAP:
			cursor_set_ns(cursor, cursor->time);
			return MCTRACER_FOUND_GAP;
		case MCTRACER_EVENT_FRAME:
			if (cursor->called)
				return MCTRACER_FOUND_FRAME;
			break;
		case MCTRACER_EVENT_MARK:
			cursor_set_ns(cursor, cursor->time);
			return MCTRACER_FOUND_MARK;
		default:
			break;
		}
	}
}

enum mctracer_found mctracer_cursor_next(struct mctracer_cursor *cursor)
{
	enum mctracer_found found = cursor_find_event(cursor);

	if (found != MCTRACER_FOUND_NOTHING && found != MCTRACER_FOUND_OVERWRITTEN) {
		cursor->after_cut = cursor->cut;
		cursor->cut = false;
	}
	return found;
}

bool mctracer_cursor_word(struct mctracer_cursor *cursor, u64 *word)
{
	return cursor_next_word(cursor, word) == MCTRACER_READ_OK;
}

/*
 * Set the cursor's state from the sync words at or behind its position: the words before them
 * belong to the task that they name. Return false if these words are not all there.
 */
static bool cursor_find_sync(struct mctracer_cursor *cursor)
{
	struct mctracer_cursor ahead = *cursor;
	struct mctracer_sync_words sync = {};
	u64 word;

	do {
		if (cursor_next_word(&ahead, &word) != MCTRACER_READ_OK)
			return false;
	} while (!mctracer_sync_take(&sync, word));

	cursor->state = mctracer_sync_state(&sync);
	cursor->time = cursor->state.time;
	cursor->calls_before = cursor->state.calls;
	cursor->time_pos = cursor->pos;
	cursor->sure = true;	/* calls before the first time have that time */
	return true;
}

/* Return the first sync point that is not overwritten, or the first position of a copy. */
static u64 cursor_first(const struct mctracer_cursor *cursor)
{
	return cursor->copy ? cursor->copy->from : mctracer_ring_oldest(cursor->ring);
}

void mctracer_cursor_begin(struct mctracer_cursor *cursor, const struct mctracer_ring *ring,
			   const struct mctracer_copy *copy, bool live, u64 pos, bool ahead)
{
	const u64 quarter = mctracer_ring_quarter(ring);
	enum mctracer_found found;
	u64 first, end, sync;

	for (;; ahead = true) {
		*cursor = (struct mctracer_cursor) {
			.ring = ring,
			.copy = copy,
			.live = live,
			.timed = true,
			.quarter = quarter,
		};
		first = cursor_first(cursor);
		end = cursor_end(cursor);
		if (mctracer_distance(pos, end) > mctracer_distance(first, end)) {
			if (ahead && mctracer_distance(first, end) > quarter)
				first = mctracer_position((first + quarter) & -quarter);
			pos = first;
		}
		sync = mctracer_position(pos & -quarter);
		if (mctracer_distance(sync, end) > mctracer_distance(first, end))
			sync = first;
		cursor->pos = sync;
		if (!cursor_find_sync(cursor)) {	/* the sync words will be written */
			cursor->pos = pos;
			cursor->state.calls = ring->read_calls;
			cursor->cut = ring->read_calls != ring->start_calls;
			return;
		}
		cursor->live = false;
		cursor->walks = true;
		cursor->to = pos;
		do {
			found = mctracer_cursor_next(cursor);
		} while (found != MCTRACER_FOUND_NOTHING && found != MCTRACER_FOUND_OVERWRITTEN);
		cursor->walks = false;
		cursor->called = false;
		cursor->cut = cursor->state.calls != ring->start_calls;
		cursor->live = live;
		if (found != MCTRACER_FOUND_OVERWRITTEN)
			return;
	}
}

/* Return the number of calls before the first position that can be read, and store it at @pos. */
static u64 ring_first_calls(const struct mctracer_ring *ring, u64 *pos)
{
	struct mctracer_cursor cursor = {};
	u64 oldest = mctracer_ring_oldest(ring), end = mctracer_ring_end(ring);

	*pos = ring->user.read;
	if (mctracer_distance(*pos, end) <= mctracer_distance(oldest, end))
		return ring->read_calls;
	cursor.ring = ring;
	cursor.pos = oldest;
	*pos = oldest;
	return cursor_find_sync(&cursor) ? cursor.state.calls : ring->read_calls;
}

struct mctracer_ring_counts mctracer_ring_counts(const struct mctracer_ring *ring)
{
	struct mctracer_ring_counts counts = {};
	u64 end_calls, end, pos;

	if (!ring->base)
		return counts;
	counts.lost = mctracer_ring_lost(ring) - ring->lost_before;
	counts.read = ring->nr_read;
	end_calls = mctracer_ring_end_calls(ring, &end);
	counts.entries = end_calls - ring_first_calls(ring, &pos);
	counts.overwritten = end_calls - ring->start_calls - counts.read - counts.entries;
	counts.written = end_calls - ring->start_calls + counts.lost;
	return counts;
}

void mctracer_ring_skip_overwritten(struct mctracer_ring *ring)
{
	u64 pos, calls;

	if (!ring->base)
		return;
	calls = ring_first_calls(ring, &pos);
	mctracer_ring_set_read(ring, pos, calls);
}
