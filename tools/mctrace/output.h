/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The file that a command writes. It gets its name when it is complete: a command that fails leaves
 * the file of this name as it was.
 */
#ifndef _MCTRACE_OUTPUT_H
#define _MCTRACE_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

/*
 * Open @path; NULL, "-" or a name of standard output: standard output. Only one such file can be
 * open. End mctrace on failure, and if @path is a recording or rings, which was hardly meant.
 */
FILE *output_open(const char *path);
/* Write all of @file, close it, and give it its name. End mctrace on failure. */
void output_close(FILE *file, const char *path);

struct stat;

/* Remember that this command reads the file of @st: no output may replace it. */
void output_add_input(const struct stat *st);
/*
 * Return true if @path is "-", or names the pipe, socket or file that is standard output, such as
 * /dev/stdout.
 */
bool output_is_stdout(const char *path);
/* End mctrace with a reason if no output may be written to @path, or replace it. */
void output_check(const char *path);

#endif /* _MCTRACE_OUTPUT_H */
