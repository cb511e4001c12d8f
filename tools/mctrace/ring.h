/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One CPU's ring, followed by mmap as linux/mctracer.h describes it: nothing is taken away,
 * and the kernel does not notice.
 */
#ifndef _MCTRACE_RING_H
#define _MCTRACE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mctracer_ring_header;

struct ring {
	const struct mctracer_ring_header *header;	/* mapped, with ... */
	const uint64_t *words;				/* ... the ring behind it */
	size_t mapped;
	uint64_t size;		/* of the ring, bytes */
	uint64_t notes;		/* task and so on are said again at multiples of this */
	uint64_t start;		/* the position where what is shown begins */
	uint64_t pos;		/* of the next word to be copied */
};

/* Return true if this mctrace can read a ring with this header. */
bool ring_header_is_known(const struct mctracer_ring_header *header);
/* Maps it, and goes to the last clear, or as near to it as is still there. Ends if it can't. */
void ring_open(struct ring *ring, int cpu);
void ring_close(struct ring *ring);

/*
 * Copies words that are there, at most @room, with bit 63 as in whole words; those that are
 * never written become 0. Returns how many: 0 if there is nothing new. *@pos is that of the
 * first, which does not follow the last one of before if the kernel has overtaken.
 */
size_t ring_copy(struct ring *ring, uint64_t *words, size_t room, uint64_t *pos);

/* Bytes that are there and not copied yet. */
uint64_t ring_ahead(const struct ring *ring);

#endif /* _MCTRACE_RING_H */
