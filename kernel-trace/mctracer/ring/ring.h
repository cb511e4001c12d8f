/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The per-CPU ring buffer of 64-bit words: new words overwrite the oldest ones.
 *
 * Each CPU has one ring. Only code running on that CPU writes: tasks, and the interrupts and
 * NMIs that nest in them. Readers on any CPU may read at any time, and never stop a writer.
 * Neither side takes a lock, and a writer that records a call uses no locked instruction.
 *
 * Words are calls and returns ("calls" in names and counts below means both), or meta words:
 * times, tasks, and all others.
 *
 * Positions
 * ---------
 * A position is the number of bytes ever reserved before it, plus the position where
 * counting began (origin), modulo 2^54. A word's slot is its position modulo the ring's
 * size, a power of two; its lap is its position divided by the size. The origin is two laps
 * below the overflow, so that a bug at the overflow shows soon.
 *
 *	head	the next position to reserve; above it the low 10 bits of the number of
 *		meta words. Both grow in one step: so one load of head gives the number of
 *		calls before that position.
 *	others	the number of meta words in full, as of some moment less than 2^10 meta
 *		words ago.
 *	start	the position from which calls are counted. Clearing the ring moves start
 *		up to head, which does not disturb the writers.
 *	read	the next position to consume; start if nothing was consumed. Readers show
 *		nothing before it.
 *	limit	with the option overwrite off: the ring is full when head reaches limit.
 *		It is one size above the sync point at or before read, less a margin. Only
 *		the low half is stored, which a 32-bit CPU loads in one step, too.
 *
 * Sync points are the multiples of a quarter of the size. At each of them, or soon after it,
 * the writers write sync words. These repeat all state that a reader needs to start there:
 * time, clock, task, count of calls. Readers start at the first sync point that is not
 * overwritten; words before it count as overwritten, too.
 *
 * Life of a slot
 * --------------
 *	written		holds the complete word of some position.
 *	reserved	head has passed the slot's new position. The slot still holds the
 *			word of one lap ago, or that word's upper half.
 *	committed	the upper half, which is stored last, is the new word's: written
 *			again.
 *
 * Bit 63 is inverted on odd laps, which distinguishes a committed slot from one whose upper
 * half is one lap old. Memory begins as zeroes, and laps begin with an even one: so a slot
 * that was never written is not committed either.
 *
 * A writer advances head by one instruction, stores the lower half of the word, and then
 * stores the upper half. An interrupt comes either before the interrupted writer has changed
 * the ring, or after the writer has its slot reserved. The words of a packet are reserved
 * together. To record a time with a word, the writer loads head, reads the clock, and
 * reserves the slot only if head is unchanged: so times are in the order of positions.
 * (hook_reserve_with_time() in hook.h is a quicker variant, which may omit the time.)
 *
 * From before the first step to after the last the writer must not be preempted or
 * migrated: otherwise the slot would stay half-written for long, or another CPU would write
 * the slot after it was lapped.
 *
 * When is a copy of a slot valid?
 * -------------------------------
 * A reader of position P copies the word (on 32-bit the upper half, then the lower), and
 * then loads head. The copy is the word of P if
 *
 *  (V1) head - P <= size after the copy: no writer had reserved the slot for the next
 *	 lap when the last part of the word was copied; so the copy contains nothing of the
 *	 next lap. Otherwise P was overwritten.
 *  (V2) bit 63 is that of P's lap: so P was committed when the upper half was copied, and
 *	 the lower half, copied with it or after it, is P's. Otherwise P is reserved, but
 *	 not committed yet.
 *
 * Cached tasks
 * ------------
 * A ring caches the task that the latest words belong to (task), and the latest task that was
 * found not to be recorded (skipped). The hook compares both with the current task. An updater
 * that changes a task's name or ids, or whether the task is recorded, makes the change first
 * and then clears both caches on all CPUs (F1). A hook sets the cache first, and then reads the
 * task's name and ids and whether the task is recorded (F2). So either the hook sees the
 * change, or the updater clears the hook's cache and the next call checks again.
 *
 * If a single task has changed, the updater visits only the CPUs that have set a bit for the
 * task ("where" in emit.c). A hook sets the bit after the cache and before it reads the task's
 * state, with a full barrier on either side (F2); the updater reads the bits after its change
 * (F1). So an updater that misses the bit has made its change visible before that hook reads.
 * mctracer_trim_task_cpus() clears all bits before it clears all caches: so a hook that still
 * found its bit set has its cache cleared.
 *
 * The memory of a task_struct may be reused for another task. Before the new task runs,
 * mctracer_task_changed() clears the address from the caches of all CPUs. The old task does not
 * run any more, so no hook caches the address in between.
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
 *	F1 state of a task	F2 cached task		a cached task has the state
 *	   before cached task	   before its state	that the task words describe
 *
 * (F1 and F2: the left column is the updater, the middle column the hook.)
 *
 * Known limits
 * ------------
 * If interrupts that hit a writer between reserve and commit write a whole ring of words, the
 * writer's late stores go to a slot that holds a later word. Once the upper half is stored, V2
 * rejects that slot. Until then, a reader on another CPU that copies this very slot between
 * the two stores can get a word whose lower half is the late one. If interrupts write two
 * rings of words, the slot is reserved two laps later, while it still holds a word of the same
 * parity from before the writer: until the slot is committed, V1 and V2 accept the old word as
 * the new one. A call whose word is never committed is still counted, as an entry, until it
 * is overwritten.
 *
 * While another CPU changes a task's name, calls may be recorded with a half-changed name.
 *
 * A ring holds at least MCTRACER_RING_MIN_WORDS words. At the default size, the cases above need
 * 131072 words during a single interruption of these few instructions. No such slot survives a
 * resize: mctracer_ring_move(), while nobody writes, writes all slots anew.
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

