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
 * the ring's size, a power of two. The count begins half a ring below its
 * overflow, so that a mistake at the overflow shows on the first lap.
 *
 *	head	the next position to reserve. Only grows.
 *	start	the position that counting starts from; moved up to head to
 *		clear the ring, which leaves the writers alone.
 *	floor	records before this position are not shown any more; silence.h
 *		says why.
 *
 * Life of a slot
 * --------------
 *	written		holds the record of some position, whole.
 *	reserved	head has passed its new position. Still holds the record
 *			of one lap ago, or parts of both.
 *	committed	the stamp, which is stored last, is the new one: written
 *			again.
 *
 * Writing is: load head, take the time, advance head by a compare-and-exchange
 * that fails if an interrupt has reserved meanwhile (then take the time again),
 * store the addresses, store the stamp. Therefore the order of positions is the
 * order of times, exactly; and an interrupt finds the ring either not yet
 * touched by the writer it interrupts, or with a slot set aside for it.
 *
 * Between reserve and commit the writer must not be preempted or migrated: the
 * slot would stay half-written for long, or be written from another CPU after
 * it was lapped.
 *
 * When is a copy of a slot valid?
 * -------------------------------
 * A reader that wants position P copies the stamp, then the addresses, then
 * looks at head. The copy is the record of P if
 *
 *  (V1) head - P <= size after the copy: no writer had reserved the slot for
 *	 the next lap when the addresses were copied; so nothing of the next lap
 *	 is in it. Else P was overwritten.
 *  (V2) its stamp is not older than that of the last valid position before P:
 *	 then it is not the stamp of one lap ago, so P was committed when the
 *	 stamp was copied, and the addresses copied after it are P's. Else P is
 *	 reserved, but not committed yet. Stamps wrap: where a CPU was silent
 *	 for long, a time shortly before P takes the place of the stamp before
 *	 it (silence.h).
 *
 * The first record that a reader copies has none before it to compare with. A
 * slot that was never written has no ip; else what is copied is a record, at
 * worst of the lap before.
 *
 * Barriers
 * --------
 * On x86 each is a compiler barrier: stores are seen in order, and so are loads.
 *
 *	writer			reader			what it guarantees
 *	W1 head before slot	R2 slot before head	V1
 *	W2 addresses before	R1 stamp before		V2
 *	   stamp		   addresses
 *
 * What remains
 * ------------
 * If interrupts that hit a writer between reserve and its last store write a
 * whole ring full of records, then its late stores go to a slot that belongs to
 * a later position. V2 rejects that slot as soon as the old stamp is stored. A
 * wrong record is shown only if, on top of that, a reader copies this very slot
 * between the two adjacent stores of the addresses and of the stamp. A ring
 * holds at least MCTRACER_RING_MIN_RECORDS, which a single interrupt does not
 * usually reach; at the default size it takes 65536 calls in one interrupt.
 */
#ifndef _KERNEL_TRACE_MCTRACER_RING_H
#define _KERNEL_TRACE_MCTRACER_RING_H

#include <linux/cache.h>
#include <linux/percpu.h>
#include <linux/types.h>
#include <asm/barrier.h>
#include <asm/rwonce.h>

#include "encoding.h"

#define MCTRACER_RING_MIN_RECORDS	4096

struct mctracer_ring {
	u64 head;	/* written by the ring's CPU, while tracing */
	u64 mask;	/* size in bytes - 1 */
	void *base;	/* NULL: no memory yet, nothing may be written */
	u64 start;	/* <= head; written under the tracer's mutex, as floor is */
	u64 floor;	/* <= head */
};

/* How many records, at one moment: written = entries + overwritten. */
struct mctracer_ring_counts {
	u64 written;
	u64 entries;
	u64 overwritten;
	u64 end;	/* the position that follows the newest entry */
};

/* May sleep. Returns -ENOMEM, or -EINVAL if @size isn't a power of two or is too small. */
int mctracer_ring_alloc(struct mctracer_ring *ring, size_t size, int node);

/* Only when nobody writes or reads any more. */
void mctracer_ring_free(struct mctracer_ring *ring);

/* Forget what is in the ring. Needs no pause of its writers. */
void mctracer_ring_clear(struct mctracer_ring *ring);

/* Exact if nobody writes meanwhile. */
struct mctracer_ring_counts mctracer_ring_counts(const struct mctracer_ring *ring);

/*
 * Copy the record of @pos. False if that is not possible: it was overwritten, or
 * is not committed yet. @previous is a stamp that the record must follow; may
 * be NULL.
 */
bool mctracer_ring_read(const struct mctracer_ring *ring, u64 pos,
			const u64 *previous, struct mctracer_record *record);

static inline u64 mctracer_ring_size(const struct mctracer_ring *ring)
{
	return ring->base ? ring->mask + 1 : 0;
}

/*
 * The three steps of writing. Inlined into the hook: no calls, no faults, and
 * all of it relative to the CPU's own ring. Preemption must be off from before
 * the first step to after the last.
 */
static __always_inline u64 mctracer_ring_head(struct mctracer_ring __percpu *ring)
{
	return this_cpu_read(ring->head);
}

/* False if an interrupt has reserved @pos meanwhile. */
static __always_inline bool mctracer_ring_reserve(struct mctracer_ring __percpu *ring,
						  u64 pos)
{
	u64 expected = pos;

	return this_cpu_try_cmpxchg(ring->head, &expected,
				    pos + sizeof(struct mctracer_record));
}

static __always_inline void mctracer_ring_commit(struct mctracer_ring __percpu *ring,
						 u64 pos, u32 ip, u32 parent_ip, u64 stamp)
{
	struct mctracer_record *slot;

	/* raw: lets the compiler use both as memory operands */
	slot = raw_cpu_read(ring->base) + (pos & raw_cpu_read(ring->mask));
	smp_wmb();	/* W1 */
	WRITE_ONCE(slot->ip, ip);
	WRITE_ONCE(slot->parent_ip, parent_ip);
	smp_wmb();	/* W2 */
	WRITE_ONCE(slot->stamp, stamp);
}

#endif /* _KERNEL_TRACE_MCTRACER_RING_H */
