// SPDX-License-Identifier: GPL-2.0
/*
 * The slow path of the hooks: write sync words and other meta words, and record events that need
 * more than the hooks in hook.c do.
 *
 * Hooks call these functions by mcount_direct_call(), with preemption disabled, on the ring's CPU.
 * So the rules for hooks hold here: nothing may be traced, fault, or take a lock. Interrupts may
 * come at any point and do the same; each one's words are complete when it returns.
 */
#include <linux/array_size.h>
#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/build_bug.h>
#include <linux/cleanup.h>
#include <linux/compiler.h>
#include <linux/cpumask.h>
#include <linux/hash.h>
#include <linux/mcount.h>
#include <linux/mctracer.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/timex.h>

#include "../ring/ring.h"
#include "../ring/words.h"
#include "follow.h"
#include "hook.h"
#include "raw_context.h"
#include "record.h"
#include "selected.h"

DEFINE_PER_CPU(unsigned long, mctracer_recursions);
DEFINE_PER_CPU(unsigned long, mctracer_own_calls);
static DEFINE_PER_CPU(bool, recording);

/* For emit_words(), besides MCTRACER_KNOWS_TASK and so on. */
#define EMIT_GAP	BIT(30)	/* write gaps if calls are missing */
#define EMIT_REMEMBER	BIT(31)	/* cache the task in the ring */

#define EMIT_MAX	(MCTRACER_SYNC_WORDS + 3)	/* words: + two gaps, and one for pairs */

/* Load head and *@meta as of one moment. */
static u64 emit_load_head(struct mctracer_ring *ring, u64 *meta)
{
	u64 head;

	do {
		*meta = READ_ONCE(ring->meta);
		barrier();
		head = mctracer_ring_head(&mctracer_rings);
	} while (READ_ONCE(ring->meta) != *meta);
	return head;
}

/*
 * Update the number of meta words, unless an interrupt has done so. Callers do this at least once
 * per 2^10 meta words, because @head holds only the number's low 10 bits.
 */
static void emit_update_nr_meta(const struct mctracer_ring *ring, u64 head, u64 meta)
{
	u64 now = mctracer_ring_meta_at(ring, head, meta);

	if (now != meta)
		this_cpu_try_cmpxchg64(mctracer_rings.meta, &meta, now);
}

/* Write @n reserved words at @head. */
static void emit_put_words(u64 head, const u64 *words, unsigned int n)
{
	u32 *slot = mctracer_ring_slot(&mctracer_rings, head);
	u32 lap = mctracer_ring_lap(&mctracer_rings, head);

	for (; n; n--, slot += 2, words++)
		mctracer_ring_put(slot, lap, *words, *words >> 32 & ~BIT(31));
}

/* Write a call's callers. All words lie in one quarter, so they share the lap. */
static void emit_put_frames(u64 head, const u32 *frames, unsigned int n)
{
	u32 *slot = mctracer_ring_slot(&mctracer_rings, head);
	u32 lap = mctracer_ring_lap(&mctracer_rings, head);
	u64 word;

	for (; n; n--, slot += 2, frames++) {
		word = mctracer_meta_word(MCTRACER_FRAME, *frames);
		mctracer_ring_put(slot, lap, word, word >> 32 & ~BIT(31));
	}
}

/*
 * Reserve @n words at @head, @meta of them meta words, in one quarter. Return false if this
 * quarter has no room, after filling it up, or if an interrupt has reserved words.
 */
static bool emit_reserve(struct mctracer_ring *ring, u64 head, unsigned int n,
			 unsigned int meta)
{
	const u64 quarter = mctracer_ring_quarter(ring);
	unsigned int left = (quarter - (head & (quarter - 1))) / MCTRACER_WORD_SIZE;
	const u64 nothing = mctracer_word(MCTRACER_TIME, 0);
	unsigned int i;

	if (n <= left)
		return mctracer_ring_reserve_at(&mctracer_rings, head, MCTRACER_STEP(n, meta));
	if (mctracer_ring_reserve_at(&mctracer_rings, head, MCTRACER_STEP(left, left)))
		for (i = 0; i < left; i++)
			emit_put_words(head + i * MCTRACER_WORD_SIZE, &nothing, 1);
	return false;
}

