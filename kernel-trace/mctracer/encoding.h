/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How one call is packed into a record of 16 bytes, which user space sees, too
 * (uapi/linux/mctracer.h). Stateless; knows no rings.
 *
 *	u32 ip		low half of an address in the traced function
 *	u32 parent_ip	low half of an address in its caller
 *	u64 stamp	clock:42 | pid:22, or clock:32 | context:10 | pid:22
 *
 * The CPU is the ring's own. Kernel and module text lie in the top 2 GiB of a
 * 64-bit address space, so the upper half of an address is its sign extension,
 * and bit 31 is always set; on 32-bit Kconfig sees to that. So it can be borrowed.
 * In parent_ip the ring keeps there what tells one lap from the next (ring.h). In
 * ip it tells whether there is a context.
 *
 * The clock is the low part of the cycle counter: 42 bits at full resolution,
 * which wrap after 24 minutes at 3 GHz; or, beside a context, bits 6 to 37, which
 * wrap after 92 seconds. So stamps order records only where the distance is known
 * to be less than half of that: see silence.h.
 */
#ifndef _KERNEL_TRACE_MCTRACER_ENCODING_H
#define _KERNEL_TRACE_MCTRACER_ENCODING_H

#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/threads.h>
#include <linux/types.h>
#include <uapi/linux/mctracer.h>

#define MCTRACER_CLOCK_MASK	GENMASK_ULL(MCTRACER_CLOCK_BITS - 1, 0)
#define MCTRACER_CONTEXT_CLOCK_MASK \
	GENMASK_ULL(MCTRACER_CLOCK_BITS - MCTRACER_CONTEXT_BITS + MCTRACER_CONTEXT_SHIFT - 1, 0)

static_assert(sizeof(struct mctracer_record) == 16);
static_assert(BIT(MCTRACER_PID_BITS) >= PID_MAX_LIMIT);

/*
 * Not a call, but a note for readers that @missed records are missing here. No
 * call has an ip of 0.
 */
static inline struct mctracer_record mctracer_gap(u64 missed)
{
	return (struct mctracer_record) { .stamp = missed };
}

static inline bool mctracer_is_gap(const struct mctracer_record *record)
{
	return !record->ip;
}

static __always_inline u64 mctracer_stamp(u64 clock, pid_t pid)
{
	return clock << MCTRACER_PID_BITS | (u32)pid;
}

static __always_inline u64 mctracer_context_stamp(u64 clock, u32 context, pid_t pid)
{
	u64 units = clock >> MCTRACER_CONTEXT_SHIFT;

	return (units << MCTRACER_CONTEXT_BITS | context) << MCTRACER_PID_BITS | (u32)pid;
}

static inline pid_t mctracer_stamp_pid(u64 stamp)
{
	return stamp & GENMASK(MCTRACER_PID_BITS - 1, 0);
}

static inline bool mctracer_has_context(const struct mctracer_record *record)
{
	return !(record->ip & MCTRACER_PLAIN);
}

static inline u32 mctracer_context(const struct mctracer_record *record)
{
	return record->stamp >> MCTRACER_PID_BITS & GENMASK(MCTRACER_CONTEXT_BITS - 1, 0);
}

/* Which bits of the cycle counter the record has. */
static inline u64 mctracer_clock_mask(const struct mctracer_record *record)
{
	return mctracer_has_context(record) ? MCTRACER_CONTEXT_CLOCK_MASK : MCTRACER_CLOCK_MASK;
}

static inline u64 mctracer_clock(const struct mctracer_record *record)
{
	u64 clock = record->stamp >> MCTRACER_PID_BITS;

	if (!mctracer_has_context(record))
		return clock;
	return clock >> MCTRACER_CONTEXT_BITS << MCTRACER_CONTEXT_SHIFT;
}

/*
 * Cycles from @record to the time @to, whose bits in @mask are known. A clock that
 * seems to have gone back has not moved: rdtsc may be a little out of order.
 */
static inline u64 mctracer_cycles_until(const struct mctracer_record *record, u64 to, u64 mask)
{
	u64 delta;

	mask &= mctracer_clock_mask(record);
	delta = (to - mctracer_clock(record)) & mask;
	return delta > mask / 2 ? 0 : delta;
}

/* The same to the next record. */
static inline u64 mctracer_cycles_between(const struct mctracer_record *from,
					  const struct mctracer_record *to)
{
	return mctracer_cycles_until(from, mctracer_clock(to), mctracer_clock_mask(to));
}

static inline unsigned long mctracer_address(u32 low)
{
	return (unsigned long)(long)(s32)(low | MCTRACER_PLAIN);
}

#endif /* _KERNEL_TRACE_MCTRACER_ENCODING_H */
