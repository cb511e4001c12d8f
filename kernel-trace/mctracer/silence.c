// SPDX-License-Identifier: GPL-2.0
/* The list of a ring's silences; silence.h says what for. */
#include <linux/minmax.h>
#include <linux/sched.h>
#include <linux/string.h>

#include "silence.h"

/* Even if there are none: who reads on at @pos must not count on from the one before. */
static void give_up_before(struct mctracer_ring *ring, u64 pos)
{
	ring->floor = pos;
	mctracer_ring_settle(ring);	/* makes room, where the oldest are kept */
}

static void give_up_oldest(struct mctracer_silences *silences, struct mctracer_ring *ring)
{
	give_up_before(ring, silences->list[0].pos);
	silences->nr--;
	memmove(&silences->list[0], &silences->list[1],
		silences->nr * sizeof(silences->list[0]));
}

/*
 * Is it too long from one record to the next, or back? Between two looks that are
 * not half a wrap apart, nothing can be too long.
 */
static bool is_leap(const struct mctracer_record *from, const struct mctracer_record *to,
		    s64 passed)
{
	u64 mask = mctracer_clock_mask(from) & mctracer_clock_mask(to);
	u64 delta = (mctracer_clock(to) - mctracer_clock(from)) & mask;

	if (passed >= 0 && passed < (s64)(mask / 2 - 2 * MCTRACER_SILENCE_MARGIN))
		return false;
	return delta > MCTRACER_SILENCE_MARGIN && delta < mask - MCTRACER_DISORDER;
}

/*
 * The position, among those before @to, of the record with the last leap before
 * it; the record before @from counts. False if there is none: then nobody found
 * the time to look, or what was recorded before the leap is overwritten, or
 * nothing was recorded after it yet.
 */
static bool find_leap(const struct mctracer_ring *ring, u64 from, u64 to,
		      s64 passed, u64 *found)
{
	const u64 step = sizeof(struct mctracer_record);
	u64 pos = to - min(to - from + step, mctracer_ring_size(ring));
	struct mctracer_record record, previous = {};
	bool any = false;

	for (; pos != to; pos += step) {
		mctracer_cond_resched();
		if (!mctracer_ring_read(ring, pos, &record))
			continue;
		if (previous.ip && is_leap(&previous, &record, passed)) {
			*found = pos;
			any = true;
		}
		previous = record;
	}
	return any;
}

bool mctracer_silence_give_up(struct mctracer_silences *silences, struct mctracer_ring *ring)
{
	if (!silences->set_back)
		return false;
	silences->set_back = false;
	silences->nr = 0;
	give_up_before(ring, silences->seen);
	return true;
}

bool mctracer_silence_look(struct mctracer_silences *silences, struct mctracer_ring *ring,
			   u64 now)
{
	s64 passed = silences->looked ? now - silences->looked : 0;
	bool back = passed < -MCTRACER_DISORDER;
	bool slept = back || passed > MCTRACER_SLEEP;
	u64 head = mctracer_ring_end(ring);
	u64 seen = silences->seen, pos;

	if (!ring->base)
		return false;
	silences->looked = now;
	if (head != seen || !silences->since) {
		bool leapt = slept && find_leap(ring, seen, head, passed, &pos);
		bool given_up = mctracer_silence_give_up(silences, ring);

		silences->seen = head;
		silences->since = now;
		if (leapt) {
			silences->nr = 0;
			give_up_before(ring, pos);
		} else if (back && !given_up && head - seen < mctracer_ring_size(ring)) {
			silences->set_back = true;	/* all are from before */
		}
		return leapt || given_up;
	}
	if (back) {
		silences->set_back = true;
		silences->since = now;
	}
	/* signed: see MCTRACER_DISORDER */
	if ((s64)(now - silences->since) < (s64)MCTRACER_SILENCE_MARGIN)
		return false;

	if (silences->nr && silences->list[silences->nr - 1].pos == head) {
		silences->list[silences->nr - 1].after = now - MCTRACER_SILENCE_MARGIN;
		return false;
	}
	if (silences->nr == MCTRACER_SILENCES)
		give_up_oldest(silences, ring);
	silences->list[silences->nr++] = (struct mctracer_silence) {
		.pos	= head,
		.before	= silences->since + MCTRACER_SILENCE_MARGIN,
		.after	= now - MCTRACER_SILENCE_MARGIN,
	};
	return false;
}

const struct mctracer_silence *mctracer_silence_at(const struct mctracer_silences *silences,
						   u64 pos)
{
	int i;

	for (i = 0; i < silences->nr; i++)
		if (silences->list[i].pos == pos)
			return &silences->list[i];
	return NULL;
}

const struct mctracer_silence *mctracer_silence_within(const struct mctracer_silences *silences,
						       u64 from, u64 to)
{
	int i;

	for (i = 0; i < silences->nr; i++)
		if (silences->list[i].pos - from - 1 < to - from)
			return &silences->list[i];
	return NULL;
}