/*
 * Which CPUs' rings may have a task cached: for each hash of a task's address, a bitmap of CPUs,
 * modulo the number of bits. So a change of a task visits these few CPUs only. task_cpus_set() sets
 * bits, and only mctracer_trim_task_cpus() clears them, for all tasks at once. A stale bit costs a
 * needless visit.
 */
#define WHERE_BITS	12

static unsigned long where[1 << WHERE_BITS];

static unsigned long *task_cpus_of(const struct task_struct *task)
{
	return &where[hash_ptr(task, WHERE_BITS)];
}

/* Set the bit of the current CPU, whose ring has the current task cached already. */
static void task_cpus_set(void)
{
	unsigned long *cpus = task_cpus_of(current);
	unsigned int bit = raw_smp_processor_id() % BITS_PER_LONG;

	smp_mb();	/* F2 */
	if (!(READ_ONCE(*cpus) & BIT(bit))) {
		set_bit(bit, cpus);
		smp_mb__after_atomic();		/* F2 */
	}
}

void mctracer_trim_task_cpus(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(where); i++)
		WRITE_ONCE(where[i], 0);
	mctracer_invalidate_tasks(false);	/* contains F1 */
}

/*
 * Fill @sync with the description of the current task. With @remember, cache the task in @ring
 * first: see F2. Copy nothing behind the end of the name, which may be changing.
 */
static void emit_describe_task(struct mctracer_state *sync, struct mctracer_ring *ring,
			       bool remember)
{
	const char *comm = current->comm;
	unsigned int i;

	WRITE_ONCE(ring->described, current);
	if (remember)
		WRITE_ONCE(ring->task, current);
	task_cpus_set();
	sync->pid = current->pid;
	sync->tgid = current->tgid;
	for (i = 0; i < TASK_COMM_LEN - 1; i++) {
		sync->comm[i] = READ_ONCE(comm[i]);
		if (!sync->comm[i])
			break;
	}
}

static bool emit_clock_changed(const struct mctracer_ring *ring, const struct mctracer_clock *clock,
			       u64 time)
{
	return time < ring->last_time || clock->offset != ring->clock.offset ||
	       clock->mult != ring->clock.mult || clock->shift != ring->clock.shift ||
	       clock->is_ns != ring->clock.is_ns;
}

/* Return the calls lost since the last gap or clear; 0 if an interrupt has taken them. */
static u64 emit_take_lost(struct mctracer_ring *ring)
{
	u64 reported = ring->lost_reported, lost = ring->user.lost, since;
	bool mine = this_cpu_try_cmpxchg64(mctracer_rings.lost_reported, &reported, lost);

	since = max(reported, READ_ONCE(ring->lost_before));
	return mine && lost > since ? lost - since : 0;
}

/*
 * The lower half counts how often some CPUs lost calls, which they counted; the upper half, how
 * often recording resumed after calls that were neither recorded nor counted.
 */
static atomic_long_t holes;
#define HOLE_UNCOUNTED	(1UL << (BITS_PER_LONG / 2))

/* The value of holes when no ring had calls from before the last hole: no gap is needed then. */
static unsigned long holes_cleared;

/* On 32-bit a position that is loaded while it changes is 4 GiB off, so it is not equal either. */
static bool emit_rings_have_calls(void)
{
	const struct mctracer_ring *ring;
	int cpu;

	for_each_possible_cpu(cpu) {
		ring = per_cpu_ptr(&mctracer_rings, cpu);
		if (READ_ONCE(ring->base) &&
		    mctracer_position(READ_ONCE(ring->user.head)) != READ_ONCE(ring->user.start))
			return true;
	}
	return false;
}

static void emit_add_hole(unsigned long what)
{
	unsigned long count = atomic_long_add_return(what, &holes);

	mctracer_invalidate_tasks(true);
	if (!emit_rings_have_calls())
		mctracer_holes_cleared(count);
}

void mctracer_add_hole(void)
{
	emit_add_hole(HOLE_UNCOUNTED);
}

void mctracer_add_loss(void)
{
	emit_add_hole(1);
}

unsigned long mctracer_hole_count(void)
{
	return atomic_long_read(&holes);
}

void mctracer_holes_cleared(unsigned long count)
{
	WRITE_ONCE(holes_cleared, count);
}

