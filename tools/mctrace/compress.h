/* SPDX-License-Identifier: GPL-2.0 */
/* Compress the data of recordings with libzstd, if mctrace was built with it. */
#ifndef _MCTRACE_COMPRESS_H
#define _MCTRACE_COMPRESS_H

#include <stdbool.h>
#include <stddef.h>

/* Return "zstd 1.5.4", or "without zstd". */
const char *compress_library(void);

struct compressor;		/* of one thread */

/* Return NULL if mctrace was built without libzstd. End mctrace without memory. */
struct compressor *compressor_new(void);
void compressor_free(struct compressor *compressor);
/* Return the room that compress_block() needs for @size bytes. */
size_t compress_room(size_t size);
/* Compress @size bytes into @to. Return the compressed size; 0 on failure. */
size_t compress_block(struct compressor *compressor, void *to, size_t room, const void *from,
		      size_t size);
/* Decompress into @to. Return false unless the result has exactly @size bytes. */
bool decompress_block(void *to, size_t size, const void *from, size_t compressed);

#endif /* _MCTRACE_COMPRESS_H */
