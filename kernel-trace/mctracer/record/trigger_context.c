// SPDX-License-Identifier: GPL-2.0
/* What triggers share, whatever their action: record the call or return, and count it. */
#include <linux/atomic.h>
#include <linux/mcount.h>

#include "record.h"
#include "triggers.h"

void mctracer_record_occasion(const struct mctracer_occasion *at, const u32 *callers,
			      unsigned int n)
{
	if (at->returns)
		mctracer_note_outcome(at->ip, at->how, &at->outcome, &at->args, callers, n);
	else
		mctracer_note_call(at->ip, at->parent_ip, &at->args, callers, n);
}

bool mctracer_take_one(struct mctracer_trigger *trigger)
{
	return !trigger->counted || atomic64_dec_if_positive(&trigger->left) >= 0;
}