/* How many times modules were loaded or unloaded. */
static atomic_t modules;

u32 mctracer_count_modules(void)
{
	u32 count = atomic_inc_return(&modules);

	mctracer_invalidate_tasks(true);
	return count;
}

u32 mctracer_module_count(void)
{
	return atomic_read(&modules);
}

/*
 * Return true if the ring's latest sync words are from before the last hole, and some ring may have
 * calls from before it. A return can be in another ring than its call, so an empty ring needs the
 * gap, too.
 */
static bool emit_is_after_hole(const struct mctracer_ring *ring, unsigned long hole)
{
	return ring->hole != hole && READ_ONCE(holes_cleared) != hole;
}

/* Write the gaps that are due, two at most, to the words from @word on. */
static void emit_compose_gaps(u64 *word, struct mctracer_ring *ring, unsigned long hole)
{
	const bool behind = emit_is_after_hole(ring, hole);
	const bool uncounted = behind && (ring->hole ^ hole) >= HOLE_UNCOUNTED;
	const u64 lost = emit_take_lost(ring);

	if (lost || (behind && !uncounted))
		*word++ = mctracer_meta_word(MCTRACER_GAP, lost);
	if (uncounted)
		*word = mctracer_meta_word(MCTRACER_GAP, MCTRACER_GAP_UNCOUNTED);
}

/* Return true, once for each request, if all sync words must be written again. */
static bool emit_must_renew(struct mctracer_ring *ring)
{
	/* A full barrier: what was changed before the request is loaded after this. */
	return READ_ONCE(ring->renew) && xchg(&ring->renew, false);
}

/* Return true if the ring keeps its oldest words (nooverwrite) and has no room for more. */
static bool emit_ring_is_full(const struct mctracer_ring *ring)
{
	return !mctracer_option(MCTRACER_OPT_OVERWRITE) &&
	       (s32)(READ_ONCE(ring->limit) - (u32)ring->user.head) <= 0;
}

bool mctracer_rings_are_full(void)
{
	int cpu;

	for_each_online_cpu(cpu)
		if (!emit_ring_is_full(per_cpu_ptr(&mctracer_rings, cpu)))
			return false;
	return true;
}

/* If the ring is full, have the next call check again and write all sync words if it has room. */
static void emit_check_full(struct mctracer_ring *ring)
{
	if (emit_ring_is_full(ring)) {
		WRITE_ONCE(ring->renew, true);
		WRITE_ONCE(ring->task, NULL);
	}
}

/*
 * Write the words of @what, flags MCTRACER_KNOWS_TASK and so on and EMIT_GAP and so on, and all
 * sync words that are due. @raw is the raw context, or MCTRACER_NO_CONTEXT.
 */
