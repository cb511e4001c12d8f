/* SPDX-License-Identifier: GPL-2.0 */
/* What an earlier boot has recorded, found in reserved memory: a copy, which does not change. */
#ifndef _KERNEL_TRACE_MCTRACER_LAST_BOOT_H
#define _KERNEL_TRACE_MCTRACER_LAST_BOOT_H

#include <linux/refcount.h>
#include <linux/types.h>

#include "cursor.h"
#include "judge.h"
#include "kept.h"

/* What an address that is nowhere in the running kernel is in words. */
#define MCTRACER_NOWHERE	BIT(31)

struct mctracer_last_boot {
	refcount_t users;
	struct mctracer_kept kept;
	u32 text;		/* where the running kernel begins */
	bool same;		/* it is that one */
	struct mctracer_old_module *modules;
	unsigned int nr_modules;
	struct mctracer_ring *shape;	/* of each ring */
	struct mctracer_judge_sums sums;
	struct mctracer_stream *streams;	/* as readers begin */
	struct mctracer_last_ring {
		struct mctracer_copy copy;
		u64 calls;	/* before it */
	} rings[];		/* kept.nr_rings */
};

/*
 * Take what can be believed of @size bytes at @area, which nobody writes. All may sleep.
 * ERR_PTR(-ENOMEM); or ERR_PTR(-ENODATA) and, at @wrong, why.
 */
struct mctracer_last_boot *mctracer_last_boot_take(const void *area, size_t size,
						   const char **wrong);
/* Give it up, the last one for good. */
void mctracer_last_boot_put(struct mctracer_last_boot *last);
/* For mctracer_text_set_elsewhere(). */
size_t mctracer_last_boot_name(const void *last, char *name, u32 *low);
/*
 * The word as if the running kernel had recorded it. Of another kernel, as if it had run where it
 * was linked to. What is elsewhere is MCTRACER_NOWHERE then.
 */
u64 mctracer_last_boot_word(const struct mctracer_last_boot *last, u64 word);

/* The one that there is, to be put; or NULL. */
struct mctracer_last_boot *mctracer_last_boot_get(void);
void mctracer_last_boot_clear(void);
/* There may be one: the files are to be shown. */
bool mctracer_last_boot_possible(void);
void mctracer_last_boot_found(const void *area, size_t size);

#endif /* _KERNEL_TRACE_MCTRACER_LAST_BOOT_H */