/* The most addresses of a call chain that are recorded with a call or return. */
#define MCTRACER_FRAMES_MAX	64

#define MCTRACER_WORD_SIZE		sizeof(u64)
#define MCTRACER_RING_MIN_WORDS		8192
#define MCTRACER_RING_MIN_SIZE		(MCTRACER_RING_MIN_WORDS * MCTRACER_WORD_SIZE)
/* On 64-bit, lap_factor is at least 2; on 32-bit, ring.c allocates contiguous pages. */
#define MCTRACER_RING_MAX_SIZE		(IS_ENABLED(CONFIG_64BIT) ? SZ_1G : \
					 PAGE_SIZE << MAX_PAGE_ORDER)

/*
 * Sizes of a block in bytes, without and with the option time. A hook whose words begin a block
 * calls mctracer_emit_block(), which brings "others" up to date and, without the option time,
 * writes a time. Between two such calls there are fewer than 2^10 meta words, including those of
 * interrupts that delay the call.
 */
#define MCTRACER_COMPACT_BLOCK		SZ_512
#define MCTRACER_TIMED_BLOCK		SZ_2K

/*
 * With the option overwrite off, a ring with less free space in bytes is full, because hooks check
 * that once in a block only. SZ_8K: a block each of a task, softirq, interrupt and NMI; SZ_4K: sync
 * words and frames.
 */
#define MCTRACER_KEEP_MARGIN		(SZ_8K + SZ_4K)

#define MCTRACER_META_BITS		(64 - MCTRACER_POSITION_BITS)
/* What a writer adds to head to reserve @words words, @meta of them meta words. */
#define MCTRACER_STEP(words, meta)	((words) * MCTRACER_WORD_SIZE + \
					 ((u64)(meta) << MCTRACER_POSITION_BITS))

static_assert(BIT(MCTRACER_PID_BITS) >= PID_MAX_LIMIT);

/* Values of ring->context: not recorded; and while a context word is being written. */
#define MCTRACER_NO_CONTEXT		U32_MAX
#define MCTRACER_CHANGING_CONTEXT	(U32_MAX - 1)

struct mctracer_ring {
	/*
	 * The page that user space maps. The ring's CPU writes head and lost while tracing;
	 * the rest changes under mctracer_mutex.
	 */
	struct mctracer_ring_header user;

	/* See "Cached tasks". Set by the ring's CPU, and cleared by all. */
	struct task_struct *task __aligned(PAGE_SIZE);
	struct task_struct *skipped;