static void emit_words(u32 what, u32 raw)
{
	struct mctracer_ring *ring = raw_cpu_ptr(&mctracer_rings);
	const u64 quarter = mctracer_ring_quarter(ring);
	u64 words[EMIT_MAX], *word;
	struct mctracer_state sync;	/* what the words contain */
	u64 head, meta;
	unsigned int n;
	unsigned long hole;

	memset64(words, mctracer_word(MCTRACER_TIME, 0), ARRAY_SIZE(words));
	memset(sync.comm, 0, sizeof(sync.comm));
	/* Not in the loop: a kprobe in what this calls could record calls in each of its rounds. */
	mctracer_clock_conversion(&sync.clock);
	do {
		hole = atomic_long_read(&holes);
		head = emit_load_head(ring, &meta);
		sync.modules = atomic_read(&modules);
		sync.time = mctracer_clock_now(sync.clock.is_ns);
		if (mctracer_position(head & -quarter) != ring->sync_at ||
		    emit_clock_changed(ring, &sync.clock, sync.time))
			what |= MCTRACER_SYNC;
		if ((what & MCTRACER_KNOWS_COUNT) &&
		    (ring->user.lost != ring->lost_reported || emit_is_after_hole(ring, hole)))
			what |= EMIT_GAP;
		/* An interrupt from here on writes its own context. */
		if (what & MCTRACER_KNOWS_CONTEXT)
			WRITE_ONCE(ring->context, MCTRACER_CHANGING_CONTEXT);

		/* If a block begins in these words no hook sees its begin: write the time here. */
		if (-head % MCTRACER_COMPACT_BLOCK < EMIT_MAX * MCTRACER_WORD_SIZE)
			what |= MCTRACER_KNOWS_TIME;
		/* All words lie in one quarter; with pairs, the next word is at an even slot. */
		n = mctracer_words_of(what) + (what & EMIT_GAP ? 2 : 0);
		if (READ_ONCE(mctracer_pairs))
			n += (head / MCTRACER_WORD_SIZE + n) & 1;
	} while (!emit_reserve(ring, head, n, n));
	emit_update_nr_meta(ring, head, meta);
	/* If an interrupt has written its context since, that is the latest: leave it. */
	if (what & MCTRACER_KNOWS_CONTEXT)
		this_cpu_cmpxchg(mctracer_rings.context, MCTRACER_CHANGING_CONTEXT, raw);
	if (what & MCTRACER_KNOWS_TIME)
		ring->last_time = sync.time;
	if (what & MCTRACER_KNOWS_COUNT)
		ring->sync_at = mctracer_position(head & -quarter);
	if (what & MCTRACER_KNOWS_CLOCK)
		ring->clock = sync.clock;

	sync.known = what;
	sync.calls = mctracer_ring_calls_at(ring, head, meta);
	sync.context = raw_context_data(raw);
	if (what & MCTRACER_KNOWS_TASK)
		emit_describe_task(&sync, ring, what & EMIT_REMEMBER);
	word = mctracer_compose(words, &sync);
	/* Behind the time, which is the gaps' time, too. */
	if (what & EMIT_GAP)
		emit_compose_gaps(word, ring, hole);
	if (what & MCTRACER_KNOWS_COUNT)
		ring->hole = hole;
	emit_put_words(head, words, n);
	emit_check_full(ring);
}

static void emit_count_lost(void)
{
	u64 lost = raw_cpu_read(mctracer_rings.user.lost);
	bool counted;

	do {
		counted = this_cpu_try_cmpxchg64(mctracer_rings.user.lost, &lost, lost + 1);
	} while (!counted);
}

/* Count a call for which the full @ring has no room. For the first one all rings get a gap. */
static void emit_lose(struct mctracer_ring *ring)
{
	if (ring->user.lost == ring->lost_reported)
		mctracer_add_loss();
	emit_count_lost();
}

/* Count a call while rings are held. What ends the hold invalidates the cached tasks. */
static void emit_lose_held(struct mctracer_ring *ring)
{
	WRITE_ONCE(ring->renew, true);
	if (ring->user.lost == ring->lost_reported)
		atomic_long_inc(&holes);
	emit_count_lost();
}

/* Return true if nothing is recorded or counted, whatever the task; not even marks. */
static __always_inline bool emit_is_closed(void)
{
	return READ_ONCE(mctracer_ending) || READ_ONCE(mctracer_frozen) != MCTRACER_NOT_FROZEN;
}

/* Return true if calls are counted as lost instead of being recorded. */
static __always_inline bool emit_is_held(void)
{
	return READ_ONCE(mctracer_stopped) || READ_ONCE(mctracer_copying);
}

/* Return true if the current task's calls must be recorded now. */
static bool emit_task_is_recorded(void)
{
	return !emit_is_closed() && atomic_read(&mctracer_recording) != MCTRACER_OFF &&
	       mctracer_task_traced(current);
}

/*
 * If the current task is not traced, but the cached one is, write a time: until then the cached
 * task was here at most. Otherwise readers could only guess whether its last calls came before its
 * calls on other CPUs.
 */
static void emit_end_of_task(struct mctracer_ring *ring)
{
	/* If only some functions are recorded, the cached task may have left long before. */
	if (READ_ONCE(mctracer_selected[MCTRACER_FILTER]) ||
	    READ_ONCE(mctracer_selected[MCTRACER_NOTRACE]))
		return;
	if (READ_ONCE(ring->task) && !mctracer_task_traced(current) && !READ_ONCE(ring->renew) &&
	    !emit_is_held() && !emit_ring_is_full(ring))
		emit_words(MCTRACER_KNOWS_TIME, MCTRACER_NO_CONTEXT);
}

