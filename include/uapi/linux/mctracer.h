/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The binary format of mctracer's rings: /sys/kernel/debug/mctracer/per_cpu/cpuN/raw
 *
 * read() returns words and consumes them. What it returns first is the packet MCTRACER_STREAM, with
 * the version of this format, the CPU and the base of addresses; as long as the ring is empty, it
 * returns nothing. Behind MCTRACER_STREAM, and wherever words are missing because another reader
 * consumed them or the kernel overwrote them, read() inserts words that are in no ring: in this
 * order, MCTRACER_GAP with the number of missing calls, if there are any, and what is known of
 * count, clock, time, context, modules and task. So a program that only reads needs neither
 * positions nor MCTRACER_COUNT.
 *
 * mmap(), read-only and at offset 0, maps the header of header_size bytes, and behind it the ring
 * of ring_size bytes. The kernel writes both while they are mapped. A program that follows the
 * mapped ring consumes nothing and does not disturb the kernel; while the ring is mapped,
 * buffer_size_kb can't be changed.
 *
 * Words
 * -----
 * The ring consists of words of 64 bits, in the byte order of the machine that recorded them, which
 * the magic number in the first word of read() tells. Each word contains its own type.
 * linux/mctracer_decode.h turns words into events, one at a time, in C that any program may
 * include.
 *
 *	bit 63		depends on the lap, see below; from read() always 1
 *	bit 31		1: a call
 *
 * Words contain addresses as 31-bit unsigned offsets from a base, which the header and
 * MCTRACER_STREAM name. A call has in bits 0 to 30 the offset of an address in the called function,
 * and in bits 32 to 62 the offset of its return address.
 *
 * Any word without bit 31 has its type in bits 28 to 30, and 59 bits of data: bits 32 to 62 are the
 * lower 31 of these, bits 0 to 27 are the upper 28. A word of type MCTRACER_MORE continues the
 * packet of the word before it; a call, or a word of any other type, begins a packet. No other
 * packet interrupts a packet, and a read() never ends within one. These rules will not change. All
 * eight types are in use, so a new kind of word will be a new kind of meta word. A reader must skip
 * kinds of meta words that it does not know, and any MCTRACER_MORE beyond those that it knows; it
 * must ignore bits without a meaning, which are 0 now.
 *
 * Three types of events share what follows: calls, returns and marks.
 * - Task, context, modules and clock hold for all events behind them, until the next word of the
 *   same kind. Before the first one they are unknown, and so are those that read() does not insert
 *   behind words that are missing.
 * - MCTRACER_VALUE, MCTRACER_DATA, MCTRACER_OBJECT and MCTRACER_TOOK are attributes of the next
 *   event, which follows them directly and ends all of them, also those that it can't have. If
 *   another word comes instead, the event is missing: a reader drops them. Only meta words of
 *   unknown kinds may lie between.
 * - A time word that directly precedes an event, or its attributes, is the time of that event. Any
 *   other time word only says that later events are not earlier, as long as the clock stays the
 *   same. A repeated or inserted time is never an event's own, since a context word follows it.
 *
 * So earlier words determine an event's task and clock. The kernel repeats the state that read()
 * inserts, in the same order, at sync points, the positions that are multiples of sync_every: the
 * sync words begin there, or at most MCTRACER_SYNC_WITHIN bytes behind. A reader begins at the
 * first sync point that is not overwritten and not before start; the words before it may never have
 * been written. Calls between the sync point and the first task word behind it belong to the task
 * of that word. The first sync words behind start may also take MCTRACER_SYNC_WITHIN bytes: until
 * then calls have no task, or the task of the words before start.
 *
 * Positions
 * ---------
 * A position is the number of bytes that were written before it since the ring was created, plus
 * the position at which the ring began, in MCTRACER_POSITION_BITS bits. It wraps eventually, so
 * only differences count. The word of position P is at offset P % ring_size in the ring, its lap is
 * P / ring_size. In the mapped ring bit 63 is inverted on odd laps. To load the word of P, a
 * follower:
 *
 *	1. loads head, until head's position is not P
 *	2. loads the word
 *	3. loads head again; if head's position - P > ring_size, the word was overwritten
 *	   before or while it was loaded
 *	4. undoes the inversion; if bit 63 isn't set now, the word is not written yet:
 *	   continues at 2
 *
 * The processor must keep this order, too: on x86 it is enough to keep the compiler from
 * reordering. A 32-bit program loads head's upper half, the lower half, and the upper half again,
 * until both upper halves are equal; of a word it loads the upper half first. A word that is not
 * written although half a ring of later words is, will never be written. A follower that was
 * overtaken continues at a multiple of sync_every; MCTRACER_COUNT there gives the number of calls
 * that it lost. A clear changes start: the words before start were not lost, but cleared, and the
 * next MCTRACER_COUNT must be compared with start_calls.
 *
 * Times
 * -----
 * With the option "time" each call follows a time word of its own. Without it only some calls do; a
 * call between two times happened between these times, and the calls of one ring are in order. The
 * clock's parameters are in the stream and not in the header: so each time is converted with the
 * parameters that were valid when it was taken, even if the clock changed or the machine slept
 * later.
 */
