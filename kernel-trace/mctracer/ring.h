/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The per-CPU ring: records of fixed size, overwritten from the oldest on.
 *
 * One ring belongs to one CPU. Only code running on that CPU writes: tasks,
 * and the interrupts and NMIs that nest in them. Anybody reads, at any time,
 * from any CPU, and never stops a writer. Nobody takes a lock and nobody uses
 * a locked instruction.
 *
 * Positions
 * ---------
 * A position is the number of bytes ever reserved before it, plus where the
 * count began. Positions never repeat; a record's slot is its position modulo
 * the ring's size, a power of two, and its lap is its position divided by the
 * size. The count begins two laps below its overflow, so that a mistake at the
 * overflow shows soon.
 *
 *	head	the next position to reserve. Only grows.
 *	start	the position that counting starts from; moved up to head to
 *		clear the ring, which leaves the writers alone.
 *	read	the next position to consume: start, if nobody has. Nothing
 *		before it is shown any more.
 *	limit	while the oldest records are to be kept: a size above read.
 *		From there on calls are counted as lost. Only the low half, to
 *		be read in one step everywhere; sizes are far below 2^31.
 *	floor	records before this position are not shown any more; silence.h
 *		says why.
 *
 * Life of a slot
 * --------------
 *	written		holds the record of some position, whole.
 *	reserved	head has passed its new position. Still holds the record
 *			of one lap ago, or parts of both.
 *	committed	parent_ip, which is stored last, is the new one: written
 *			again.
 *
 * In parent_ip, bit 31 is inverted on odd laps. So a slot whose parent_ip is
 * that of one lap ago can be told from one that is committed, without a
 * sequence number and without trust in the clock. Memory begins as zeroes and
 * laps with an even one: what was never written is not committed either.
 *
 * Writing is: load head, take the time, advance head by a compare-and-exchange
 * that fails if an interrupt has reserved meanwhile (then take the time again),
 * store the stamp and ip, store parent_ip. Therefore positions are in the order
 * in which the time was taken; and an interrupt finds the ring either not yet
 * touched by the writer it interrupts, or with a slot set aside for it.
 *
 * Between reserve and commit the writer must not be preempted or migrated: the
 * slot would stay half-written for long, or be written from another CPU after
 * it was lapped.
 *
 * When is a copy of a slot valid?
 * -------------------------------
 * A reader that wants position P copies parent_ip, then the rest, then looks at
 * head. The copy is the record of P if
 *
 *  (V1) head - P <= size after the copy: no writer had reserved the slot for
 *	 the next lap when the last of it was copied; so nothing of the next lap
 *	 is in it. Else P was overwritten.
 *  (V2) bit 31 of parent_ip is that of P's lap: so P was committed when it was
 *	 copied, and the rest, copied after it, is P's. Else P is reserved, but
 *	 not committed yet.
 *
 * Barriers
 * --------
 * On x86 each is a compiler barrier: stores are seen in order, and so are loads.
 *
 *	writer			reader			what it guarantees
 *	W1 head before slot	R2 slot before head	V1
 *	W2 stamp, ip before	R1 parent_ip before	V2
 *	   parent_ip		   stamp, ip
 *
 * What remains
 * ------------
 * If interrupts that hit a writer between reserve and commit write a whole ring
 * full of records, then its late stores go to a slot that holds a later record.
 * Once parent_ip is stored, V2 rejects that slot: its record is not shown, and
 * this is the one case in which a record is missing that counts as an entry.
 * Until then, a record mixed of both can be shown to a reader on another CPU
 * that copies this very slot between the late stores: two instructions, or as
 * long as a further interrupt makes of them. If it was lapped twice, the mixed
 * record stays.
 *
 * A ring holds at least MCTRACER_RING_MIN_RECORDS; at the default size it takes
 * 65536 calls from within a single interruption of those few instructions.
 */
#ifndef _KERNEL_TRACE_MCTRACER_RING_H
#define _KERNEL_TRACE_MCTRACER_RING_H

#include <linux/cache.h>
#include <linux/jiffies.h>
#include <linux/kconfig.h>
#include <linux/mmzone.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/types.h>
#include <asm/barrier.h>
#include <asm/rwonce.h>

#include "encoding.h"

#define MCTRACER_RING_MIN_RECORDS	4096
#define MCTRACER_RING_MIN_SIZE		(MCTRACER_RING_MIN_RECORDS * sizeof(struct mctracer_record))
/* On 64-bit, lap_factor is at least 2; on 32-bit, ring.c allocates contiguous pages. */
#define MCTRACER_RING_MAX_SIZE		(IS_ENABLED(CONFIG_64BIT) ? SZ_1G : \
					 PAGE_SIZE << MAX_PAGE_ORDER)

struct mctracer_ring {
	/*
	 * The page that user space maps. head and lost are written by the ring's
	 * CPU while tracing; the rest under the tracer's mutex.
	 */
	struct mctracer_ring_header user;

	/* Under the mutex, but read by writers, whom it keeps away to be changed: */
	void *base __aligned(PAGE_SIZE);	/* NULL: no memory yet, nothing may be written */
	u64 mask;		/* size in bytes - 1 */
	u32 lap_factor;		/* moves a position's lowest lap bit to bit 31 */

	/*
	 * Under the mutex, and on a cache line that writers do not need: consumers
	 * write it all the time. Only writers that keep the oldest read limit.
	 */
	u32 limit ____cacheline_aligned;
	u64 floor;		/* a position */
	u64 missed;		/* records passed over since the last one consumed */
	u64 lost_before;	/* user.lost at the last clear */
};

/*
 * How many records, at one moment: written = read + entries + overwritten + lost.
 */
