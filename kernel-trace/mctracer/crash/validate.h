/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Validate persistent rings of an earlier boot. Nothing in reserved memory is trusted. All are pure
 * functions of the memory, which nobody writes meanwhile.
 *
 * Parts of the memory may be damaged: so each word is validated by itself. A page is dropped if
 * more than a quarter of its words are invalid or not of its lap.
 */
#ifndef _KERNEL_TRACE_MCTRACER_VALIDATE_H
#define _KERNEL_TRACE_MCTRACER_VALIDATE_H

#include <linux/types.h>

#include "persistent.h"

/*
 * Copy the first valid one of the two headers in @area, @size bytes, to @header. Return NULL, or
 * else what is wrong with the first header.
 */
const char *mctracer_validate_header(struct mctracer_persistent *header, const void *area,
				     size_t size);
/* Return true if the same build as the running kernel, @now, wrote @header. */
bool mctracer_validate_same(const struct mctracer_persistent *header,
			    const struct mctracer_persistent *now);
/* Return true if @module is a valid, used entry. */
bool mctracer_validate_module(const struct mctracer_persistent_module *module);

/* The readable words of a ring, the oldest first. */
struct mctracer_validate_range {
	size_t slots;	/* in the ring, a power of two */
	size_t head;	/* slots before it are of the last lap ... */
	bool lap;	/* ... which has this bit 63; other slots are of the lap before */
	size_t from;	/* the slot of the oldest word */
	size_t words;	/* how many are readable */
};

struct mctracer_validate_sums {
	u64 events;		/* calls and returns */
	u64 bad_words;
	u64 bad_pages;
};

/* Find the readable words of @ring, which has @slots slots. */
void mctracer_validate_range(struct mctracer_validate_range *range, const u64 *ring, size_t slots);
/*
 * Copy the words of @range to @to: with bit 63 set, and zeroes for invalid words and dropped pages.
 * The first one of adjacent dropped pages holds words instead that make the task unknown, and a
 * mark. Count into @sums.
 */
void mctracer_validate_words(u64 *to, const u64 *ring, const struct mctracer_validate_range *range,
			     const struct mctracer_persistent *header,
			     struct mctracer_validate_sums *sums);

#endif /* _KERNEL_TRACE_MCTRACER_VALIDATE_H */
