// SPDX-License-Identifier: GPL-2.0
/* Compress a file with zlib. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "gzip.h"
#include "util.h"

struct gzip {
	gzFile file;
	int error;		/* the first errno */
};

const char *gzip_library(void)
{
	static char name[32];

	snprintf(name, sizeof(name), "zlib %s", zlibVersion());
	return name;
}

struct gzip *gzip_begin(FILE *to)
{
	struct gzip *gzip = xcalloc(1, sizeof(*gzip));
	int fd = dup(fileno(to));		/* gzclose() closes it */

	if (fd < 0)
		die_errno("the output");
	gzip->file = gzdopen(fd, "wb");
	if (!gzip->file)
		die("not enough memory to compress");
	return gzip;
}

static void note_error(struct gzip *gzip)
{
	if (!gzip->error)
		gzip->error = errno ?: EIO;
}

void gzip_write(struct gzip *gzip, struct buffer *from)
{
	if (from->length && gzwrite(gzip->file, from->data, from->length) <= 0)
		note_error(gzip);
	from->length = 0;
}

bool gzip_end(struct gzip *gzip)
{
	int error;

	if (gzclose(gzip->file) != Z_OK)
		note_error(gzip);
	error = gzip->error;
	free(gzip);
	errno = error;
	return !error;
}
