/* SPDX-License-Identifier: GPL-2.0 */
/* Compressing, by libzstd, if that was there when this was built. */
#ifndef _MCTRACE_COMPRESS_H
#define _MCTRACE_COMPRESS_H

#include <stdbool.h>
#include <stddef.h>

/* "zstd 1.5.4", or that it is not there. */
const char *compress_library(void);

struct compressor;		/* for one thread */

/* NULL if there is no library. */
struct compressor *compressor_new(void);
void compressor_free(struct compressor *compressor);
/* How much room to give for so many bytes, and how much of it was used: 0 if that failed. */
size_t compress_room(size_t size);
size_t compress_block(struct compressor *compressor, void *to, size_t room, const void *from,
		      size_t size);
/* False if it is not what becomes @size bytes. */
bool decompress_block(void *to, size_t size, const void *from, size_t compressed);

#endif /* _MCTRACE_COMPRESS_H */
