/* SPDX-License-Identifier: GPL-2.0 */
/* The trace of an earlier boot: a copy of what it left in reserved memory, which doesn't change. */
#ifndef _KERNEL_TRACE_MCTRACER_LAST_BOOT_H
#define _KERNEL_TRACE_MCTRACER_LAST_BOOT_H

#include <linux/refcount.h>
#include <linux/types.h>

#include "../ring/cursor.h"
#include "persistent.h"
#include "validate.h"

/* In words, stands for an address whose code is not in the running kernel. */
#define MCTRACER_NOWHERE	BIT(31)

struct mctracer_last_boot {
	refcount_t users;
	struct mctracer_persistent header;
	u32 text;		/* begin of the running kernel's text */
	bool same;		/* the earlier boot ran the same build */
	struct mctracer_old_module *modules;
	unsigned int nr_modules;
	u32 latest;		/* the count at which the latest of these was loaded */
	struct mctracer_ring *shape;	/* has the size of each ring */
	struct mctracer_validate_sums sums;
	struct mctracer_stream *streams;	/* of each ring, at its first event */
	struct mctracer_last_ring {
		struct mctracer_copy copy;
		u64 calls;	/* count of calls before the copy */
	} rings[];		/* kept.nr_rings */
};

/* The functions below may sleep. */

/*
 * Copy the valid words of @size bytes at @area, which nobody writes meanwhile. Return the trace, to
 * be dropped with mctracer_last_boot_put(), ERR_PTR(-ENOMEM), or ERR_PTR(-ENODATA) and, in *@wrong,
 * the reason.
 */
struct mctracer_last_boot *mctracer_last_boot_take(const void *area, size_t size,
						   const char **wrong);
/* Drop a reference. The last one frees @last. */
void mctracer_last_boot_put(struct mctracer_last_boot *last);
/* The symbolizer for mctracer_text_set_elsewhere(). */
size_t mctracer_last_boot_name(const void *last, char *name, u32 *low);
/*
 * Return @word with its addresses converted to those of the running kernel; or, if another build
 * recorded it, to those of that build without KASLR. Other addresses become MCTRACER_NOWHERE.
 */
u64 mctracer_last_boot_word(const struct mctracer_last_boot *last, u64 word);

/* Return the kept trace with a reference, or NULL. */
struct mctracer_last_boot *mctracer_last_boot_get(void);
/* Drop the kept trace. */
void mctracer_last_boot_clear(void);
/* Return true if reserved memory is in use: then the files exist. */
bool mctracer_last_boot_possible(void);
/* At boot: copy the trace in reserved memory, if there is one, and keep it. */
void mctracer_last_boot_found(const void *area, size_t size);

#endif /* _KERNEL_TRACE_MCTRACER_LAST_BOOT_H */
