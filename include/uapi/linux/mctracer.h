/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The binary form of mctracer's records: /sys/kernel/debug/mctracer/per_cpu/cpuN/raw
 *
 * read() gives records, whole ones, and takes them away.
 *
 * mmap(), read-only and at offset 0, gives the header, header_size bytes, and
 * behind it the ring, ring_size bytes, both as the kernel writes them. A program
 * follows it without taking anything away and without being noticed; while it
 * does, buffer_size_kb can't be changed.
 *
 * Positions count bytes. The record of position P is at offset P % ring_size in
 * the ring, its lap is P / ring_size. In the mapped ring, not in what read()
 * gives, bit 31 of parent_ip is inverted on odd laps. A follower that wants the
 * record of P:
 *
 *	1. loads head, until P != head
 *	2. loads parent_ip, then stamp and ip
 *	3. loads head again; if head - P > ring_size the record was overwritten
 *	   while it was being read, or before
 *	4. undoes the inversion; if bit 31 isn't set now, the record is not
 *	   complete yet: goes back to 2
 *
 * each in this order for the processor, too: on x86 it is enough to keep the
 * compiler from reordering. A 32-bit program loads head's upper half, the lower,
 * and the upper again, until both upper ones are the same. A record that is not
 * complete after half a ring of later ones never will be. Positions between the
 * last record and the one from which a follower goes on are records that it has
 * lost.
 *
 * While the machine sleeps the cycle counter may stop, go on, or begin again: what
 * the stamps and the header's clock_* tell holds only since the last sleep.
 */
#ifndef _UAPI_LINUX_MCTRACER_H
#define _UAPI_LINUX_MCTRACER_H

#include <linux/types.h>

#define MCTRACER_MAGIC		0x7274636d	/* "mctr" */
#define MCTRACER_VERSION	1

/*
 * stamp, from the lowest bit: the task's pid, then the low bits of the cycle
 * counter. If bit 31 of ip is not set (it is in all addresses), there is a context
 * of MCTRACER_CONTEXT_BITS between the two, and the cycle counter is in units of
 * 2^MCTRACER_CONTEXT_SHIFT.
 */
#define MCTRACER_PID_BITS	22
#define MCTRACER_CLOCK_BITS	(64 - MCTRACER_PID_BITS)
#define MCTRACER_CONTEXT_BITS	10
#define MCTRACER_CONTEXT_SHIFT	6
#define MCTRACER_PLAIN		0x80000000

/* A context */
#define MCTRACER_IRQS_OFF		0x001
#define MCTRACER_NEED_RESCHED		0x002	/* the task's flag */
#define MCTRACER_PREEMPT_RESCHED	0x004	/* the flag in the preempt count */
#define MCTRACER_NMI			0x008
#define MCTRACER_HARDIRQ		0x010
#define MCTRACER_SOFTIRQ		0x020
#define MCTRACER_PREEMPT_SHIFT		6	/* preempt depth, at most 15 */

/* The bit of parent_ip that tells one lap from the next. */
#define MCTRACER_LAP_BIT	0x80000000

/**
 * struct mctracer_record - a call, or from read() the note of a gap
 * @ip: low half of an address in the called function, with bit 31 set. On 64-bit
 *	the upper half is its sign extension. Without bit 31: there is a context.
 *	0: no call; @stamp records are missing here
 * @parent_ip: the same for the place in the caller, always with bit 31
 * @stamp: when, and by which task; see above
 */
struct mctracer_record {
	__u32 ip;
	__u32 parent_ip;
	__u64 stamp;
};

/**
 * struct mctracer_ring_header - what precedes a mapped ring
 * @magic: MCTRACER_MAGIC
 * @version: MCTRACER_VERSION; changes when anything here does
 * @record_size: sizeof(struct mctracer_record)
 * @header_size: offset of the ring in the mapping
 * @ring_size: bytes, a power of two
 * @clock_offset: nanoseconds, see @clock_mult
 * @clock_mult: a full reading of the cycle counter (rdtsc) is
 *	@clock_offset + (cycles * @clock_mult >> @clock_shift) nanoseconds, the time
 *	of the kernel's log unless a hypervisor provides that. The product needs
 *	more than 64 bits. These three may change, when the kernel learns more
 *	about the counter. The full reading of a record that is younger than a
 *	minute is the latest one before the present that ends in the bits that the
 *	stamp has. With an offset and a shift of 0 and a @clock_mult of 1 the kernel
 *	does not trust the cycle counter, and stamps hold CLOCK_MONOTONIC's
 *	nanoseconds
 * @clock_shift: see @clock_mult
 * @start: the position where counting began: the last clear
 * @read: the next position to be taken by read() or trace_pipe
 * @nr_read: records taken since @start
 * @lost: calls not recorded because the ring was full (nooverwrite), since boot
 * @head: the position that the next record will have. Grows with each record
 */
struct mctracer_ring_header {
	__u32 magic;
	__u32 version;
	__u32 record_size;
	__u32 header_size;
	__u64 ring_size;
	__s64 clock_offset;
	__u32 clock_mult;
	__u32 clock_shift;
	__u64 start;
	__u64 read;
	__u64 nr_read;
	__u64 lost;
	__u64 head;
};

#endif /* _UAPI_LINUX_MCTRACER_H */
