// SPDX-License-Identifier: GPL-2.0
/* Built without libzstd: compressing and decompressing always fail. */
#include "compress.h"

const char *compress_library(void)
{
	return "without zstd";
}

struct compressor *compressor_new(void)
{
	return NULL;
}

void compressor_free(struct compressor *compressor)
{
	(void)compressor;
}

size_t compress_room(size_t size)
{
	return size;
}

size_t compress_block(struct compressor *compressor, void *to, size_t room, const void *from,
		      size_t size)
{
	(void)compressor;
	(void)to;
	(void)room;
	(void)from;
	(void)size;
	return 0;
}

bool decompress_block(void *to, size_t size, const void *from, size_t compressed)
{
	(void)to;
	(void)size;
	(void)from;
	(void)compressed;
	return false;
}
