/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the next kernel finds in reserved memory: the rings, and what it must know to read
 * them. It may be another kernel, and what it finds anything at all.
 *
 *	MCTRACER_KEPT_HEADER(0), (1)	a struct mctracer_kept, twice
 *	MCTRACER_KEPT_MODULES_AT	the modules, each with a sum of its own
 *	MCTRACER_KEPT_RINGS_AT		the ring of each CPU number, ring_size bytes each
 *
 * Where the head of a ring is need not be known: from there on bit 63 is that of another lap.
 */
#ifndef _KERNEL_TRACE_MCTRACER_KEPT_H
#define _KERNEL_TRACE_MCTRACER_KEPT_H

#include <linux/buildid.h>
#include <linux/sizes.h>
#include <linux/types.h>
#include <uapi/linux/mctracer_decode.h>

#define MCTRACER_KEPT_MAGIC		0x6b74636d	/* "mctk" */
#define MCTRACER_KEPT_VERSION		1
#define MCTRACER_KEPT_HEADER(i)		((i) * SZ_4K)
#define MCTRACER_KEPT_MODULES_AT	SZ_8K
#define MCTRACER_KEPT_MODULES		1024
#define MCTRACER_KEPT_RINGS_AT		SZ_128K

/* Addresses are low halves. */
struct mctracer_kept {
	u32 magic;
	u32 sum;		/* of what follows */
	u32 version;
	u32 words_version;	/* MCTRACER_VERSION */
	u32 bits;		/* of a long */
	u32 nr_rings;
	u64 ring_size;
	u32 text;		/* where the kernel's begins, */
	u32 text_end;
	u32 linked;		/* and where it does without KASLR */
	u32 modules;		/* where these may be */
	u32 modules_end;
	u32 has_id;
	u8 build_id[BUILD_ID_SIZE_MAX];
	u32 reserved;
	struct mctracer_clock clock;
};

struct mctracer_kept_module {
	u32 sum;		/* of what follows */
	u32 text;
	u32 size;		/* 0: none */
	u32 symbols;		/* a sum of their names and of where they are in the text */
	char name[64];
};

/* One of an earlier boot. */
struct mctracer_old_module {
	struct mctracer_kept_module was;
	u32 now;		/* where its text is now, if the same one is there; or 0 */
};

/* reserved.c */

extern const char __start_notes[], __stop_notes[];	/* the linker's */

/* What there is to say of this kernel. */
void mctracer_kept_fill(struct mctracer_kept *kept);
u32 mctracer_kept_sum(const struct mctracer_kept *kept);
u32 mctracer_kept_module_sum(const struct mctracer_kept_module *module);
/* kept_modules.c: with CONFIG_MODULES. All may sleep. */

struct module;

void mctracer_kept_module_of(struct mctracer_kept_module *to, struct module *mod);
/* Begin to remember the modules of this boot, before the first one comes. */
void mctracer_kept_modules_watch(void);
/* From now on also at @table, MCTRACER_KEPT_MODULES of them. */
void mctracer_kept_modules_put(struct mctracer_kept_module *table);
/* Tell where these @n @old ones are now, before the first one comes; and no more. */
void mctracer_kept_modules_match(struct mctracer_old_module *old, unsigned int n);
void mctracer_kept_modules_forget(struct mctracer_old_module *old);

/*
 * Keep the rings in the memory that "reserve_mem" has reserved by that @name. -ENOENT if it has
 * not, -ENOSPC if it is too small, -EINVAL if the kernel does not map it.
 */
int mctracer_reserved_use(const char *name);

#endif /* _KERNEL_TRACE_MCTRACER_KEPT_H */
