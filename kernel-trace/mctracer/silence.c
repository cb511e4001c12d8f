// SPDX-License-Identifier: GPL-2.0
/* The list of a ring's silences; silence.h says what for. */
#include <linux/string.h>

#include "silence.h"

static void give_up_oldest(struct mctracer_silences *silences, struct mctracer_ring *ring)
{
	ring->floor = silences->list[0].pos;
	silences->nr--;
	memmove(&silences->list[0], &silences->list[1],
		silences->nr * sizeof(silences->list[0]));
}

void mctracer_silence_look(struct mctracer_silences *silences, struct mctracer_ring *ring,
			   u64 now)
{
	u64 head = mctracer_ring_end(ring);

	if (!ring->base)
		return;
	if (head != silences->seen || !silences->since) {
		silences->seen = head;
		silences->since = now;
		return;
	}
	/* signed: the clock may have been set back */
	if ((s64)(now - silences->since) < (s64)MCTRACER_SILENCE_MARGIN)
		return;

	if (silences->nr && silences->list[silences->nr - 1].pos == head) {
		silences->list[silences->nr - 1].after = now - MCTRACER_SILENCE_MARGIN;
		return;
	}
	if (silences->nr == MCTRACER_SILENCES)
		give_up_oldest(silences, ring);
	silences->list[silences->nr++] = (struct mctracer_silence) {
		.pos	= head,
		.before	= silences->since + MCTRACER_SILENCE_MARGIN,
		.after	= now - MCTRACER_SILENCE_MARGIN,
	};
}

void mctracer_silence_note_set_back(struct mctracer_silences *silences,
				    const struct mctracer_ring *ring)
{
	silences->set_back = mctracer_ring_end(ring);
}

void mctracer_silence_set_back(struct mctracer_silences *silences, struct mctracer_ring *ring)
{
	ring->floor = silences->set_back;
	*silences = (struct mctracer_silences) {};
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
