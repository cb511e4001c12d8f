/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names of addresses, as the kernel's %pS prints them, from the copy of /proc/kallsyms in the
 * recording.
 */
#ifndef _MCTRACE_SYMBOLS_H
#define _MCTRACE_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recording.h"

/*
 * The symbol of a recorded address. symbol_of() returns the same pointer for an address until
 * another module takes its place.
 */
struct symbol {
	uint32_t address;	/* low 32 bits */
	uint64_t at;		/* in a module: as in symbols_at(); else 0 */
	uint32_t function;	/* begin of function, low 32 bits; 0: not known, or a cold part */
	uint32_t id;		/* of the function; a cold part has its function's */
	uint32_t sum_id;	/* of the function in symbols_sums() */
	uint32_t length;
	bool is_entry;		/* enters from or leaves to user space, or begins a thread */
	bool is_interrupt;	/* entry of an interrupt: of a device, a timer or a CPU */
	bool is_syscall;	/* a system call's function: always the outermost call */
	bool is_last;		/* the task ends in it */
	bool is_schedule;	/* the task sleeps in it, or lets others run */
	bool is_switched_in;	/* the first call of a task that is switched in */
	const char *text;	/* "vfs_read+0x5/0x270", "ext4_map_blocks+0x5/0x90 [ext4]" */
	const char *name;	/* "vfs_read" */
	const char *title;	/* name with the module: "ext4_map_blocks [ext4]" */
};

struct functions;
struct symbols;

/* @sums: functions of several recordings by name, to which this recording's are added; or NULL. */
struct symbols *symbols_of(const struct recording *from, struct functions *sums);
/* Append the source line to the text of each symbol, if @vmlinux has the line. */
void symbols_show_lines(struct symbols *symbols, const char *vmlinux, const char *build_id);
/*
 * symbols_at() - Use the names of one point in time from now on
 * @at: how many of the recording's symbol tables precede the event; or SYMBOLS_AT_MODULES plus the
 * event's MCTRACER_MODULES, if known
 *
 * Modules come and go, so an address may have other names before and after. With
 * SYMBOLS_AT_MODULES, a module's function has a name only if the table of that time has it, or if
 * both the table before and the table after have it and its module did not go in between.
 */
#define SYMBOLS_AT_MODULES	0x100000000ULL
void symbols_at(struct symbols *symbols, uint64_t at);
const struct symbol *symbol_of(struct symbols *symbols, uint32_t address);
/* Return how many functions were met so far: ids are less than that. */
size_t symbols_functions(const struct symbols *symbols);
/*
 * Return true if @title, a function's name or title, matches @asked: "foo" or "foo[module]". Copies
 * and parts that gcc makes, such as "foo.constprop.0", match foo, too.
 */
bool is_named(const char *title, const char *asked);
/*
 * Return true if @title is named @pattern, or matches it: "foo*", "foo*[module]" or "mod:module",
 * which may have globs.
 */
bool is_matched(const char *title, const char *pattern);
/* Return the functions that commands sum up by: @sums of symbols_of(), or this recording's own. */
const struct functions *symbols_sums(const struct symbols *symbols);
const char *symbols_name(const struct symbols *symbols, uint32_t id);
/* Return the name with the module, which distinguishes functions of two modules. */
const char *symbols_title(const struct symbols *symbols, uint32_t id);
uint64_t symbols_address(const struct symbols *symbols, uint32_t id);
/* Call @fn for each symbol of all tables; of each address only with its latest name. */
void symbols_each(const struct symbols *symbols, void *arg,
		  void (*fn)(void *arg, uint64_t address, const char *name, size_t length,
			     const char *module, size_t module_length));
void symbols_free(struct symbols *symbols);

#endif /* _MCTRACE_SYMBOLS_H */
