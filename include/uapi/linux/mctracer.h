/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * The binary form of what mctracer records: /sys/kernel/debug/mctracer/per_cpu/cpuN/raw
 *
 * read() gives words, and takes away what it gives. Before the first word, and where
 * another reader has taken some or the ring was quicker, it gives words, in no ring, that
 * say how many calls are missing there, and task, time and clock. mmap(), read-only and
 * at offset 0,
 * gives the header, header_size bytes, and behind it the ring, ring_size bytes, both as
 * the kernel writes them. A program follows it without taking anything away and without
 * being noticed; while it does, buffer_size_kb can't be changed.
 *
 * Words
 * -----
 * All is made of words of 64 bits, each of which says what it is. linux/mctracer_decode.h
 * turns them into events, one at a time, in C that any program may include.
 *
 *	bit 63		the lap's, see below; from read() always 1
 *	bit 31		1: a call
 *
 * A call has in bits 0 to 31 the low half of an address in the called function, and in
 * bits 32 to 62 that of the place in its caller, without bit 31, which is 1, too. On
 * 64-bit the upper half of an address is the sign extension of the lower.
 *
 * Any other word has its type in bits 28 to 30, and 59 bits of data: bits 32 to 62 are
 * the lower 31 of these, bits 0 to 27 are the upper 28. One of type MCTRACER_MORE
 * continues what the word before it began; all others begin something. These rules will
 * not change. Whoever meets a type that he doesn't know, or more words of
 * MCTRACER_MORE than he knows of, passes over them.
 *
 * What a call's task and clock are is said by words before it, and what can't be
 * known without older words is said again at each position that is a multiple of
 * notes_every, or less than MCTRACER_NOTES_WITHIN bytes after it. So that is where to
 * begin: at the first such position that is still there, and that is not before start;
 * what is before that need not even be written. The calls between it and the first task
 * word that follows belong to the task that this one names. From start on the first
 * notes may take as long: until then calls have no task, or that of words before.
 *
 * Positions
 * ---------
 * A position is the number of bytes ever written before it, plus where that began, in
 * MCTRACER_POSITION_BITS bits. So it wraps some day; only differences count. The word
 * of position P is at offset P % ring_size in the ring, its lap is P / ring_size. In the
 * mapped ring bit 63 is inverted on odd laps. A follower that wants the word of P:
 *
 *	1. loads head, until P is not head's position
 *	2. loads the word
 *	3. loads head again; if head's position - P > ring_size the word was overwritten
 *	   while it was being read, or before
 *	4. undoes the inversion; if bit 63 isn't set now, the word is not written yet:
 *	   goes back to 2
 *
 * each in this order for the processor, too: on x86 it is enough to keep the compiler
 * from reordering. A 32-bit program loads head's upper half, the lower, and the upper
 * again, until both upper ones are the same; of a word it loads the upper half first. A
 * word that is not written after half a ring of later ones never will be. Who has been
 * overtaken goes on at a multiple of notes_every; the MCTRACER_COUNT there says how many
 * calls he has lost. After a clear start is another: what is before was not lost, but
 * cleared, and start_calls is what the next MCTRACER_COUNT is to be compared with.
 *
 * Times
 * -----
 * With the option "time" each call follows a time of its own. Without it some do; a call
 * between two times came between them, and calls of one ring came in their order. What
 * the clock is, is said in the stream and not in the header: so each time is converted
 * as was right when it was taken, also when the clock has changed or the machine slept
 * since.
 */
#ifndef _UAPI_LINUX_MCTRACER_H
#define _UAPI_LINUX_MCTRACER_H

#include <linux/types.h>

#define MCTRACER_MAGIC		0x7274636d	/* "mctr" */
#define MCTRACER_VERSION	2

#define MCTRACER_WORD_VALID	(1ULL << 63)
#define MCTRACER_WORD_CALL	(1ULL << 31)
#define MCTRACER_TYPE_SHIFT	28
#define MCTRACER_DATA_BITS	59