	/* Read by writers; changed under mctracer_mutex, while writers are paused: */
	void *base;		/* NULL: no memory yet, nothing may be written */
	u64 mask;		/* size in bytes - 1 */
	u32 lap_factor;		/* moves a position's lowest lap bit to bit 31 */

	/* Written by the ring's CPU: */
	u32 context;		/* of the latest words, as raw_context_read() returns it */
	u32 time_low;		/* low half of the position behind the hook's latest time */
	u64 meta;
	u64 sync_at;		/* the latest sync point whose sync words are written */
	u64 lost_reported;		/* the part of user.lost that gap words have reported */
	u64 last_time;
	u64 marked;		/* the position behind the latest mark */
	struct task_struct *described;	/* by the latest task words; cleared like task */
	unsigned long hole;	/* the number of holes at the latest sync words, see emit.c */
	struct mctracer_clock clock;	/* as in the latest clock words */
	bool renew;		/* write all sync words; other CPUs set it, too */
	bool external;		/* base is external memory: don't free it; changes like base */
	u32 moves;		/* how often the words were moved; under mctracer_mutex */

	/*
	 * Under mctracer_mutex, and on a cache line that writers do not need, because consumers
	 * write it all the time. Writers read limit, with the option overwrite off only.
	 */
	u32 limit ____cacheline_aligned;
	u64 origin;		/* the position where counting began */
	u64 start_calls;	/* calls before the last clear */
	u64 read_calls;		/* calls before user.read */
	u64 nr_read;		/* calls read since user.start */
	u64 lost_before;	/* user.lost at the last clear */
};

/* Numbers of calls at one moment: written = read + entries + overwritten + lost. */
struct mctracer_ring_counts {
	u64 written;	/* including lost ones */
	u64 read;
	u64 entries;
	u64 overwritten;
	u64 lost;
};

/*
 * Allocate memory for the @ring of @cpu, on that CPU's node. May sleep. Return 0, -EINVAL if @size,
 * in bytes, isn't a power of two in range, or -ENOMEM.
 */
int mctracer_ring_alloc(struct mctracer_ring *ring, unsigned int cpu, size_t size);

/* Use external memory at @base, which must be all zeroes. Return 0 or -EINVAL, likewise. */
int mctracer_ring_place(struct mctracer_ring *ring, unsigned int cpu, void *base, size_t size);

/* Free the ring's memory, unless it is external. No writer or reader may use the ring any more. */
void mctracer_ring_free(struct mctracer_ring *ring);
/* Return false if there are not @size more bytes, so that allocating them may cause an OOM. */
bool mctracer_memory_available(size_t size);

/* Drop all words. Writers need not be paused. Under mctracer_mutex. */
void mctracer_ring_clear(struct mctracer_ring *ring);

/*
 * Set the position to consume next: @pos, with @calls calls before it. All words before it were
 * consumed or overwritten. Under mctracer_mutex.
 */
void mctracer_ring_set_read(struct mctracer_ring *ring, u64 pos, u64 calls);

/* Return the page frame number at @offset, in bytes, in the ring. */
unsigned long mctracer_ring_pfn(const struct mctracer_ring *ring, size_t offset);

/* Return the next position to reserve. */
u64 mctracer_ring_end(const struct mctracer_ring *ring);
/* Return the number of calls before that position, which is stored at @end. */
u64 mctracer_ring_end_calls(const struct mctracer_ring *ring, u64 *end);

/* Return the number of calls lost since boot, while @ring's CPU may be counting. */
u64 mctracer_ring_lost(const struct mctracer_ring *ring);

/* Append @word. Nobody else may write. */
void mctracer_ring_put_at_rest(struct mctracer_ring *ring, u64 word);

/* Return the first position to read: the first sync point that is not overwritten. */
u64 mctracer_ring_oldest(const struct mctracer_ring *ring);

/* Return the bits to invert in words of the lap of @pos: bit 63, or none. */
static __always_inline u64 mctracer_ring_flip(const struct mctracer_ring *ring, u64 pos)
{
	return (u64)((u32)pos * ring->lap_factor & BIT(31)) << 32;
}

