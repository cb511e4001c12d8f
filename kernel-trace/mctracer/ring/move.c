// SPDX-License-Identifier: GPL-2.0
/* Move a ring's words to other memory, larger or smaller. */
#include <linux/stddef.h>
#include <linux/string.h>

#include "cursor.h"
#include "words.h"

/* The most words of a packet that does not begin with a call. */
#define PACKET_MAX	(2 + MCTRACER_ARGS * MCTRACER_VALUE_WORDS + \
			 MCTRACER_OBJECTS + MCTRACER_DATA_WORDS + MCTRACER_FRAMES_MAX)

/* Return true if @word is not the first one of its packet. */
static bool move_is_continuation(u64 word)
{
	return mctracer_word_precedes_event(word) ||
	       mctracer_word_is_meta(word, MCTRACER_FRAME);
}

/*
 * Append @word, before which a reader has @state. Each packet lies in one quarter, and each quarter
 * begins with sync words.
 */
static void move_append(struct mctracer_ring *ring, const struct mctracer_state *state, u64 word)
{
	const u64 quarter = mctracer_ring_quarter(ring);
	u64 sync[MCTRACER_SYNC_WORDS], at;
	bool call = mctracer_word_counts(word);
	bool begins = call || !move_is_continuation(word);
	/* The first words of a packet have made room for its last one, a call or a mark. */
	bool first = begins && !call && !mctracer_word_is_meta(word, MCTRACER_MARK);
	unsigned int n, i;

	while (first && (-ring->user.head & (quarter - 1)) &&
	       (-ring->user.head & (quarter - 1)) < PACKET_MAX * MCTRACER_WORD_SIZE)
		mctracer_ring_put_at_rest(ring, mctracer_word(MCTRACER_TIME, 0));
	at = mctracer_position(ring->user.head & -quarter);
	if (begins && at != ring->sync_at) {
		n = mctracer_compose_sync_words(state, sync);
		for (i = 0; i < n; i++)
			mctracer_ring_put_at_rest(ring, sync[i]);
		ring->sync_at = at;
	}
	mctracer_ring_put_at_rest(ring, word);
	if (mctracer_word_is_meta(word, MCTRACER_MARK))
		ring->marked = mctracer_position(ring->user.head);
}

static void move_append_all(struct mctracer_ring *new, const struct mctracer_ring *ring)
{
	struct mctracer_cursor cursor = {};
	u64 word;

	mctracer_cursor_begin(&cursor, ring, NULL, false, ring->user.read, false);
	new->meta = -cursor.state.calls;
	new->user.head |= new->meta << MCTRACER_POSITION_BITS;
	new->user.start_calls = cursor.state.calls;
	new->read_calls = cursor.state.calls;
	while (mctracer_cursor_word(&cursor, &word)) {
		mctracer_cond_resched();
		move_append(new, &cursor.state, word);
		mctracer_decode(&cursor.state, word);
	}
}

/*
 * Overwrite @ring with @new, except for the count of lost calls: the ring's CPU may be counting
 * lost calls meanwhile, but does nothing else.
 */
static void move_take_over(struct mctracer_ring *ring, const struct mctracer_ring *new)
{
	const size_t lost = offsetof(struct mctracer_ring, user.lost);
	const size_t behind = lost + sizeof(ring->user.lost);

	memcpy(ring, new, lost);
	memcpy((void *)ring + behind, (const void *)new + behind, sizeof(*ring) - behind);
}

void mctracer_ring_move(struct mctracer_ring *ring, struct mctracer_ring *new)
{
	void *base = ring->base;
	u64 mask = ring->mask;

	if (!base) {
		move_take_over(ring, new);
		new->base = NULL;
		return;
	}

	move_append_all(new, ring);
	new->moves = ring->moves + 1;
	new->lost_reported = ring->lost_reported;
	new->lost_before = ring->lost_before;
	new->nr_read = ring->nr_read;
	new->start_calls = ring->start_calls;
	new->renew = true;
	new->hole = ring->hole;
	new->clock = ring->clock;
	move_take_over(ring, new);
	new->base = base;
	new->mask = mask;
	mctracer_ring_skip_overwritten(ring);
}
