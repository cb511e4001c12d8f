/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What lies in reserved memory, judged as if a stranger had written it: pure functions of it,
 * which nobody else writes meanwhile.
 *
 * The memory may not have kept all: so each word is judged by itself. A page in which more than
 * a quarter is no word of its lap, or can't be one, is left out as a whole.
 */
#ifndef _KERNEL_TRACE_MCTRACER_JUDGE_H
#define _KERNEL_TRACE_MCTRACER_JUDGE_H

#include <linux/types.h>

#include "kept.h"

/* The first of the two headers that can be believed is copied. NULL; or what is wrong. */
const char *mctracer_judge_header(struct mctracer_kept *kept, const void *area, size_t size);
/* Is it the kernel that runs? */
bool mctracer_judge_same(const struct mctracer_kept *kept, const struct mctracer_kept *now);
/* Can this be believed? */
bool mctracer_judge_module(const struct mctracer_kept_module *module);

/* The words of a ring that can be read, the oldest first. */
struct mctracer_judge_range {
	size_t slots;	/* of the ring, a power of two */
	size_t head;	/* slots before it are of the last lap ... */
	bool lap;	/* ... whose bits 63 are this; those behind it of the lap before */
	size_t from;	/* the slot of the first one */
	size_t words;
};

struct mctracer_judge_sums {
	u64 events;		/* calls and returns */
	u64 bad_words;
	u64 bad_pages;
};

void mctracer_judge_range(struct mctracer_judge_range *range, const u64 *ring, size_t slots);
/*
 * Copy them, with bit 63, and zeroes for those that are none. Of what is left out it is said
 * that the task is not known behind it.
 */
void mctracer_judge_words(u64 *to, const u64 *ring, const struct mctracer_judge_range *range,
			  const struct mctracer_kept *kept, struct mctracer_judge_sums *sums);

#endif /* _KERNEL_TRACE_MCTRACER_JUDGE_H */