/* Load the word in @slot, with bit 63 set if it is committed. @flip: see mctracer_ring_flip(). */
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

/* Load the word in the slot of @pos likewise. */
static inline u64 mctracer_ring_load(const struct mctracer_ring *ring, u64 pos)
{
	return mctracer_slot_load(ring->base + (pos & ring->mask), mctracer_ring_flip(ring, pos));
}

enum mctracer_read {
	MCTRACER_READ_OK,
	MCTRACER_READ_OVERWRITTEN,
	MCTRACER_READ_UNCOMMITTED,
};

/*
 * Copy the word of @pos to @word, with bit 63 set. @pos must be before mctracer_ring_end(). Any
 * context.
 */
enum mctracer_read mctracer_ring_read(const struct mctracer_ring *ring, u64 pos, u64 *word);

static inline u64 mctracer_position(u64 head)
{
	return head & MCTRACER_POSITION_MASK;
}

/* Return how many bytes @to is ahead of @from. */
static inline u64 mctracer_distance(u64 from, u64 to)
{
	return mctracer_position(to - from);
}

/* Compare two positions that are less than half of the number space apart. */
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
 * Return the number of meta words before the position of @head. @meta is an earlier such number,
 * less than 2^10 meta words old. An overflow of the position carries into the bits above.
 */
static inline u64 mctracer_ring_meta_at(const struct mctracer_ring *ring, u64 head, u64 meta)
{
	u64 low = (head >> MCTRACER_POSITION_BITS) -
		  (mctracer_position(head) < mctracer_position(ring->origin));

	return meta + ((low - meta) & GENMASK_ULL(MCTRACER_META_BITS - 1, 0));
}

/* Return the number of calls before the position of @head. @meta: as above. */
static inline u64 mctracer_ring_calls_at(const struct mctracer_ring *ring, u64 head, u64 meta)
{
	return (mctracer_distance(ring->origin, head) / MCTRACER_WORD_SIZE -
		mctracer_ring_meta_at(ring, head, meta)) &
	       (MCTRACER_POSITION_MASK / MCTRACER_WORD_SIZE);
}

/*
 * The steps of writing, inlined into the hook: they call nothing, cannot fault, and access the
 * CPU's own ring only. Preemption must be disabled from before the first step to after the last.
 */

/* Load head. The clock is read after it. */
static __always_inline u64 mctracer_ring_head(struct mctracer_ring __percpu *ring)
{
	/* 32-bit loads two halves; if an interrupt comes in between, reserving fails. */
	u64 head = raw_cpu_read(ring->user.head);

	barrier();	/* head before the time */
	return head;
}

/* Load the low half of head: enough to check whether an interrupt has just reserved words. */
static __always_inline u32 mctracer_ring_head_low(struct mctracer_ring __percpu *ring)
{
	return raw_cpu_read(*(u32 __percpu *)&ring->user.head);
}

/* Reserve at @head. Return false if an interrupt has reserved words since @head was loaded. */
static __always_inline bool mctracer_ring_reserve_at(struct mctracer_ring __percpu *ring,
						     u64 head, u64 step)
{
	u64 expected = head;

	return this_cpu_try_cmpxchg64(ring->user.head, &expected, head + step);
}

/* Reserve at the current head. Return that head. */
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
	/* raw: the compiler can use memory operands */
	return raw_cpu_read(ring->base) + (head & raw_cpu_read(ring->mask));
}

static __always_inline u32 mctracer_ring_lap(struct mctracer_ring __percpu *ring, u64 head)
{
	return (u32)head * raw_cpu_read(ring->lap_factor) & BIT(31);
}

/* Write one word. @high has bit 31 clear. */
static __always_inline void mctracer_ring_put(u32 *slot, u32 lap, u32 low, u32 high)
{
	WRITE_ONCE(slot[0], low);
	smp_wmb();	/* W2 */
	WRITE_ONCE(slot[1], high + lap + (u32)BIT(31));
}

/* Write a call in two steps: this one, and mctracer_ring_commit(). @parent_ip has bit 31 set. */
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