/*
 * Tasks that do work for the tracer. Their calls are counted, not recorded: otherwise, writing a
 * list of functions would fill a ring with its own calls.
 */
#define OWN_TASKS	16

/* A place of a task that an oops has killed stays taken: by the time, no later task has it. */
static struct {
	struct task_struct *task;
	u64 started;		/* the task's start_boottime */
} own_tasks[OWN_TASKS];

static atomic_t nr_own_tasks;

int mctracer_begin_own_work(void)
{
	int i;

	for (i = 0; i < OWN_TASKS; i++) {
		if (cmpxchg(&own_tasks[i].task, NULL, current))
			continue;
		WRITE_ONCE(own_tasks[i].started, current->start_boottime);
		atomic_inc(&nr_own_tasks);
		__mctracer_task_changed(current);
		return i;
	}
	return -1;	/* no free place: this work is recorded */
}

void mctracer_end_own_work(int place)
{
	if (place < 0)
		return;
	WRITE_ONCE(own_tasks[place].task, NULL);
	atomic_dec(&nr_own_tasks);
	__mctracer_task_changed(current);
}

static bool emit_is_own_task(void)
{
	int i;

	for (i = 0; atomic_read(&nr_own_tasks) && i < OWN_TASKS; i++)
		if (READ_ONCE(own_tasks[i].task) == current &&
		    READ_ONCE(own_tasks[i].started) == current->start_boottime)
			return true;
	return false;
}

bool mctracer_is_own_work(void)
{
	return emit_is_own_task() && !interrupt_context_level();
}

/* Count a call of the current task, which does work for the tracer. */
static void emit_count_own(struct mctracer_ring *ring)
{
	WRITE_ONCE(ring->task, NULL);
	this_cpu_inc(mctracer_own_calls);
}

/*
 * Describe the current task, which does work for the tracer, for a call in an interrupt. Return 1:
 * these calls are recorded. The ring does not cache the task, so each of them comes here; but the
 * description is written only once.
 */
static unsigned long emit_interrupted_own(struct mctracer_ring *ring)
{
	unsigned int what = MCTRACER_KNOWS_TASK | MCTRACER_KNOWS_TIME;

	WRITE_ONCE(ring->task, NULL);
	if (emit_must_renew(ring))
		what |= MCTRACER_SYNC;
	if (READ_ONCE(ring->described) != current || what & MCTRACER_KNOWS_COUNT)
		emit_words(what, MCTRACER_NO_CONTEXT);
	return 1;
}

/*
 * Handle a call of a task that is not the cached one. If the task is recorded, cache and describe
 * it, and return 1. Otherwise write until when the cached task was here, cache the current task as
 * skipped, and return 0.
 */
unsigned long mctracer_emit_task(unsigned long unused)
{
	struct mctracer_ring *ring = raw_cpu_ptr(&mctracer_rings);
	unsigned int what;
	bool held;

	for (;;) {
		if (!emit_task_is_recorded()) {
			emit_end_of_task(ring);
			/* Invalidate the cached task, so that it is described when it returns. */
			WRITE_ONCE(ring->task, NULL);
			WRITE_ONCE(ring->skipped, current);
			task_cpus_set();	/* F2 */
			if (!emit_task_is_recorded())
				return 0;
		}
		if (mctracer_is_own_work()) {
			emit_count_own(ring);
			return 0;
		}
		held = emit_is_held();
		smp_rmb();	/* mctracer_stopped before the ring: with tracer_resume_writers() */
		/* The skipped task must come here again, to invalidate the task cached now. */
		WRITE_ONCE(ring->skipped, NULL);
		if (held) {
			emit_lose_held(ring);
			return 0;
		}
		if (emit_ring_is_full(ring)) {
			WRITE_ONCE(ring->renew, true);
			emit_lose(ring);
			return 0;
		}
		if (emit_is_own_task())
			return emit_interrupted_own(ring);
		what = MCTRACER_KNOWS_TASK | MCTRACER_KNOWS_TIME | EMIT_REMEMBER;
		if (emit_must_renew(ring))
			what |= MCTRACER_SYNC;
		emit_words(what, MCTRACER_NO_CONTEXT);
		if (emit_task_is_recorded() && !emit_is_held() && !READ_ONCE(ring->renew))
			return 1;
		WRITE_ONCE(ring->task, NULL);
	}
}

