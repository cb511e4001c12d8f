/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Internal interface of the files that open recordings: recording_open.c, recording_read.c and
 * recording_raw.c.
 */
#ifndef _MCTRACE_RECORDING_PARTS_H
#define _MCTRACE_RECORDING_PARTS_H

#include <stddef.h>

#include "recording.h"

/* --- recording_read.c --- */

/* Fill @from with the chunks of its mapped file. */
void recording_find_chunks(struct recording *from);
/* Add a chunk's words, of which @size bytes are present. @words must stay valid. */
void recording_add_words(struct recording *from, const struct recording_chunk *chunk,
			 const uint64_t *words, uint64_t size);
void recording_add_info(struct recording *from, const char *text, size_t size);
/* Free @memory when the recording is closed. */
void recording_own(struct recording *from, void *memory);
/* Record what is wrong with the file from offset @at on, and why reading stops. */
void recording_note_damage(struct recording *from, uint64_t at, const char *what);

/* --- recording_raw.c --- */

enum raw_kind {
	RAW_NONE,
	RAW_RINGS,	/* a header and a ring, once or several times */
	RAW_WORDS,	/* words without a header */
};

/* Return which kind of kernel file begins with these bytes. */
enum raw_kind raw_kind(const void *head, size_t size);
/* Fill @from with the words of its mapped file. */
void recording_find_rings(struct recording *from, enum raw_kind kind);
/*
 * Fill @from with a copy of a mapped kernel ring. Return false if @fd can't be mapped, or is no
 * ring.
 */
bool recording_map_ring(struct recording *from, int fd);
/*
 * Fill @from with copies of all rings in the tracer's folder. Return false if @folder has no rings.
 */
bool recording_map_rings(struct recording *from, int folder);

#endif /* _MCTRACE_RECORDING_PARTS_H */