#ifndef _UAPI_LINUX_MCTRACER_H
#define _UAPI_LINUX_MCTRACER_H

#include <linux/types.h>

#define MCTRACER_MAGIC		0x7274636d	/* "mctr" */
#define MCTRACER_VERSION	3

#define MCTRACER_WORD_VALID	(1ULL << 63)
#define MCTRACER_WORD_CALL	(1ULL << 31)
#define MCTRACER_TYPE_SHIFT	28
#define MCTRACER_DATA_BITS	59

/*
 * The types of words:
 *
 * MCTRACER_TIME: data is a reading of the clock, shifted right by 1. 0: no time, the word only
 *	fills a place, and means nothing.
 * MCTRACER_MORE: data continues the word before.
 * MCTRACER_TASK: the calls that follow are made by this task, which may be the same as before. The
 *	lower MCTRACER_PID_BITS of data are its pid, the 8 bits from MCTRACER_COMM_SHIFT on
 *	character 0 of its name, which may be any byte. Three MCTRACER_MORE follow. The first one
 *	has the pid of the task's process. The others have 7 more characters of the name each,
 *	the first of them in the lowest bits; behind the end of the name they are 0. A longer
 *	name would take more words.
 * MCTRACER_CONTEXT: the context of the calls that follow, of whichever task; MCTRACER_IRQS_OFF and
 *	so on. With MCTRACER_CONTEXT_UNKNOWN no other bit has a meaning.
 * MCTRACER_META: a meta word; its kind is in the upper bits of data, see MCTRACER_META_SHIFT.
 * MCTRACER_RETURN: a function returns. data is the 31-bit offset of an address in it, and above
 *	that MCTRACER_RETURN_TAIL and so on. MCTRACER_COUNT counts returns as well as calls.
 * MCTRACER_VALUE: the value that the next return, or mark, returns: the lower 59 bits, signed. If
 *	it does not fit, one MCTRACER_MORE holds the upper 5 bits in its lowest. Before a call,
 *	there can be several: the values of the argument registers, MCTRACER_ARGS at most, in the
 *	order of the arguments. Before a return or mark there is one at most.
 * MCTRACER_DATA: bytes of the memory that an argument of the next call points to; the trigger that
 *	recorded them says which argument. Bits 56 to 58 hold the number of bytes,
 *	MCTRACER_DATA_BYTES at most; the first byte is the lowest. MCTRACER_DATA_WORDS at most
 *	follow each other, and are one piece of memory.
 */
#define MCTRACER_TIME		0
#define MCTRACER_MORE		1
#define MCTRACER_TASK		2
#define MCTRACER_META		3
#define MCTRACER_CONTEXT	4
#define MCTRACER_VALUE		5
#define MCTRACER_DATA		6
#define MCTRACER_RETURN		7

/* A task */
#define MCTRACER_PID_BITS	22
#define MCTRACER_COMM_SHIFT	44
#define MCTRACER_COMM_CHARS	7	/* in each further word */

/* The maximum number of argument registers: fewer on 32-bit */
#define MCTRACER_ARGS		6

/* Memory */
#define MCTRACER_DATA_BYTES	7	/* in each word */
#define MCTRACER_DATA_SHIFT	56
#define MCTRACER_DATA_WORDS	14	/* of one call */
#define MCTRACER_DATA_MAX	(MCTRACER_DATA_WORDS * MCTRACER_DATA_BYTES)

