/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The per-CPU ring: words of 64 bits, overwritten from the oldest on.
 *
 * One ring belongs to one CPU. Only code running on that CPU writes: tasks, and the
 * interrupts and NMIs that nest in them. Anybody reads, at any time, from any CPU, and
 * never stops a writer. Nobody takes a lock, and who records a call uses no locked
 * instruction.
 *
 * Positions
 * ---------
 * A position is the number of bytes ever reserved before it, plus where the count
 * began, modulo 2^54. A word's slot is its position modulo the ring's size, a power of
 * two; its lap is its position divided by the size. Positions begin two laps below
 * their overflow, so that a mistake at the overflow shows soon.
 *
 *	head	the next position to reserve, and above it the low 10 bits of how many
 *		words are no calls. Both grow in one step: so whoever loads head knows how
 *		many calls there are before that position.
 *	others	that number in full, as of some moment that is less than 2^10 of such
 *		words ago.
 *	start	the position that is counted from; moved up to head to clear the ring,
 *		which leaves the writers alone.
 *	read	the next position to be consumed: start, if nobody has. Nothing before it
 *		is shown any more.
 *	limit	while the oldest words are to be kept: a size above the notes before
 *		read, less a margin. Only the low half, to be read in one step everywhere.
 *
 * At each multiple of a quarter of the size, or soon after it, the writers say again
 * all that readers need to know to go on from there: time, clock, task, count of calls.
 * So readers begin at such a position, the first one that is not overwritten, and what
 * is before it counts as overwritten, too.
 *
 * Life of a slot
 * --------------
 *	written		holds the word of some position, whole.
 *	reserved	head has passed its new position. Still holds the word of one lap
 *			ago, or its upper half.
 *	committed	the upper half, which is stored last, is the new one: written
 *			again.
 *
 * Bit 63 is inverted on odd laps. So a slot whose upper half is that of one lap ago
 * can be told from one that is committed. Memory begins as zeroes and laps with an even
 * one: what was never written is not committed either.
 *
 * Writing is: advance head by one instruction, store the lower half, store the upper
 * half. An interrupt finds the ring either not yet touched by the writer it interrupts,
 * or with a slot set aside for it. Words that belong together are reserved together.
 * Where a time goes with it, head is loaded before the time is taken, and it must be the
 * same when the slot is reserved: therefore times are in the order of positions.
 *
 * From before the first step to after the last the writer must not be preempted or
 * migrated: the slot would stay half-written for long, or be written from another CPU
 * after it was lapped.
 *
 * When is a copy of a slot valid?
 * -------------------------------
 * A reader that wants position P copies the word (on 32-bit the upper half, then the
 * lower), then looks at head. The copy is the word of P if
 *
 *  (V1) head - P <= size after the copy: no writer had reserved the slot for the next
 *	 lap when the last of it was copied; so nothing of the next lap is in it. Else P
 *	 was overwritten.
 *  (V2) bit 63 is that of P's lap: so P was committed when it was copied, and the lower
 *	 half, copied with it or after it, is P's. Else P is reserved, but not committed
 *	 yet.
 *
 * What the ring remembers
 * -----------------------
 * The task that the latest words belong to, or the one whose calls are not recorded;
 * the hook compares them with the current one. A writer that changes what has been said of
 * a task, or whether it is recorded, changes that first and then clears both on all CPUs (F1).
 * A hook that records a task sets it, and then looks at what must be said of it and whether it
 * must be recorded (F2). So either the hook sees what was changed, or what it set is cleared,
 * and the next call looks again.
 *
 * If one task has changed only those CPUs are visited that have set a bit for it (where in
 * note.c). A hook sets the bit after the task and before it looks, with a full barrier on either
 * side (F2); the writer reads the bits after its change (F1). So a writer that misses the bit
 * has made its change visible before that hook looks. All bits are cleared before all tasks
 * are: a hook that still found its bit has its task cleared.
 *
 * The memory of a task_struct may become another task's. Before that one runs all CPUs
 * forget it (mctracer_task_changed()), and the one before does not run any more: nobody
 * sets it in between.
 *
 * Barriers
 * --------
 * On x86 W1, W2, R1 and R2 are compiler barriers: stores are seen in order, and so are
 * loads.
 *
 *	writer			reader			what it guarantees
 *	W1 head before slot	R2 slot before head	V1
 *	W2 lower half before	R1 upper half before	V2
 *	   upper half		   lower half
 *
 *	F1 what is said of a	F2 task before what is	a task that is not forgotten
 *	   task before task	   said of it		is as it was said to be
 *
 * What remains
 * ------------
 * If interrupts that hit a writer between reserve and commit write a whole ring full of
 * words, then its late stores go to a slot that holds a later word. Once the upper half
 * is stored, V2 rejects that slot. Until then, a word of which the lower half is the
 * late one's can be shown to a reader on another CPU that copies this very slot between
 * the two stores. If interrupts write two rings full, the slot is reserved two laps
 * later while it still holds the word of that lap's parity from before the writer: until
 * it is committed, V1 and V2 take that for the new one. A call whose word is never
 * committed is counted all the same, as an entry, until it is overwritten.
 *
 * A name that another CPU changes may be recorded half for the calls until it has.
 *
 * A ring holds at least MCTRACER_RING_MIN_WORDS; at the default size it takes 131072
 * words from within a single interruption of those few instructions. While nobody
 * writes no slot is left like that: mctracer_ring_move() writes all slots anew.
 */