unsigned long mctracer_emit_context(unsigned long raw)
{
	emit_words(MCTRACER_KNOWS_CONTEXT, raw);
	return 0;
}

/*
 * Write what is due at a block's begin, whose first words the hook has reserved: usually only the
 * time, or nothing with the option time.
 */
void mctracer_emit_block(void)
{
	struct mctracer_ring *ring = raw_cpu_ptr(&mctracer_rings);
	const unsigned int words = READ_ONCE(mctracer_pairs) ? 0 : 1;
	u64 head, meta, word;

	do {
		head = emit_load_head(ring, &meta);
		if (mctracer_position(head & -mctracer_ring_quarter(ring)) != ring->sync_at) {
			emit_words(MCTRACER_KNOWS_TIME, MCTRACER_NO_CONTEXT);
			return;
		}
		/* Only the slow hook runs with another clock, and it doesn't call this. */
		if (words)
			word = mctracer_word(MCTRACER_TIME, get_cycles() >> 1);
	} while (words && !mctracer_ring_reserve_at(&mctracer_rings, head, MCTRACER_STEP(1, 1)));
	emit_update_nr_meta(ring, head, meta);
	emit_put_words(head, &word, words);
	emit_check_full(ring);
}

/* Return true if the current task's calls are recorded: as hook_must_record() does for hooks. */
static bool emit_must_record(const struct mctracer_ring *ring)
{
	return READ_ONCE(ring->task) == current ||
	       (READ_ONCE(ring->skipped) != current && mctracer_emit_task(0));
}

/* One event to write: a call, return or mark. */
struct timed {
	u64 word;
	u64 pending[MCTRACER_ARGS * MCTRACER_VALUE_WORDS + MCTRACER_OBJECTS + MCTRACER_DATA_WORDS];
						/* pending attributes: before it */
	unsigned int nr_pending;
	const u32 *frames;			/* after it */
	unsigned int nr_frames;
};

/* The smallest read() has room for the time, the pending attributes and the event. */
static_assert(sizeof_field(struct timed, pending) + 2 * MCTRACER_WORD_SIZE <= MCTRACER_READ_MIN);

/*
 * Initialize field by field, of a variable that is __uninitialized: to clear pending would take
 * more instructions than most events.
 */
static __always_inline void emit_event_init(struct timed *what, u64 word, const u32 *frames,
					    unsigned int n)
{
	what->word = word;
	what->nr_pending = 0;
	what->frames = frames;
	what->nr_frames = n;
}

/*
 * Write a time and the packet @what. Its event word is written last: so readers find the whole
 * packet, or an event word that is not committed yet. Return the position behind the event word.
 */
static u64 emit_put_event(const struct timed *what)
{
	struct mctracer_ring *ring = raw_cpu_ptr(&mctracer_rings);
	const u64 quarter = mctracer_ring_quarter(ring);
	const unsigned int n = 2 + what->nr_pending + what->nr_frames;
	const bool call = mctracer_word_counts(what->word);
	const u64 nothing = mctracer_word(MCTRACER_TIME, 0);
	const u32 context = raw_context_read();
	u64 head, before, time, at;
	unsigned int fill;
	bool is_ns;

	for (;;) {
		head = emit_load_head(ring, &before);
		is_ns = !mctracer_clock_is_cycles();
		time = mctracer_clock_now(is_ns);
		fill = READ_ONCE(mctracer_pairs) && (n & 1);
		if (mctracer_option(MCTRACER_OPT_CONTEXT) && ring->context != context)
			emit_words(MCTRACER_KNOWS_CONTEXT, context);
		else if ((READ_ONCE(mctracer_pairs) && (head & MCTRACER_WORD_SIZE)) ||
			 mctracer_position(head & -quarter) != ring->sync_at ||
			 is_ns != ring->clock.is_ns)
			/* Also writes due sync words, and makes the next slot even. */
			emit_words(MCTRACER_KNOWS_TIME, MCTRACER_NO_CONTEXT);
		else if (emit_reserve(ring, head, n + fill, n + fill - call))
			break;
	}
	emit_update_nr_meta(ring, head, before);

	time = mctracer_word(MCTRACER_TIME, time >> 1);
	emit_put_words(head, &time, 1);
	head += MCTRACER_WORD_SIZE;
	emit_put_words(head, what->pending, what->nr_pending);
	head += what->nr_pending * MCTRACER_WORD_SIZE;
	at = head + MCTRACER_WORD_SIZE;
	emit_put_frames(at, what->frames, what->nr_frames);
	if (fill)
		emit_put_words(at + what->nr_frames * MCTRACER_WORD_SIZE, &nothing, 1);
	emit_put_words(head, &what->word, 1);
	return mctracer_position(head) + MCTRACER_WORD_SIZE;
}

