/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Source lines of addresses, by elfutils' libdw. lines_none.c replaces it in a build without libdw.
 */
#ifndef _MCTRACE_LINES_H
#define _MCTRACE_LINES_H

#include <stddef.h>
#include <stdint.h>

/* lines_library() - Return "libdw 0.188", or "without libdw" */
const char *lines_library(void);

struct lines;

/*
 * lines_open() - Open a vmlinux with debug information
 * @stext: the address of _stext when that kernel ran
 * @build_id: in hex; NULL or "" if not known
 *
 * End mctrace if @vmlinux has no debug information, or has another build id than @build_id.
 */
struct lines *lines_open(const char *vmlinux, uint64_t stext, const char *build_id);
/* Return "fs/read_write.c:450", valid until the next call; NULL if the line is not known. */
const char *line_of(struct lines *lines, uint64_t address);
/*
 * Return the functions of a vmlinux in the format of /proc/kallsyms; the caller frees the text. End
 * mctrace if @vmlinux can't be read.
 */
char *lines_functions(const char *vmlinux);
void lines_close(struct lines *lines);

#endif /* _MCTRACE_LINES_H */
