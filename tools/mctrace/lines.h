/* SPDX-License-Identifier: GPL-2.0 */
/* Lines of source, by elfutils' libdw, if that was there when this was built. */
#ifndef _MCTRACE_LINES_H
#define _MCTRACE_LINES_H

#include <stddef.h>
#include <stdint.h>

/* "libdw 0.188", or that it is not there. */
const char *lines_library(void);

struct lines;

/*
 * Those of a vmlinux with debug information, whose _stext was at this address when it ran. Ends
 * if there are none, or if its build id is not @build_id, in hex, unless that is not known: NULL.
 */
struct lines *lines_open(const char *vmlinux, uint64_t stext, const char *build_id);
/* "fs/read_write.c:450", until the next call; NULL if it is not known. */
const char *line_of(struct lines *lines, uint64_t address);
/* The functions of a vmlinux, in lines as /proc/kallsyms has them. Ends if it has none. */
char *lines_functions(const char *vmlinux);
void lines_close(struct lines *lines);

#endif /* _MCTRACE_LINES_H */
