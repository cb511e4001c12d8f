/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How one call is packed into a record of 16 bytes. Stateless; knows no rings.
 *
 *	u32 ip		low half of an address in the traced function
 *	u32 parent_ip	low half of an address in its caller
 *	u64 stamp	clock:42 | pid:22
 *
 * The CPU is the ring's own. Kernel and module text lie in the top 2 GiB of a
 * 64-bit address space, so the upper half of an address is its sign extension,
 * and bit 31 is always set; on 32-bit Kconfig sees to that. In parent_ip it is
 * borrowed: there the ring keeps what tells one lap from the next (ring.h).
 *
 * The clock is the low part of the cycle counter at full resolution. It wraps
 * after 2^42 cycles, about 24 minutes at 3 GHz, so stamps order records only
 * where the distance is known to be less than half of that: see silence.h.
 */
#ifndef _KERNEL_TRACE_MCTRACER_ENCODING_H
#define _KERNEL_TRACE_MCTRACER_ENCODING_H

#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/threads.h>
#include <linux/types.h>

#define MCTRACER_PID_BITS	22
#define MCTRACER_CLOCK_BITS	(64 - MCTRACER_PID_BITS)
#define MCTRACER_CLOCK_MASK	GENMASK_ULL(MCTRACER_CLOCK_BITS - 1, 0)

struct mctracer_record {
	u32 ip;
	u32 parent_ip;
	u64 stamp;
};

static_assert(sizeof(struct mctracer_record) == 16);
static_assert(BIT(MCTRACER_PID_BITS) >= PID_MAX_LIMIT);

static __always_inline u64 mctracer_stamp(u64 clock, pid_t pid)
{
	return clock << MCTRACER_PID_BITS | (u32)pid;
}

static inline u64 mctracer_stamp_clock(u64 stamp)
{
	return stamp >> MCTRACER_PID_BITS;
}

static inline pid_t mctracer_stamp_pid(u64 stamp)
{
	return stamp & GENMASK(MCTRACER_PID_BITS - 1, 0);
}

/*
 * Cycles from stamp @from to stamp @to of the next record. A clock that seems to
 * have gone back has not moved: rdtsc may be a little out of order.
 */
static inline u64 mctracer_stamp_delta(u64 from, u64 to)
{
	u64 delta = (mctracer_stamp_clock(to) - mctracer_stamp_clock(from)) &
		    MCTRACER_CLOCK_MASK;

	return delta > MCTRACER_CLOCK_MASK / 2 ? 0 : delta;
}

static inline unsigned long mctracer_address(u32 low)
{
	return (unsigned long)(long)(s32)low;
}

#endif /* _KERNEL_TRACE_MCTRACER_ENCODING_H */