#ifndef _KERNEL_TRACE_MCTRACER_RING_H
#define _KERNEL_TRACE_MCTRACER_RING_H

#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/cache.h>
#include <linux/kconfig.h>
#include <linux/mmzone.h>
#include <linux/percpu.h>
#include <linux/sizes.h>
#include <linux/threads.h>
#include <linux/types.h>
#include <asm/barrier.h>
#include <asm/rwonce.h>
#include <uapi/linux/mctracer.h>
#include <uapi/linux/mctracer_decode.h>

struct task_struct;

/* The addresses of a call chain that are recorded with a call, at most. */
#define MCTRACER_FRAMES_MAX	64

#define MCTRACER_WORD_SIZE		sizeof(u64)
#define MCTRACER_RING_MIN_WORDS		8192
#define MCTRACER_RING_MIN_SIZE		(MCTRACER_RING_MIN_WORDS * MCTRACER_WORD_SIZE)
/* On 64-bit, lap_factor is at least 2; on 32-bit, ring.c allocates contiguous pages. */
#define MCTRACER_RING_MAX_SIZE		(IS_ENABLED(CONFIG_64BIT) ? SZ_1G : \
					 PAGE_SIZE << MAX_PAGE_ORDER)

/*
 * After so many bytes at the latest the hook calls out: in compact form a time is
 * recorded then. Each has fewer than 2^10 words that are no calls, with those of the
 * interrupts that delay it.
 */
#define MCTRACER_COMPACT_BLOCK		SZ_512
#define MCTRACER_EXACT_BLOCK		SZ_2K

/* So many bytes are kept free where the oldest are kept: an exact block each of a task, */
#define MCTRACER_KEEP_MARGIN		(SZ_8K + SZ_4K)	/* softirq, interrupt, NMI; notes, frames */

#define MCTRACER_OTHERS_BITS		(64 - MCTRACER_POSITION_BITS)
/* What is added to head for words: all are calls, or @others of them are not. */
#define MCTRACER_STEP(words, others)	((words) * MCTRACER_WORD_SIZE + \
					 ((u64)(others) << MCTRACER_POSITION_BITS))

static_assert(BIT(MCTRACER_PID_BITS) >= PID_MAX_LIMIT);

/* In context: not recorded; and while a word is being written that says which. */
#define MCTRACER_NO_CONTEXT		U32_MAX
#define MCTRACER_CHANGING_CONTEXT	(U32_MAX - 1)

struct mctracer_ring {
	/*
	 * The page that user space maps. head and lost are written by the ring's CPU
	 * while tracing; the rest under the tracer's mutex.
	 */
	struct mctracer_ring_header user;

	/* See "What the ring remembers". Written by the ring's CPU, and cleared by others. */
	struct task_struct *task __aligned(PAGE_SIZE);
	struct task_struct *skipped;

	/* Under the mutex, but read by writers, whom it keeps away to be changed: */
	void *base;		/* NULL: no memory yet, nothing may be written */
	u64 mask;		/* size in bytes - 1 */
	u32 lap_factor;		/* moves a position's lowest lap bit to bit 31 */

