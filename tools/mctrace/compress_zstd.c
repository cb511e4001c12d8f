// SPDX-License-Identifier: GPL-2.0
/* Compress and decompress with libzstd. */
#include <stdio.h>
#include <stdlib.h>
#include <zstd.h>

#include "compress.h"
#include "util.h"

#define LEVEL	1	/* the fastest, because the kernel overwrites the rings meanwhile */

struct compressor {
	ZSTD_CCtx *context;
};

const char *compress_library(void)
{
	static char name[32];

	snprintf(name, sizeof(name), "zstd %s", ZSTD_versionString());
	return name;
}

struct compressor *compressor_new(void)
{
	struct compressor *compressor = xcalloc(1, sizeof(*compressor));

	compressor->context = ZSTD_createCCtx();
	if (!compressor->context)
		die("not enough memory to compress");
	return compressor;
}

void compressor_free(struct compressor *compressor)
{
	if (compressor)
		ZSTD_freeCCtx(compressor->context);
	free(compressor);
}

size_t compress_room(size_t size)
{
	return ZSTD_compressBound(size);
}

size_t compress_block(struct compressor *compressor, void *to, size_t room, const void *from,
		      size_t size)
{
	size_t used = ZSTD_compressCCtx(compressor->context, to, room, from, size, LEVEL);

	return ZSTD_isError(used) ? 0 : used;
}

bool decompress_block(void *to, size_t size, const void *from, size_t compressed)
{
	size_t frame = ZSTD_findFrameCompressedSize(from, compressed);	/* padding may follow */

	return !ZSTD_isError(frame) && ZSTD_decompress(to, size, from, frame) == size;
}