/* A return */
#define MCTRACER_RETURN_SHIFT	31
#define MCTRACER_RETURN_TAIL	1	/* it jumps to a function, which returns in its place */

/* A context */
#define MCTRACER_PREEMPT_DEPTH		0x000000ff
#define MCTRACER_SOFTIRQ		0x00000100	/* running; the 7 bits above: disabled */
#define MCTRACER_HARDIRQ		0x000f0000
#define MCTRACER_NMI			0x00f00000
#define MCTRACER_IRQS_OFF		0x01000000
#define MCTRACER_NEED_RESCHED		0x02000000	/* the task's flag */
#define MCTRACER_PREEMPT_RESCHED	0x04000000	/* the flag in the preempt count */
#define MCTRACER_CONTEXT_UNKNOWN	0x40000000	/* not recorded from here on */

/*
 * Meta words: the lower MCTRACER_META_SHIFT bits of data are the value, the 6 bits above are one
 * of these kinds.
 *
 * MCTRACER_COUNT: the number of calls and returns before this word since counting began. Compare
 *	it with another MCTRACER_COUNT of the same ring, modulo 2^MCTRACER_COUNT_BITS.
 * MCTRACER_CLOCK: converts the times that follow into nanoseconds of the kernel's log (unless
 *	a hypervisor provides that time): offset + (time * mult >> shift), modulo 2^64, where time
 *	is a time word's data << 1, and the product needs more than 64 bits. mult is in bits 0 to
 *	31 of the value, the shift in 32 to 37. Bit 38: the clock is CLOCK_MONOTONIC and not the
 *	cycle counter. The upper 5 bits of offset are in 40 to 44, and the other 59 in an
 *	MCTRACER_MORE, which always follows. The clock may have been set back here.
 * MCTRACER_GAP: calls and returns are missing here, so a return behind it must not be paired with a
 *	call before it, in any ring. Its time is that of the latest time word before it. The
 *	lower MCTRACER_COUNT_BITS of the value are the number of missing calls and returns, with
 *	one flag at most:
 *	- with MCTRACER_GAP_OVERWRITTEN, only from read(): they were overwritten, or consumed by
 *	  another reader. MCTRACER_COUNT counts them.
 *	- without a flag: they were not recorded because the ring was full (nooverwrite), copied
 *	  or resized. MCTRACER_COUNT does not count them. 0: this ring misses none, but another
 *	  CPU's does.
 *	- with MCTRACER_GAP_UNCOUNTED, which has no number: recording was off, or other functions
 *	  or tasks were selected.
 * MCTRACER_FRAME: a return address of the call chain of the call or return directly before it. Bits
 *	0 to 30 of the value are its offset, bit 31 is 1. The MCTRACER_FRAME behind a call form
 *	the chain, nearest caller first; the first one is the call's own return address. A reader
 *	skips those that follow neither.
 * MCTRACER_MARK: a trigger has acted in a way that no other word shows. Bits 0 to 30 of the
 *	value are the offset of an address in the trigger's function, bit 31 is 1; above that is
 *	MCTRACER_MARK_ON and so on.
 * MCTRACER_OBJECT: the next call or return concerns a followed object. Bits 0 to 31 of the value
 *	are the object's number; above that are MCTRACER_OBJECT_ROLE, and whether following
 *	begins or ends here. MCTRACER_OBJECTS at most.
 * MCTRACER_TOOK: the duration, in nanoseconds, of the call whose return, or mark, comes next.
 * MCTRACER_MODULES: the number of times that modules were loaded or unloaded, in 32 bits. It is
 *	repeated with task, clock and count, and written before the first call of a loaded
 *	module. So an address in a module's function belongs to a module that was loaded at
 *	this number.
 * MCTRACER_STREAM: this packet is in no ring: read() puts it before all other words of an open
 *	file. Bits 0 to 31 of the value are MCTRACER_MAGIC, the bits above MCTRACER_VERSION. Two
 *	MCTRACER_MORE follow: the CPU, and the base of addresses, shifted right by
 *	MCTRACER_BASE_SHIFT. A reader must refuse another version than those that it knows.
 */