/*
 * Begin to record on this CPU. Reading another clock than the cycle counter may call traced
 * functions: refuse and count calls from there, and from interrupts meanwhile, by returning false.
 * Store in *@before what emit_end() needs.
 */
static bool emit_begin(bool *before)
{
	*before = this_cpu_read(recording);
	if (*before && !mctracer_clock_is_cycles()) {
		this_cpu_inc(mctracer_recursions);
		return false;
	}
	this_cpu_write(recording, true);
	barrier();
	return true;
}

static void emit_end(bool before)
{
	barrier();
	this_cpu_write(recording, before);
}

/* Record a call or return as the hooks do, with any clock and any options. */
static void emit_record(const struct timed *what)
{
	struct mctracer_ring *ring = raw_cpu_ptr(&mctracer_rings);
	bool before;

	if (!emit_begin(&before))
		return;
	if (emit_must_record(ring)) {
		if (emit_ring_is_full(ring)) {
			emit_check_full(ring);
			emit_lose(ring);
		} else {
			emit_put_event(what);
			if (what->nr_frames)
				emit_check_full(ring);
		}
	}
	emit_end(before);
}

/* Add the objects that the event concerns. */
static void emit_add_objects(struct timed *what, const struct mctracer_args *args)
{
	unsigned int i;

	for (i = 0; args && i < args->nr_objects; i++)
		what->pending[what->nr_pending++] =
			mctracer_meta_word(MCTRACER_OBJECT, args->objects[i]);
}

/* Add the memory that an argument points to. */
static void emit_add_data(struct timed *what, const struct mctracer_args *args)
{
	unsigned int i, j, n;
	u64 word;

	for (i = 0; i < args->nr_data; i += n) {
		n = min(args->nr_data - i, MCTRACER_DATA_BYTES);
		word = (u64)n << MCTRACER_DATA_SHIFT;
		for (j = 0; j < n; j++)
			word |= (u64)args->data[i + j] << 8 * j;
		what->pending[what->nr_pending++] = mctracer_word(MCTRACER_DATA, word);
	}
}

void mctracer_emit_call(unsigned long ip, unsigned long parent_ip,
			const struct mctracer_args *args, const u32 *frames, unsigned int n)
{
	struct timed what __uninitialized;
	unsigned int i;

	emit_event_init(&what, (u64)(u32)parent_ip << 32 | (u32)ip, frames, n);
	emit_add_objects(&what, args);
	for (i = 0; args && args->wanted && i < args->nr; i++)
		what.nr_pending += mctracer_value_words(what.pending + what.nr_pending,
							args->values[i]);
	if (args)
		emit_add_data(&what, args);
	emit_record(&what);
}

/* Add the duration and the result of a call, as far as they are known. */
static void emit_add_outcome(struct timed *what, const struct mctracer_outcome *outcome)
{
	if (outcome->has & MCTRACER_HAS_TOOK)
		what->pending[what->nr_pending++] = mctracer_meta_word(MCTRACER_TOOK,
								       outcome->took);
	if (outcome->has & MCTRACER_HAS_RESULT)
		what->nr_pending += mctracer_value_words(what->pending + what->nr_pending,
							 outcome->result);
}

void mctracer_emit_outcome(unsigned long ip, u32 how, const struct mctracer_outcome *outcome,
			   const struct mctracer_args *args, const u32 *frames, unsigned int n)
{
	struct timed what __uninitialized;

	emit_event_init(&what, (u64)(u32)ip << 32 | MCTRACER_RETURN << MCTRACER_TYPE_SHIFT | how,
			frames, n);
	emit_add_objects(&what, args);
	emit_add_outcome(&what, outcome);
	emit_record(&what);
}

