/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The layout of persistent rings: the rings in reserved memory, and the data that the next kernel
 * needs to read them. The next kernel may be another build, and may find any bytes there.
 *
 *	MCTRACER_PERSISTENT_HEADER(0), (1)	a struct mctracer_persistent, twice
 *	MCTRACER_PERSISTENT_MODULES_AT	the modules, each with its own checksum
 *	MCTRACER_PERSISTENT_RINGS_AT		the ring of each CPU number, ring_size bytes each
 *
 * The heads of the rings are not stored: from the head on, bit 63 is that of another lap.
 */
#ifndef _KERNEL_TRACE_MCTRACER_PERSISTENT_H
#define _KERNEL_TRACE_MCTRACER_PERSISTENT_H

#include <linux/buildid.h>
#include <linux/sizes.h>
#include <linux/types.h>
#include <uapi/linux/mctracer_decode.h>

#define MCTRACER_PERSISTENT_MAGIC		0x6b74636d	/* "mctk" */
#define MCTRACER_PERSISTENT_VERSION		2
#define MCTRACER_PERSISTENT_HEADER(i)		((i) * SZ_4K)
#define MCTRACER_PERSISTENT_MODULES_AT	SZ_8K
#define MCTRACER_PERSISTENT_MODULES		1024
#define MCTRACER_PERSISTENT_RINGS_AT		SZ_128K

/* Addresses are stored as their low halves. */
struct mctracer_persistent {
	u32 magic;
	u32 sum;		/* checksum of the fields below */
	u32 version;
	u32 words_version;	/* MCTRACER_VERSION */
	u32 bits;		/* of a long */
	u32 nr_rings;
	u64 ring_size;
	u32 text;		/* begin of the kernel's text, */
	u32 text_end;
	u32 linked;		/* and its begin without KASLR */
	u32 modules;		/* the range of modules' addresses */
	u32 modules_end;
	u32 has_id;		/* 1: build_id is valid */
	u8 build_id[BUILD_ID_SIZE_MAX];
	u32 reserved;
	struct mctracer_clock clock;
};

struct mctracer_persistent_module {
	u32 sum;		/* checksum of the fields below */
	u32 text;
	u32 size;		/* 0: unused entry */
	u32 symbols;		/* a sum over the symbols' names and offsets in the text */
	u32 since;		/* mctracer_module_count() at loading: earlier calls are others' */
	char name[64];
};

/* A module of an earlier boot. */
struct mctracer_old_module {
	struct mctracer_persistent_module was;
	u32 now;		/* begin of its text if the same module is loaded now, or 0 */
};

/* persistent_header.c */

extern const char __start_notes[], __stop_notes[];	/* from the linker script */

/* Fill @header for the running kernel. */
void mctracer_persistent_fill(struct mctracer_persistent *header);
/* Return the checksum for ->sum. */
u32 mctracer_persistent_sum(const struct mctracer_persistent *header);
u32 mctracer_persistent_module_sum(const struct mctracer_persistent_module *module);

/* persistent_modules.c: only with CONFIG_MODULES. All functions may sleep. */

struct module;

/* Describe @mod in @to. */
void mctracer_persistent_module_of(struct mctracer_persistent_module *to, struct module *mod);
/* Begin to record this boot's modules. Call this before the first module is loaded. */
void mctracer_persistent_modules_watch(void);
/* Copy the modules to @table, MCTRACER_PERSISTENT_MODULES entries, now and at each change. */
void mctracer_persistent_modules_put(struct mctracer_persistent_module *table);
/*
 * Keep ->now of the @n modules in @old up to date, until mctracer_persistent_modules_forget(). Only
 * modules that were recorded count as loaded.
 */
void mctracer_persistent_modules_match(struct mctracer_old_module *old, unsigned int n);
void mctracer_persistent_modules_forget(struct mctracer_old_module *old);

/*
 * Copy the trace of an earlier boot from the memory that "reserve_mem" reserved as @name, and place
 * this boot's rings there. Return 0, -ENOENT if there is no such memory, -ENOSPC if it is too
 * small, or -EINVAL if the kernel does not map it. May sleep.
 */
int mctracer_persistent_use(const char *name);

#endif /* _KERNEL_TRACE_MCTRACER_PERSISTENT_H */
