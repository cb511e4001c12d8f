// SPDX-License-Identifier: GPL-2.0
/*
 * Merge the events of many rings in the order of their times, by a binary heap: finding the next
 * event costs the logarithm of the number of rings.
 */
#include <linux/minmax.h>

#include "streams.h"

/* Return true if the next event of stream @a precedes that of stream @b. */
static bool stream_precedes(const struct mctracer_streams *all, unsigned int a, unsigned int b)
{
	const struct mctracer_stream *x = &all->streams[a], *y = &all->streams[b];

	/* The frames of a call follow it before events of other CPUs. */
	if (x->found == MCTRACER_FOUND_FRAME || y->found == MCTRACER_FOUND_FRAME)
		return y->found != MCTRACER_FOUND_FRAME;
	return x->cursor.ns != y->cursor.ns ? x->cursor.ns < y->cursor.ns : a < b;
}

/* Move the entry at @i of the heap down to its place. */
static void stream_sift_down(struct mctracer_streams *all, unsigned int i)
{
	unsigned int *heap = all->heap, child;

	for (; (child = 2 * i + 1) < all->nr; i = child) {
		if (child + 1 < all->nr && stream_precedes(all, heap[child + 1], heap[child]))
			child++;
		if (!stream_precedes(all, heap[child], heap[i]))
			break;
		swap(heap[i], heap[child]);
	}
}

void mctracer_streams_order(struct mctracer_streams *all)
{
	unsigned int i;

	all->nr = 0;
	for (i = 0; i < all->nr_streams; i++)
		if (all->streams[i].found != MCTRACER_FOUND_NOTHING)
			all->heap[all->nr++] = i;
	for (i = all->nr / 2; i; i--)
		stream_sift_down(all, i - 1);
}

struct mctracer_stream *mctracer_streams_oldest(const struct mctracer_streams *all)
{
	return all->nr ? &all->streams[all->heap[0]] : NULL;
}

void mctracer_streams_moved(struct mctracer_streams *all)
{
	if (all->streams[all->heap[0]].found == MCTRACER_FOUND_NOTHING)
		all->heap[0] = all->heap[--all->nr];
	stream_sift_down(all, 0);
}

void mctracer_streams_advance(struct mctracer_streams *all)
{
	struct mctracer_stream *oldest = mctracer_streams_oldest(all);

	oldest->found = mctracer_cursor_next(&oldest->cursor);
	mctracer_streams_moved(all);
}