static const struct mctracer_outcome nothing_known;

unsigned long mctracer_emit_return(unsigned long ip)
{
	mctracer_emit_outcome(ip, 0, &nothing_known, NULL, NULL, 0);
	return 0;
}

unsigned long mctracer_emit_tail(unsigned long ip)
{
	mctracer_emit_outcome(ip, MCTRACER_RETURN_TAIL, &nothing_known, NULL, NULL, 0);
	return 0;
}

/*
 * Return true if a mark may be written. With @always, also for an unrecorded task, or while rings
 * are copied: name the task before its mark, but do not cache it in the ring.
 */
static bool emit_may_mark(struct mctracer_ring *ring, bool always)
{
	if (emit_ring_is_full(ring))
		return false;
	/* Held, this counts a lost call: right, unless the mark is written all the same. */
	if (!(always && emit_is_held()) && emit_must_record(ring))
		return true;
	if (!always || emit_is_closed() || READ_ONCE(mctracer_stopped))
		return false;
	WRITE_ONCE(ring->task, NULL);
	emit_words(MCTRACER_KNOWS_TASK | MCTRACER_KNOWS_TIME, MCTRACER_NO_CONTEXT);
	return true;
}

/* Write the mark @what, if there is room. */
static void emit_mark(const struct timed *what, bool always)
{
	struct mctracer_ring *ring = raw_cpu_ptr(&mctracer_rings);
	bool before;
	u64 behind;

	if (!emit_begin(&before))
		return;
	if (emit_may_mark(ring, always)) {
		behind = emit_put_event(what);
		WRITE_ONCE(ring->marked, behind);
		emit_check_full(ring);
	}
	emit_end(before);
}

static u64 emit_mark_word(unsigned long ip, unsigned int which)
{
	return mctracer_meta_word(MCTRACER_MARK, (u64)which << MCTRACER_MARK_SHIFT | (u32)ip);
}

void mctracer_emit_mark(unsigned long ip, unsigned int which, bool always)
{
	struct timed what __uninitialized;

	emit_event_init(&what, emit_mark_word(ip, which), NULL, 0);
	emit_mark(&what, always);
}

void mctracer_emit_marked(unsigned long ip, const struct mctracer_outcome *outcome)
{
	struct timed what __uninitialized;

	emit_event_init(&what, emit_mark_word(ip, MCTRACER_MARK_MARK), NULL, 0);
	emit_add_outcome(&what, outcome);
	emit_mark(&what, false);
}

/* Invalidate @task in the cache of @cpu's ring; NULL: any task. */
static void emit_invalidate_cpu(int cpu, const struct task_struct *task)
{
	struct mctracer_ring *ring = per_cpu_ptr(&mctracer_rings, cpu);

	if (!task || READ_ONCE(ring->task) == task)
		WRITE_ONCE(ring->task, NULL);
	if (!task || READ_ONCE(ring->skipped) == task)
		WRITE_ONCE(ring->skipped, NULL);
	if (!task || READ_ONCE(ring->described) == task)
		WRITE_ONCE(ring->described, NULL);
}

void mctracer_invalidate_tasks(bool renew)
{
	int cpu;

	/* Be quick: meanwhile, tasks could migrate to a CPU that still has them cached. */
	guard(preempt_notrace)();
	smp_mb();	/* F1 */
	for_each_possible_cpu(cpu) {
		if (renew)
			WRITE_ONCE(per_cpu_ptr(&mctracer_rings, cpu)->renew, true);
		emit_invalidate_cpu(cpu, NULL);
	}
}

/* Invalidate @task in all rings, in O(CPUs that may have it cached). Any context. */
void __mctracer_task_changed(const struct task_struct *task)
{
	unsigned long cpus, bit;
	unsigned int cpu;

	guard(preempt_notrace)();
	smp_mb();	/* F1 */
	cpus = READ_ONCE(*task_cpus_of(task));
	for_each_set_bit(bit, &cpus, BITS_PER_LONG)
		for (cpu = bit; cpu < nr_cpu_ids; cpu += BITS_PER_LONG)
			if (cpu_possible(cpu))
				emit_invalidate_cpu(cpu, task);
}
