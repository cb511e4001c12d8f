/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The file that a command writes. It gets its name when it is complete: a command that fails leaves
 * the file of this name as it was.
 */
#ifndef _MCTRACE_OUTPUT_H
#define _MCTRACE_OUTPUT_H

#include <stdio.h>

/*
 * Open @path; NULL or "-": standard output. Only one such file can be open. End mctrace on failure,
 * and if @path is a recording, which was hardly meant.
 */
FILE *output_open(const char *path);
/* Write all of @file, close it, and give it its name. End mctrace on failure. */
void output_close(FILE *file, const char *path);

#endif /* _MCTRACE_OUTPUT_H */
