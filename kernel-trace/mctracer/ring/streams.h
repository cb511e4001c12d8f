/* SPDX-License-Identifier: GPL-2.0 */
/* Merge the events of many rings in the order of their times. */
#ifndef _KERNEL_TRACE_MCTRACER_STREAMS_H
#define _KERNEL_TRACE_MCTRACER_STREAMS_H

#include <linux/errno.h>
#include <linux/slab.h>

#include "cursor.h"

/* All zeroes before mctracer_streams_alloc(). */
struct mctracer_streams {
	struct mctracer_stream *streams;	/* one for each ring */
	unsigned int nr_streams;
	/* A binary heap of the indices of streams that have a next event, the oldest first. */
	unsigned int *heap;
	unsigned int nr;
};

static inline void mctracer_streams_free(struct mctracer_streams *all)
{
	kvfree(all->streams);
	kvfree(all->heap);
	*all = (struct mctracer_streams) { };
}

/* Allocate @n zeroed streams. May sleep. Return 0, or -ENOMEM and leave @all zeroed. */
static inline int mctracer_streams_alloc(struct mctracer_streams *all, unsigned int n)
{
	*all = (struct mctracer_streams) {
		.streams = kvcalloc(n, sizeof(*all->streams), GFP_KERNEL | __GFP_NOWARN),
		.heap = kvcalloc(n, sizeof(*all->heap), GFP_KERNEL | __GFP_NOWARN),
		.nr_streams = n,
	};
	if (all->streams && all->heap)
		return 0;
	mctracer_streams_free(all);
	return -ENOMEM;
}

/* Build the heap. O(streams). */
void mctracer_streams_order(struct mctracer_streams *all);
/* Return the stream that has the oldest next event, or NULL if none has any. O(1). */
struct mctracer_stream *mctracer_streams_oldest(const struct mctracer_streams *all);
/* Move the oldest stream on to its next event, if there is one. O(log streams). */
void mctracer_streams_advance(struct mctracer_streams *all);
/* Put the oldest stream in its place after a caller has moved it on. O(log streams). */
void mctracer_streams_moved(struct mctracer_streams *all);

#endif /* _KERNEL_TRACE_MCTRACER_STREAMS_H */
