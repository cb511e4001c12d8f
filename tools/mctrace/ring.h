/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Read one CPU's ring while the kernel writes it, through mmap as linux/mctracer.h describes. The
 * reader consumes nothing, and the kernel doesn't notice it.
 */
#ifndef _MCTRACE_RING_H
#define _MCTRACE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mctracer_ring_header;

struct ring {
	const struct mctracer_ring_header *header;	/* the mapping */
	const uint64_t *words;				/* the ring, behind the header */
	size_t mapped;
	uint64_t size;		/* of the ring, in bytes */
	uint64_t notes;		/* distance of sync points, in bytes */
	uint64_t start;		/* position of the first word to be shown */
	uint64_t pos;		/* position of the next word to copy */
};

/* Return true if this mctrace can read a ring with this header. */
bool ring_header_is_known(const struct mctracer_ring_header *header);
/* End mctrace, because the ring @name is of this other @version. */
void ring_die_version(const char *name, uint64_t version) __attribute__((noreturn));
/*
 * Map the ring of @cpu, and start at the last clear, or at the oldest sync point that is still
 * there. End mctrace on failure.
 */
void ring_open(struct ring *ring, int cpu);
void ring_close(struct ring *ring);

/*
 * ring_copy() - Copy up to @room new words into @words
 * @pos: set to the position of the first word
 *
 * Bit 63 is set in each whole word; a word that was reserved but never written becomes 0. Return
 * the number of words: 0 if there are no new ones. If the kernel has overtaken the reader, *@pos
 * does not follow the last word of the previous call.
 */
size_t ring_copy(struct ring *ring, uint64_t *words, size_t room, uint64_t *pos);

/* Return how many bytes of the ring were not copied yet. */
uint64_t ring_ahead(const struct ring *ring);

#endif /* _MCTRACE_RING_H */