	/* Of the ring's CPU. */
	u32 context;		/* of the latest words, as hooks compare it */
	u32 time_low;		/* low half of the position behind the hook's latest time */
	u64 others;
	u64 noted_at;		/* the quarter whose notes are written */
	u64 lost_noted;		/* so many of user.lost a gap has been written for */
	u64 last_time;
	u64 marked;		/* the position behind the latest mark */
	struct task_struct *described;	/* by the latest words of a task; as task */
	u32 hole;		/* the last hole before the latest notes, see note.c */
	struct mctracer_clock clock;	/* which has been written */
	bool renew;		/* write all notes; also set by others */
	bool lent;		/* base is not the ring's to free; as base */
	u32 moves;		/* how often its words got other memory; under the mutex */

	/*
	 * Under the mutex, and on a cache line that writers do not need: consumers write
	 * it all the time. Only writers that keep the oldest read limit.
	 */
	u32 limit ____cacheline_aligned;
	u64 origin;		/* the position where counting began */
	u64 start_calls;	/* calls before the last clear */
	u64 read_calls;		/* calls before user.read */
	u64 nr_read;		/* calls read since user.start */
	u64 lost_before;	/* user.lost at the last clear */
};

/*
 * How many calls, at one moment: written = read + entries + overwritten + lost.
 */
struct mctracer_ring_counts {
	u64 written;	/* calls that came, lost ones too */
	u64 read;
	u64 entries;
	u64 overwritten;
	u64 lost;
};

/* May sleep. -EINVAL if @size, in bytes, isn't a power of two in range; -ENOMEM. */
int mctracer_ring_alloc(struct mctracer_ring *ring, size_t size, int node);

/* The same at @base, which is all zeroes and stays where it is. -EINVAL. */
int mctracer_ring_place(struct mctracer_ring *ring, void *base, size_t size);

/* Only when nobody writes or reads any more. */
void mctracer_ring_free(struct mctracer_ring *ring);

/* Forget what is in the ring. Needs no pause of its writers. Under the tracer's mutex. */
void mctracer_ring_clear(struct mctracer_ring *ring);

/* All that is before @pos, with so many @calls before it, was consumed or overwritten. */
void mctracer_ring_set_read(struct mctracer_ring *ring, u64 pos, u64 calls);

/* The page frame at @offset in the ring. */
unsigned long mctracer_ring_pfn(const struct mctracer_ring *ring, size_t offset);

/* The next position to be reserved, and how many calls there are before it. */
u64 mctracer_ring_end(const struct mctracer_ring *ring);
u64 mctracer_ring_end_calls(const struct mctracer_ring *ring, u64 *end);

/* Calls lost since boot: @ring's CPU may be counting. */
u64 mctracer_ring_lost(const struct mctracer_ring *ring);

/* Append @word while nobody else writes. */
void mctracer_ring_put_at_rest(struct mctracer_ring *ring, u64 word);

/* Where to begin to read: the first position with notes that is not overwritten. */
u64 mctracer_ring_oldest(const struct mctracer_ring *ring);

/* What is to be inverted in words of the lap of @pos. */
static __always_inline u64 mctracer_ring_flip(const struct mctracer_ring *ring, u64 pos)
{
	return (u64)((u32)pos * ring->lap_factor & BIT(31)) << 32;
}

/* What is in @slot now, with bit 63 set if that is committed. */
static __always_inline u64 mctracer_slot_load(const void *slot, u64 flip)
{
	const u32 *halves = slot;
	u64 high;

	if (IS_ENABLED(CONFIG_64BIT))
		return READ_ONCE(*(const u64 *)slot) ^ flip;

	high = (u64)READ_ONCE(halves[1]) << 32;
	smp_rmb();	/* R1 */
	return (high | READ_ONCE(halves[0])) ^ flip;
}

/* The same, of the slot of @pos. */
static inline u64 mctracer_ring_load(const struct mctracer_ring *ring, u64 pos)
{
	return mctracer_slot_load(ring->base + (pos & ring->mask), mctracer_ring_flip(ring, pos));
}

enum mctracer_read {
	MCTRACER_READ_OK,
	MCTRACER_READ_OVERWRITTEN,
	MCTRACER_READ_UNCOMMITTED,
};

/* Copy the word of @pos, which is before the end, with bit 63 set. Any context. */
enum mctracer_read mctracer_ring_read(const struct mctracer_ring *ring, u64 pos, u64 *word);

static inline u64 mctracer_position(u64 head)
{
	return head & MCTRACER_POSITION_MASK;
}

