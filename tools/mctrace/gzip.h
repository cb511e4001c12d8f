/* SPDX-License-Identifier: GPL-2.0 */
/* Compress a file by gzip, if mctrace was built with zlib; if not, write it as it is. */
#ifndef _MCTRACE_GZIP_H
#define _MCTRACE_GZIP_H

#include <stdbool.h>
#include <stdio.h>

#include "buffer.h"

/* Return "zlib 1.2.13", or "without zlib". */
const char *gzip_library(void);

struct gzip;

/* Write to @to, which nothing else may write to until gzip_end(). End mctrace on failure. */
struct gzip *gzip_begin(FILE *to);
/* Write the contents of @from, and empty it. */
void gzip_write(struct gzip *gzip, struct buffer *from);
/* Return false and set errno if anything was not written. @to stays open. */
bool gzip_end(struct gzip *gzip);

#endif /* _MCTRACE_GZIP_H */