#define MCTRACER_META_SHIFT	53
#define MCTRACER_COUNT_BITS	51
#define MCTRACER_COUNT		1
#define MCTRACER_CLOCK		2
#define MCTRACER_GAP		3
#define MCTRACER_FRAME		4
#define MCTRACER_MARK		5
#define MCTRACER_TOOK		6
#define MCTRACER_OBJECT		7
#define MCTRACER_MODULES	8
#define MCTRACER_STREAM		9

#define MCTRACER_STREAM_VERSION_SHIFT	32
#define MCTRACER_BASE_SHIFT		12

/* An object's role: the number of the argument that is its address, from 1, or one of these */
#define MCTRACER_OBJECT_ROLE_SHIFT	32
#define MCTRACER_OBJECT_ROLE		15
#define MCTRACER_OBJECT_NESTED		0	/* no argument: a nested call of a followed call */
#define MCTRACER_OBJECT_RETURNED	7	/* the returned value is its address */
#define MCTRACER_OBJECT_BEGINS		(1ULL << 36)
#define MCTRACER_OBJECT_ENDS		(1ULL << 37)
#define MCTRACER_OBJECTS		4	/* of one call */

/* A gap */
#define MCTRACER_GAP_UNCOUNTED		(1ULL << 52)
#define MCTRACER_GAP_OVERWRITTEN	(1ULL << 51)

#define MCTRACER_CLOCK_SHIFT	32
#define MCTRACER_CLOCK_IS_NS	(1ULL << 38)
#define MCTRACER_CLOCK_HIGH	40

/* A mark */
#define MCTRACER_MARK_SHIFT	32
#define MCTRACER_MARK_MARK	0
#define MCTRACER_MARK_ON	1	/* recording begins */
#define MCTRACER_MARK_OFF	2	/* recording ends, on all CPUs */
#define MCTRACER_MARK_OFF_SOON	3	/* recording will end after a delay */
#define MCTRACER_MARK_SNAPSHOT	4	/* a copy of the rings is kept */
#define MCTRACER_MARK_FOLLOW_FULL	5	/* an object or call is not followed: too many */
#define MCTRACER_MARK_DAMAGED	6	/* memory did not survive a reboot; in no ring */

/* The smallest buffer for read(), in bytes. read() returns whole packets only. */
#define MCTRACER_READ_MIN	512

/* The sync words end at most this many bytes behind a multiple of sync_every. */
#define MCTRACER_SYNC_WITHIN	8192

/* Fields of head: a position, and above it the low bits of a count for the kernel's use. */
#define MCTRACER_POSITION_BITS	54
#define MCTRACER_POSITION_MASK	((1ULL << MCTRACER_POSITION_BITS) - 1)

/* Nobody writes the ring any more, as that of an earlier boot: do not wait for its words. */
#define MCTRACER_RING_DEAD	1

/**
 * struct mctracer_ring_header - the header before a mapped ring
 * @magic: MCTRACER_MAGIC
 * @version: MCTRACER_VERSION; changes when a part of this format changes its meaning. Additions
 *	replace zeroes, or are new kinds of meta words
 * @header_size: offset of the ring in the mapping
 * @cpu: the CPU whose calls these are
 * @ring_size: bytes, a power of two
 * @sync_every: task, clock and count are repeated at each multiple of this position
 * @flags: MCTRACER_RING_DEAD and so on
 * @start: the position of the first word that is shown: the position at the last clear
 * @start_calls: the number of calls before @start, as MCTRACER_COUNT counts. Load @start, then
 *	@start_calls, and repeat until @start is the same before and after
 * @read: the next position that read() or trace_pipe will consume; not before @start
 * @base: the address that addresses in words are relative to
 * @head: in MCTRACER_POSITION_MASK, the position of the next word to be written
 * @lost: calls that were not recorded because the ring was full (nooverwrite), since boot
 */
struct mctracer_ring_header {
	__u32 magic;
	__u32 version;
	__u32 header_size;
	__u32 cpu;
	__u64 ring_size;
	__u32 sync_every;
	__u32 flags;
	__u64 start;
	__u64 start_calls;
	__u64 read;
	__u64 base;
	__u64 head;	/* at 64: the fields from here on change with each word */
	__u64 lost;
};

#endif /* _UAPI_LINUX_MCTRACER_H */
