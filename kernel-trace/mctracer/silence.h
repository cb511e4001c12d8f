/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a ring's CPU was silent for long, so that the clock wrapped unseen.
 *
 * A record holds only the low bits of the time, in the worst case 38. Consecutive
 * records that are less than half a wrap apart (46 seconds at 3 GHz) tell by
 * themselves how far apart they are. To know where they are not, so that the
 * records of all CPUs can be put in order, somebody looks at each ring every few
 * seconds while the tracer is started, and when it is started, stopped or read. If nothing was
 * written for long, the place and the time before and after are noted.
 *
 * Looking needs no help from the hook and costs it nothing.
 */
#ifndef _KERNEL_TRACE_MCTRACER_SILENCE_H
#define _KERNEL_TRACE_MCTRACER_SILENCE_H

#include <linux/bits.h>
#include <linux/types.h>

#include "ring.h"

#define MCTRACER_LOOK_SECONDS	5	/* good for counters of up to 9 GHz */
#define MCTRACER_SILENCES	16

/*
 * In cycles, 11 seconds at 3 GHz: shorter silences need no note, and the bounds
 * of those noted are kept so far from what they bound. That allows for counters
 * that differ between CPUs, and for looks between the steps of a writer.
 */
#define MCTRACER_SILENCE_MARGIN	BIT_ULL(35)

struct mctracer_silence {
	u64 pos;	/* of the first record after it */
	u64 before;	/* full time; the last record before it is older */
	u64 after;	/* full time; the first record after it is younger */
};

/*
 * If there was no look for so long, or the clock has gone back, the machine may
 * have slept, and the clock with it or not. Then nobody knows how far the records
 * from before and after are apart, if it is half a wrap or more: those from before
 * are given up when there are some from after. Far more than there is between two
 * looks; with a silence that needs no note, still less than half a wrap.
 */
#define MCTRACER_SLEEP		((s64)(2 * MCTRACER_SILENCE_MARGIN))

/* In cycles: so far back the clock may seem to go when it is read by several CPUs. */
#define MCTRACER_DISORDER	((s64)BIT_ULL(20))

struct mctracer_silences {
	u64 seen;	/* the ring's head at the last look */
	u64 since;	/* when it was first seen there */
	u64 looked;	/* when the last look was; 0 if there was none */
	bool set_back;	/* the clock has gone back, and nothing was written since */
	int nr;
	struct mctracer_silence list[MCTRACER_SILENCES];	/* ascending */
};

/*
 * Look at @ring at the time @now, in cycles. If there are too many silences, the
 * records before the oldest are given up (ring->floor). True if those
 * from before a sleep were given up. Under the tracer's mutex.
 */
bool mctracer_silence_look(struct mctracer_silences *silences, struct mctracer_ring *ring,
			   u64 now);

/*
 * If the clock has gone back, give up what was recorded before: other CPUs have
 * records from after. True if it has. Under the tracer's mutex.
 */
bool mctracer_silence_give_up(struct mctracer_silences *silences, struct mctracer_ring *ring);

/* The silence before the record of @pos, or NULL. */
const struct mctracer_silence *mctracer_silence_at(const struct mctracer_silences *silences,
						   u64 pos);

/* The first silence before a record behind @from, up to the one of @to, or NULL. */
const struct mctracer_silence *mctracer_silence_within(const struct mctracer_silences *silences,
						       u64 from, u64 to);

#endif /* _KERNEL_TRACE_MCTRACER_SILENCE_H */
