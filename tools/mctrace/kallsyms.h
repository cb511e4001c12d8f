/* SPDX-License-Identifier: GPL-2.0 */
/* Read functions from /proc/kallsyms and similar files. */
#ifndef _MCTRACE_KALLSYMS_H
#define _MCTRACE_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A parsed line. The name is a part of the line. */
struct kallsyms_line {
	uint64_t address;
	const char *name;
	uint32_t name_length;
	uint32_t module_length;		/* "\t[MODULE]" follows the name; 0: no module */
};

/* Parse a line, without its newline. Return false if it is not a function's. */
bool kallsyms_parse(const char *text, size_t length, struct kallsyms_line *line);

/* Return the lines of functions in /proc/kallsyms, allocated. End mctrace if they are hidden. */
char *kallsyms_read(void);
/* As kallsyms_read(). Set *@modules to tracer_modules() then; -1 if it changes meanwhile. */
char *kallsyms_read_at(int64_t *modules);
/* Return a copy of the lines of modules in @all. */
char *kallsyms_of_modules(const char *all);
/*
 * Return the lines of functions in a file: a copy of /proc/kallsyms, a System.map, the output of nm
 * for a vmlinux, or a vmlinux. End mctrace if there are none.
 */
char *kallsyms_read_file(const char *path);

#endif /* _MCTRACE_KALLSYMS_H */
