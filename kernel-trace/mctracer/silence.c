// SPDX-License-Identifier: GPL-2.0
/* The list of a ring's silences; silence.h says what for. */
#include <linux/string.h>

#include "silence.h"

static void give_up_oldest(struct mctracer_silences *silences, struct mctracer_ring *ring)
{
	WRITE_ONCE(ring->floor, silences->list[0].pos);
	silences->nr--;
	memmove(&silences->list[0], &silences->list[1],
		silences->nr * sizeof(silences->list[0]));
}

void mctracer_silence_look(struct mctracer_silences *silences, struct mctracer_ring *ring,
			   u64 now)
{
	u64 head = READ_ONCE(ring->head);
	struct mctracer_silence *last;

	if (head != silences->seen || !silences->since) {
		silences->seen = head;
		silences->since = now;
		return;
	}
	if (now - silences->since < MCTRACER_SILENCE_MARGIN)
		return;

	last = &silences->list[silences->nr - 1];
	if (!silences->nr || last->pos != head) {
		if (silences->nr == MCTRACER_SILENCES)
			give_up_oldest(silences, ring);
		last = &silences->list[silences->nr++];
		last->pos = head;
		last->before = silences->since + MCTRACER_SILENCE_MARGIN;
	}
	last->after = now - MCTRACER_SILENCE_MARGIN;
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