/*
 * MCTRACER_TIME: data is half of a full reading of the clock. 0: nothing, a word that
 *	only fills a place.
 * MCTRACER_MORE: data continues the word before.
 * MCTRACER_TASK: from now on calls are those of another task, or of the same if it was
 *	so before: its pid, and above it the name's character 0. Three of MCTRACER_MORE
 *	follow: the name's characters 1 to 7, those from 8 to 14, the first one in the
 *	lowest bits, and the id of the task's process.
 * MCTRACER_CONTEXT: in which the calls that follow are made; MCTRACER_IRQS_OFF and so on.
 * MCTRACER_OTHER: the upper bits of data say what, see MCTRACER_OTHER_SHIFT.
 * MCTRACER_RETURN: a function returns. data is the low half of an address in it without bit
 *	31, which is 1, and above that MCTRACER_RETURN_TAIL and so on. It counts as a call does.
 * MCTRACER_VALUE: what the return, or mark, behind it returns: the lower 59 bits, with a
 *	sign. If that is not all, MCTRACER_MORE holds the others. Before a call, several of
 *	them: what the registers of its arguments held, MCTRACER_ARGS at most, in their order.
 * MCTRACER_DATA: what lies in memory where an argument of the call behind it points to: so many
 *	bytes as bits 56 to 58 say, MCTRACER_DATA_BYTES at most, the first one lowest. Several of
 *	them follow each other, MCTRACER_DATA_WORDS at most.
 */
#define MCTRACER_TIME		0
#define MCTRACER_MORE		1
#define MCTRACER_TASK		2
#define MCTRACER_OTHER		3
#define MCTRACER_CONTEXT	4
#define MCTRACER_VALUE		5
#define MCTRACER_DATA		6
#define MCTRACER_RETURN		7

/* A task */
#define MCTRACER_PID_BITS	22
#define MCTRACER_COMM_SHIFT	44
#define MCTRACER_COMM_CHARS	7	/* in each further word */

/* The most registers that arguments are passed in: fewer on 32-bit */
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
#define MCTRACER_SOFTIRQ		0x00000100	/* runs; the 7 bits above: disabled */
#define MCTRACER_HARDIRQ		0x000f0000
#define MCTRACER_NMI			0x00f00000
#define MCTRACER_IRQS_OFF		0x01000000
#define MCTRACER_NEED_RESCHED		0x02000000	/* the task's flag */
#define MCTRACER_PREEMPT_RESCHED	0x04000000	/* the flag in the preempt count */
#define MCTRACER_CONTEXT_UNKNOWN	0x40000000	/* not recorded from here on */

/*
 * Others: the value is what is below the 6 bits that say which.
 *
 * MCTRACER_COUNT: how many calls there are before this word, since counting began. To
 *	be compared with another one of the same ring, modulo 2^MCTRACER_COUNT_BITS.
 * MCTRACER_CLOCK: how the times that follow become nanoseconds of the kernel's log
 *	(unless a hypervisor provides that time): offset + (time * mult >> shift), where
 *	the product needs more than 64 bits. mult is in bits 0 to 31 of the value, the
 *	shift in 32 to 37, bit 38 tells that the clock is CLOCK_MONOTONIC and not the
 *	cycle counter, offset's upper 5 bits are in 40 to 44, and the other 59 in an
 *	MCTRACER_MORE. The clock may have been set back here.
 * MCTRACER_GAP: that many calls are missing here. In the ring: not recorded because it was
 *	full (nooverwrite), copied or resized, and no part of MCTRACER_COUNT; 0: not recorded
 *	and not counted, since recording was off or chose others. What read() puts before it
 *	goes on elsewhere: overwritten before they could be read.
 * MCTRACER_FRAME: belongs to the call or return before, with those of them that precede it: from
 *	where that call's caller was called, or the caller of that. The value is the low
 *	half of the address; the first one is the call's own parent_ip.
 * MCTRACER_MARK: a trigger did something that is not seen otherwise, at the function of
 *	which the value has the low half of an address in bits 0 to 31; above that,
 *	MCTRACER_MARK_ON and so on. The time word before is its time.
 * MCTRACER_OBJECT: the call, or return, behind it concerns an object that is being followed. Its
 *	number is in bits 0 to 31 of the value, above that MCTRACER_OBJECT_ROLE, and whether it
 *	begins or ends here to be followed. MCTRACER_OBJECTS at most.
 * MCTRACER_TOOK: how long the call took whose return, or mark, is behind it, in nanoseconds.
 * MCTRACER_MODULES: how many times modules had come or gone, in 32 bits. It is repeated with task,
 *	clock and count, and written before the first call of a module that comes. So an address
 *	in a module's function belongs to a module that was there at this number.
 */