/* How far @to is ahead of @from. */
static inline u64 mctracer_distance(u64 from, u64 to)
{
	return mctracer_position(to - from);
}

/* Of two positions that are less than half of all apart. */
static inline bool mctracer_is_before(u64 a, u64 b)
{
	return mctracer_distance(b, a) >= BIT_ULL(MCTRACER_POSITION_BITS - 1);
}

static inline u64 mctracer_ring_size(const struct mctracer_ring *ring)
{
	return ring->base ? ring->mask + 1 : 0;
}

static inline u64 mctracer_ring_quarter(const struct mctracer_ring *ring)
{
	return (ring->mask + 1) / 4;
}

/*
 * How many words that are no calls there are before the position of @head, from @others,
 * which is such a number and not older than 2^10 of them. The position's overflow carries.
 */
static inline u64 mctracer_ring_others_at(const struct mctracer_ring *ring, u64 head, u64 others)
{
	u64 low = (head >> MCTRACER_POSITION_BITS) -
		  (mctracer_position(head) < mctracer_position(ring->origin));

	return others + ((low - others) & GENMASK_ULL(MCTRACER_OTHERS_BITS - 1, 0));
}

/* Calls before the position of @head. */
static inline u64 mctracer_ring_calls_at(const struct mctracer_ring *ring, u64 head, u64 others)
{
	return (mctracer_distance(ring->origin, head) / MCTRACER_WORD_SIZE -
		mctracer_ring_others_at(ring, head, others)) &
	       (MCTRACER_POSITION_MASK / MCTRACER_WORD_SIZE);
}

/*
 * The steps of writing. Inlined into the hook: no calls, no faults, and all of it
 * relative to the CPU's own ring. Preemption must be off from before the first step to
 * after the last.
 */
static __always_inline u64 mctracer_ring_head(struct mctracer_ring __percpu *ring)
{
	/* On 32-bit in two steps; if an interrupt gets in between, reserving fails. */
	u64 head = raw_cpu_read(ring->user.head);

	barrier();	/* head before the time */
	return head;
}

/* Enough to see whether something was reserved lately. */
static __always_inline u32 mctracer_ring_head_low(struct mctracer_ring __percpu *ring)
{
	return raw_cpu_read(*(u32 __percpu *)&ring->user.head);
}

/* False if an interrupt has reserved something since @head was loaded. */
static __always_inline bool mctracer_ring_reserve_at(struct mctracer_ring __percpu *ring,
						     u64 head, u64 step)
{
	u64 expected = head;

	return this_cpu_try_cmpxchg64(ring->user.head, &expected, head + step);
}

/* What head was. */
static __always_inline u64 mctracer_ring_reserve(struct mctracer_ring __percpu *ring, u64 step)
{
	u64 head;

	if (IS_ENABLED(CONFIG_64BIT))
		return this_cpu_add_return(ring->user.head, step) - step;

	do {
		head = mctracer_ring_head(ring);
	} while (!mctracer_ring_reserve_at(ring, head, step));
	return head;
}

static __always_inline u32 *mctracer_ring_slot(struct mctracer_ring __percpu *ring, u64 head)
{
	smp_wmb();	/* W1 */
	/* raw: lets the compiler use them as memory operands */
	return raw_cpu_read(ring->base) + (head & raw_cpu_read(ring->mask));
}

static __always_inline u32 mctracer_ring_lap(struct mctracer_ring __percpu *ring, u64 head)
{
	return (u32)head * raw_cpu_read(ring->lap_factor) & BIT(31);
}

/* @high without bit 31. */
static __always_inline void mctracer_ring_put(u32 *slot, u32 lap, u32 low, u32 high)
{
	WRITE_ONCE(slot[0], low);
	smp_wmb();	/* W2 */
	WRITE_ONCE(slot[1], high + lap + (u32)BIT(31));
}

/* The same in two steps, for a call; @parent_ip has bit 31. */
static __always_inline void mctracer_ring_put_ip(u32 *slot, u32 ip)
{
	WRITE_ONCE(slot[0], ip);
	smp_wmb();	/* W2 */
}

static __always_inline void mctracer_ring_commit(u32 *slot, u32 lap, u32 parent_ip)
{
	WRITE_ONCE(slot[1], parent_ip ^ lap);
}

#endif /* _KERNEL_TRACE_MCTRACER_RING_H */
