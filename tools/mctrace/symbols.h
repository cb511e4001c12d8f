/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The names of addresses, as the kernel's %pS would print them: by what /proc/kallsyms said
 * when the recording was made.
 */
#ifndef _MCTRACE_SYMBOLS_H
#define _MCTRACE_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#include "recording.h"

/* Of an address that was recorded; the same each time. */
struct symbol {
	uint32_t address;	/* low half */
	uint32_t function;	/* where it begins, low half; 0: not known, or a cold part */
	uint32_t id;		/* of the function, from 0 on; a cold part has the whole's */
	uint32_t length;
	const char *text;	/* "vfs_read+0x5/0x270", "ext4_map_blocks+0x5/0x90 [ext4]" */
	const char *name;	/* "vfs_read" */
};

struct symbols;

struct symbols *symbols_of(const struct recording *from);
const struct symbol *symbol_of(struct symbols *symbols, uint32_t address);
/* How many functions there are so far, and what the one of @id is called. */
size_t symbols_functions(const struct symbols *symbols);
const char *symbols_name(const struct symbols *symbols, uint32_t id);
void symbols_free(struct symbols *symbols);

#endif /* _MCTRACE_SYMBOLS_H */
