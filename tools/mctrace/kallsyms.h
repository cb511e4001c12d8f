/* SPDX-License-Identifier: GPL-2.0 */
/* What /proc/kallsyms says of functions. */
#ifndef _MCTRACE_KALLSYMS_H
#define _MCTRACE_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A line: its address, and where its name is. */
struct kallsyms_line {
	uint64_t address;
	const char *name;
	uint32_t name_length;
	uint32_t module_length;		/* behind the name is "\t[MODULE]"; 0: the kernel's own */
};

/* A line without its end; false if it is none, or no function's. */
bool kallsyms_parse(const char *text, size_t length, struct kallsyms_line *line);

/* The lines of functions; ends if addresses are hidden. */
char *kallsyms_read(void);
/* The same, and what tracer_modules() returned before and after; -1 if it keeps changing. */
char *kallsyms_read_at(int64_t *modules);
/* Of such text, the lines of modules. */
char *kallsyms_of_modules(const char *all);
/*
 * The same of a file: a copy of /proc/kallsyms, a System.map, what nm prints of a vmlinux, or the
 * vmlinux itself.
 */
char *kallsyms_read_file(const char *path);

#endif /* _MCTRACE_KALLSYMS_H */
