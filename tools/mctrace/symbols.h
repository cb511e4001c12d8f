/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The names of addresses, as the kernel's %pS would print them: by what /proc/kallsyms said
 * when the recording was made.
 */
#ifndef _MCTRACE_SYMBOLS_H
#define _MCTRACE_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recording.h"

/* Of an address that was recorded; the same each time, while what is there is the same. */
struct symbol {
	uint32_t address;	/* low half */
	uint64_t at;		/* of a module: for symbols_at(); else 0 */
	uint32_t function;	/* where it begins, low half; 0: not known, or a cold part */
	uint32_t id;		/* of the function, from 0 on; a cold part has the whole's */
	uint32_t length;
	bool is_entry;		/* it enters from user space, leaves to it, or begins a thread */
	bool is_interrupt;	/* it is how an interrupt enters, of a device, a timer or a CPU */
	bool is_syscall;	/* of a system call: nothing is outside of it */
	bool is_last;		/* its task ends in it */
	bool is_schedule;	/* its task sleeps in it, or lets others run */
	bool is_switched_in;	/* a task calls it first when it runs again */
	const char *text;	/* "vfs_read+0x5/0x270", "ext4_map_blocks+0x5/0x90 [ext4]" */
	const char *name;	/* "vfs_read" */
	const char *title;	/* that with its module: "ext4_map_blocks [ext4]" */
};

struct symbols;

struct symbols *symbols_of(const struct recording *from);
/* The text of each address ends with its line of source, if this vmlinux has that. */
void symbols_show_lines(struct symbols *symbols, const char *vmlinux, const char *build_id);
/*
 * From now on names are those that were there then: where modules came and went, others were there
 * before and after. @at is how many of the recording's tables of symbols precede the event; or, by
 * SYMBOLS_AT_MODULES, the event's MCTRACER_MODULES, where that is known: then a module's function
 * has a name only if the table of that time has it, or both the one before and the one after.
 */
#define SYMBOLS_AT_MODULES	0x100000000ULL
void symbols_at(struct symbols *symbols, uint64_t at);
const struct symbol *symbol_of(struct symbols *symbols, uint32_t address);
/* How many functions there are so far, and what the one of @id is called. */
size_t symbols_functions(const struct symbols *symbols);
/*
 * Return true if a function, by name or title, is the one asked for: "foo" or "foo[module]".
 * Parts and copies that gcc makes, "foo.constprop.0", are foo, too.
 */
bool is_named(const char *title, const char *asked);
const char *symbols_name(const struct symbols *symbols, uint32_t id);
/* Return the name with the module: what tells the functions of two modules apart. */
const char *symbols_title(const struct symbols *symbols, uint32_t id);
uint64_t symbols_address(const struct symbols *symbols, uint32_t id);
/* All that the kernel's tables had, for who has a place for it; of each address the latest name. */
void symbols_each(const struct symbols *symbols, void *arg,
		  void (*fn)(void *arg, uint64_t address, const char *name, size_t length,
			     const char *module, size_t module_length));
void symbols_free(struct symbols *symbols);

#endif /* _MCTRACE_SYMBOLS_H */