struct mctracer_ring_counts {
	u64 written;	/* calls that came, lost ones too */
	u64 read;
	u64 entries;
	u64 overwritten;
	u64 lost;
	u64 end;	/* the position that follows the newest entry */
};

/* May sleep. -EINVAL if @size, in bytes, isn't a power of two in range; -ENOMEM. */
int mctracer_ring_alloc(struct mctracer_ring *ring, size_t size, int node);

/* Only when nobody writes or reads any more. */
void mctracer_ring_free(struct mctracer_ring *ring);

/*
 * Give @ring the memory of @new, which was allocated for it, with the latest
 * records, if it has any, as many as fit, and free its own. Nobody may be writing
 * or reading.
 */
void mctracer_ring_move(struct mctracer_ring *ring, struct mctracer_ring *new);

/* Forget what was overwritten, before writers come that keep the oldest. */
void mctracer_ring_settle(struct mctracer_ring *ring);

/* Forget what is in the ring. Needs no pause of its writers. Under the tracer's mutex. */
void mctracer_ring_clear(struct mctracer_ring *ring);

/* The page frame at @offset in the ring. */
unsigned long mctracer_ring_pfn(const struct mctracer_ring *ring, size_t offset);

/* The next position to be reserved. */
u64 mctracer_ring_end(const struct mctracer_ring *ring);

/* Exact if nobody writes meanwhile. Under the tracer's mutex. */
struct mctracer_ring_counts mctracer_ring_counts(const struct mctracer_ring *ring);

/*
 * Consuming. mctracer_ring_peek() moves ring->user.read past what can't be read any
 * more, adds the number of these records to ring->missed, and copies the record
 * that is there; false if there is none. @live says that the ring is being
 * written. @again says that the reader has been here before: if its record was
 * overwritten since, it gets some distance from the writer, at the cost of an
 * eighth of the ring. mctracer_ring_consume() takes the record that was copied.
 * Both under the tracer's mutex.
 */
bool mctracer_ring_peek(struct mctracer_ring *ring, struct mctracer_record *record,
			bool live, bool again);
void mctracer_ring_consume(struct mctracer_ring *ring);

/*
 * Consume as many records as fit into @size bytes of user space, with notes of
 * gaps, but for no longer than mctracer_time_is_up() allows. The number of bytes,
 * or -EFAULT if there are none because of that. May sleep.
 */
ssize_t mctracer_ring_consume_to_user(struct mctracer_ring *ring, void __user *to, size_t size,
				      bool live);

/* Copy the record of @pos; false if it was overwritten or is not committed yet. */
bool mctracer_ring_read(const struct mctracer_ring *ring, u64 pos,
			struct mctracer_record *record);

/*
 * For what is done for each of many records. Where cond_resched() is a function
 * it is traced: calling it would write a record for each one that is read. Who
 * unregisters a hook waits for tasks that do not sleep, unless they tell that they
 * run no hook.
 */
static inline void mctracer_cond_resched(void)
{
	rcu_tasks_qs(current, false);
	if (need_resched())
		cond_resched();
}

/*
 * Readers take records away under the tracer's mutex for as long as a tick, begun at
 * @start in jiffies: those of busy CPUs would never come to an end.
 */
static inline bool mctracer_time_is_up(unsigned long start)
{
	return time_after(jiffies, start + 1);
}

static inline u64 mctracer_ring_size(const struct mctracer_ring *ring)
{
	return ring->base ? ring->mask + 1 : 0;
}

/*
 * The four steps of writing. Inlined into the hook: no calls, no faults, and
 * all of it relative to the CPU's own ring. Preemption must be off from before
 * the first step to after the last.
 */
static __always_inline u64 mctracer_ring_head(struct mctracer_ring __percpu *ring)
{
	/* On 32-bit in two steps; if an interrupt gets in between, reserving fails. */
	u64 head = raw_cpu_read(ring->user.head);

	barrier();	/* head before the time */
	return head;
}

/* False if an interrupt has reserved @pos meanwhile. */
static __always_inline bool mctracer_ring_reserve(struct mctracer_ring __percpu *ring,
						  u64 pos)
{
	u64 expected = pos;

	return this_cpu_try_cmpxchg64(ring->user.head, &expected,
				      pos + sizeof(struct mctracer_record));
}

/* For a ring that keeps the oldest: true, and counted as lost, if @pos is full. */
static __always_inline bool mctracer_ring_full(struct mctracer_ring __percpu *ring, u64 pos)
{
	bool counted;
	u64 lost;

	if ((s32)(this_cpu_read(ring->limit) - (u32)pos) > 0)
		return false;
	lost = raw_cpu_read(ring->user.lost);
	do {
		counted = this_cpu_try_cmpxchg64(ring->user.lost, &lost, lost + 1);
	} while (!counted);
	return true;
}

static __always_inline struct mctracer_record *
mctracer_ring_fill(struct mctracer_ring __percpu *ring, u64 pos, u32 ip, u64 stamp)
{
	struct mctracer_record *slot;

	smp_wmb();	/* W1 */
	/* raw: lets the compiler use them as memory operands */
	slot = raw_cpu_read(ring->base) + (pos & raw_cpu_read(ring->mask));
	WRITE_ONCE(slot->stamp, stamp);
	WRITE_ONCE(slot->ip, ip);
	return slot;
}

static __always_inline void mctracer_ring_commit(struct mctracer_ring __percpu *ring, u64 pos,
						 struct mctracer_record *slot, u32 parent_ip)
{
	u32 lap = (u32)pos * raw_cpu_read(ring->lap_factor) & MCTRACER_LAP_BIT;

	smp_wmb();	/* W2 */
	WRITE_ONCE(slot->parent_ip, parent_ip ^ lap);
}

#endif /* _KERNEL_TRACE_MCTRACER_RING_H */