#define MCTRACER_OTHER_SHIFT	53
#define MCTRACER_COUNT_BITS	51
#define MCTRACER_COUNT		1
#define MCTRACER_CLOCK		2
#define MCTRACER_GAP		3
#define MCTRACER_FRAME		4
#define MCTRACER_MARK		5
#define MCTRACER_TOOK		6
#define MCTRACER_OBJECT		7
#define MCTRACER_MODULES	8

/* An object, and its role: which argument is its address, counted from 1, or one of those */
#define MCTRACER_OBJECT_ROLE_SHIFT	32
#define MCTRACER_OBJECT_ROLE		15
#define MCTRACER_OBJECT_BELOW		0	/* none: it is called for one that is */
#define MCTRACER_OBJECT_RETURNED	7	/* what is returned is */
#define MCTRACER_OBJECT_BEGINS		(1ULL << 36)
#define MCTRACER_OBJECT_ENDS		(1ULL << 37)
#define MCTRACER_OBJECTS		4	/* of one call */

#define MCTRACER_CLOCK_SHIFT	32
#define MCTRACER_CLOCK_IS_NS	(1ULL << 38)
#define MCTRACER_CLOCK_HIGH	40

/* A mark */
#define MCTRACER_MARK_SHIFT	32
#define MCTRACER_MARK_MARK	0
#define MCTRACER_MARK_ON	1	/* recording begins */
#define MCTRACER_MARK_OFF	2	/* recording ends, on all CPUs */
#define MCTRACER_MARK_OFF_SOON	3	/* it will, after a while */
#define MCTRACER_MARK_SNAPSHOT	4	/* a copy of the rings is kept */
#define MCTRACER_MARK_FOLLOW_FULL	5	/* an object is not followed: there are too many */
#define MCTRACER_MARK_DAMAGED	6	/* memory that did not outlive a reboot; in no ring */

/* The fewest bytes that read() is to be asked for. It gives whole entities. */
#define MCTRACER_READ_MIN	256

/* How far behind a multiple of notes_every the notes may come to an end, in bytes. */
#define MCTRACER_NOTES_WITHIN	8192

/* What head holds: a position, and above it the low bits of a count that is the kernel's. */
#define MCTRACER_POSITION_BITS	54
#define MCTRACER_POSITION_MASK	((1ULL << MCTRACER_POSITION_BITS) - 1)

/**
 * struct mctracer_ring_header - what precedes a mapped ring
 * @magic: MCTRACER_MAGIC
 * @version: MCTRACER_VERSION; changes when what is here changes its meaning. What is new
 *	comes in place of zeroes, and as types of words
 * @header_size: offset of the ring in the mapping
 * @reserved: 0
 * @ring_size: bytes, a power of two
 * @notes_every: task, clock and count are said again at each multiple of this position
 * @start: the position where what is shown begins: the last clear
 * @start_calls: how many calls there are before @start, as MCTRACER_COUNT counts. Load
 *	@start, then this, and again until @start is the same before and after
 * @read: the next position to be taken by read() or trace_pipe; not before @start
 * @reserved2: 0
 * @head: in MCTRACER_POSITION_MASK the position that the next word will have
 * @lost: calls not recorded because the ring was full (nooverwrite), since boot
 */
struct mctracer_ring_header {
	__u32 magic;
	__u32 version;
	__u32 header_size;
	__u32 reserved;
	__u64 ring_size;
	__u64 notes_every;
	__u64 start;
	__u64 start_calls;
	__u64 read;
	__u64 reserved2;
	__u64 head;	/* at 64: what follows is written all the time */
	__u64 lost;
};

#endif /* _UAPI_LINUX_MCTRACER_H */
