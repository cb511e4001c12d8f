// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of mctracer's ring and cursor. The tests write the ring with the same steps as the
 * hook, and do between these steps what interrupts would do.
 */
#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/smp.h>

#include "../ring/cursor.h"
#include "../ring/ring.h"
#include "../ring/words.h"

#define WORDS		MCTRACER_RING_MIN_WORDS
#define WORD		MCTRACER_WORD_SIZE
#define RING_SIZE	(WORDS * WORD)
#define QUARTER		(WORDS / 4)

struct ring_test {
	struct mctracer_ring __percpu *ring;
	struct mctracer_ring *mine;	/* the ring of the CPU that the test runs on */
	struct mctracer_state said;	/* the state in sync words */
};

static int ring_init(struct kunit *test)
{
	struct ring_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	int cpu;

	KUNIT_ASSERT_NOT_NULL(test, t);
	t->ring = alloc_percpu(struct mctracer_ring);
	if (!t->ring)
		return -ENOMEM;
	test->priv = t;

	/* KUnit runs each case in a thread of its own, which then ends. */
	cpu = raw_smp_processor_id();
	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(cpu)), 0);
	t->mine = per_cpu_ptr(t->ring, cpu);
	KUNIT_ASSERT_EQ(test, mctracer_ring_alloc(t->mine, 0, RING_SIZE), 0);
	t->said = (struct mctracer_state) {
		.clock.mult = 1, .pid = 1, .tgid = 1, .comm = "one",
		.known = MCTRACER_KNOWS_TASK | MCTRACER_KNOWS_CLOCK,
	};
	return 0;
}

static void ring_exit(struct kunit *test)
{
	struct ring_test *t = test->priv;

	if (!t)
		return;
	if (t->mine)
		mctracer_ring_free(t->mine);
	free_percpu(t->ring);
}

/* Return the ip of call @number. */
static u32 ip_of(u64 number)
{
	return (u32)number | BIT(31);
}

static u32 parent_of(u64 number)
{
	return BIT(31) | ~(u32)number;
}

static u64 reserve(struct kunit *test)
{
	struct ring_test *t = test->priv;

	return mctracer_ring_reserve(t->ring, MCTRACER_STEP(1, 0));
}

static void commit(struct kunit *test, u64 head, u64 number)
{
	struct ring_test *t = test->priv;
	u32 *slot = mctracer_ring_slot(t->ring, head);

	mctracer_ring_put_ip(slot, ip_of(number));
	mctracer_ring_commit(slot, mctracer_ring_lap(t->ring, head), parent_of(number));
}

static void write(struct kunit *test, u64 from, u64 to)
{
	for (; from < to; from++)
		commit(test, reserve(test), from);
}

static void write_word(struct kunit *test, u64 word)
{
	struct ring_test *t = test->priv;
	u64 head = mctracer_ring_reserve(t->ring, MCTRACER_STEP(1, 1));

	t->mine->meta++;
	mctracer_ring_put(mctracer_ring_slot(t->ring, head), mctracer_ring_lap(t->ring, head),
			  word, word >> 32 & ~BIT(31));
}

static void write_sync(struct kunit *test)
{
	struct ring_test *t = test->priv;
	u64 words[MCTRACER_SYNC_WORDS], end;
	unsigned int n, i;

	t->said.calls = mctracer_ring_end_calls(t->mine, &end);
	n = mctracer_compose_sync_words(&t->said, words);
	for (i = 0; i < n; i++)
		write_word(test, words[i]);
}

/* Record calls as hooks do: a call each 10 units of the clock, a time each 64 words, sync words. */
static void record(struct kunit *test, u64 from, u64 to)
{
	struct ring_test *t = test->priv;
	u64 quarter;

	for (; from < to; from++) {
		quarter = mctracer_ring_end(t->mine) & -(u64)(QUARTER * WORD);
		t->said.time = 10000 + from * 10;
		if (quarter != t->mine->sync_at) {
			t->mine->sync_at = quarter;
			write_sync(test);
		} else if (!(mctracer_ring_end(t->mine) & (MCTRACER_COMPACT_BLOCK - 1))) {
			write_word(test, mctracer_word(MCTRACER_TIME, t->said.time >> 1));
		}
		write(test, from, from + 1);
	}
}

/* Expect the last words to be the calls [from, to), call @missing of them uncommitted. */
static void expect_calls(struct kunit *test, u64 from, u64 to, u64 missing)
{
	struct ring_test *t = test->priv;
	u64 pos = mctracer_position(mctracer_ring_end(t->mine) - (to - from) * WORD), word;

	for (; from < to; from++, pos = mctracer_position(pos + WORD)) {
		enum mctracer_read ret = mctracer_ring_read(t->mine, pos, &word);

		KUNIT_ASSERT_EQ(test, ret, from == missing ? MCTRACER_READ_UNCOMMITTED :
							     MCTRACER_READ_OK);
		if (ret != MCTRACER_READ_OK)
			continue;
		KUNIT_ASSERT_EQ(test, (u32)word, ip_of(from));
		KUNIT_ASSERT_EQ(test, (u32)(word >> 32), parent_of(from));
	}
}

#define NONE	U64_MAX

static void ring_sizes(struct kunit *test)
{
	static struct mctracer_ring ring;	/* too large for the stack */

	KUNIT_EXPECT_EQ(test, mctracer_ring_alloc(&ring, 0, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, mctracer_ring_alloc(&ring, 0, RING_SIZE / 2), -EINVAL);
	KUNIT_EXPECT_EQ(test, mctracer_ring_alloc(&ring, 0, RING_SIZE + 16), -EINVAL);
	KUNIT_EXPECT_EQ(test, mctracer_ring_alloc(&ring, 0, 2UL * MCTRACER_RING_MAX_SIZE),
			-EINVAL);
	KUNIT_EXPECT_NULL(test, ring.base);
}

static void ring_no_memory(struct kunit *test)
{
	static struct mctracer_ring ring;	/* too large for the stack */

	if (totalram_pages() > MCTRACER_RING_MAX_SIZE >> PAGE_SHIFT)
		kunit_skip(test, "this machine has memory for the largest ring");
	KUNIT_EXPECT_EQ(test, mctracer_ring_alloc(&ring, 0, MCTRACER_RING_MAX_SIZE), -ENOMEM);
	KUNIT_EXPECT_NULL(test, ring.base);
	KUNIT_EXPECT_EQ(test, mctracer_ring_counts(&ring).entries, 0);
}

/* Positions overflow after two laps, and the overflow does not change the bits above. */
static void ring_wraps(struct kunit *test)
{
	struct ring_test *t = test->priv;
	u64 n = 0, end;

	KUNIT_EXPECT_EQ(test, mctracer_position(t->mine->user.head + 2 * RING_SIZE), 0);
	for (; n <= WORDS; n += QUARTER) {
		expect_calls(test, 0, n, NONE);
		write(test, n, n + QUARTER);
	}
	for (; n < 5 * WORDS; n += 1000) {
		expect_calls(test, n - WORDS, n, NONE);
		KUNIT_EXPECT_EQ(test, mctracer_ring_end_calls(t->mine, &end), n);
		write(test, n, n + 1000);
	}
}

static void ring_overwritten(struct kunit *test)
{
	struct ring_test *t = test->priv;
	u64 pos = mctracer_ring_end(t->mine), word;

	write(test, 0, WORDS);
	KUNIT_EXPECT_EQ(test, mctracer_ring_read(t->mine, pos, &word), MCTRACER_READ_OK);

	/* A slot reserved for the next lap, though not written yet, is no longer valid. */
	reserve(test);
	KUNIT_EXPECT_EQ(test, mctracer_ring_read(t->mine, pos, &word),
			MCTRACER_READ_OVERWRITTEN);
	KUNIT_EXPECT_EQ(test, mctracer_ring_read(t->mine, pos + WORD, &word), MCTRACER_READ_OK);
}

/* An interrupt between reading the clock and reserving makes the writer start again. */
static void ring_interrupted_before_reserve(struct kunit *test)
{
	struct ring_test *t = test->priv;
	u64 head = mctracer_ring_head(t->ring);

	write(test, 0, 3);
	KUNIT_EXPECT_FALSE(test, mctracer_ring_reserve_at(t->ring, head, MCTRACER_STEP(1, 0)));
	head = mctracer_ring_head(t->ring);
	KUNIT_EXPECT_TRUE(test, mctracer_ring_reserve_at(t->ring, head, MCTRACER_STEP(1, 0)));
	commit(test, head, 3);
	expect_calls(test, 0, 4, NONE);
}

static void interrupted_after_reserve(struct kunit *test, u64 before, u64 nested)
{
	u64 to = before + 1 + nested, from = to > WORDS ? to - WORDS : 0;
	u64 head;

	write(test, 0, before);
	head = reserve(test);
	write(test, before + 1, to);
	expect_calls(test, from, to, before);
	commit(test, head, before);
	expect_calls(test, from, to, NONE);
}

/* Readers don't show a slot that is reserved but not committed: if it is the first of all ... */
static void ring_uncommitted_first(struct kunit *test)
{
	interrupted_after_reserve(test, 0, 20);
}

/* ... on the first lap, while it still holds the lap before, and if it is the newest. */
static void ring_uncommitted_first_lap(struct kunit *test)
{
	interrupted_after_reserve(test, 10, 20);
}

static void ring_uncommitted_stale(struct kunit *test)
{
	interrupted_after_reserve(test, 2 * WORDS + 10, 20);
}

static void ring_uncommitted_newest(struct kunit *test)
{
	interrupted_after_reserve(test, 3 * WORDS - 1, 0);
}

/* Half-written: the upper half, which commits the word, is still old. */
static void ring_torn(struct kunit *test)
{
	struct ring_test *t = test->priv;
	u64 head;

	write(test, 0, 2 * WORDS);
	head = reserve(test);
	mctracer_ring_put_ip(mctracer_ring_slot(t->ring, head), ip_of(2 * WORDS));
	expect_calls(test, WORDS + 1, 2 * WORDS + 1, 2 * WORDS);
	commit(test, head, 2 * WORDS);
	expect_calls(test, WORDS + 1, 2 * WORDS + 1, NONE);
}

/*
 * See "Known limits" in ring.h: a writer that was lapped while interrupted destroys a later word.
 * Readers then show neither that word nor the writer's.
 */
static void ring_lapped_writer(struct kunit *test)
{
	u64 head;

	write(test, 0, 100);
	head = reserve(test);
	write(test, 101, 101 + WORDS + 50);
	commit(test, head, 100);
	expect_calls(test, 151, 101 + WORDS + 50, 100 + WORDS);
}

/* The number of calls is known at each position, however many meta words there are. */
static void ring_counts_calls(struct kunit *test)
{
	struct ring_test *t = test->priv;
	u64 calls = 0, end;
	int i;

	for (i = 0; i < 3000; i++) {
		write_word(test, mctracer_word(MCTRACER_TIME, 1));
		if (i % 3)
			continue;
		write(test, calls, calls + 1);
		calls++;
		KUNIT_ASSERT_EQ(test, mctracer_ring_end_calls(t->mine, &end), calls);
	}
	/* "meta" may be up to 2^10 meta words old. */
	for (i = 0; i < 1000; i++)
		mctracer_ring_reserve(t->ring, MCTRACER_STEP(2, 1));
	KUNIT_EXPECT_EQ(test, mctracer_ring_end_calls(t->mine, &end), calls + 1000);
}

static void expect_counts(struct kunit *test, u64 written, u64 read, u64 overwritten)
{
	struct ring_test *t = test->priv;
	struct mctracer_ring_counts counts = mctracer_ring_counts(t->mine);

	KUNIT_EXPECT_EQ(test, counts.written, written);
	KUNIT_EXPECT_EQ(test, counts.read, read);
	KUNIT_EXPECT_EQ(test, counts.overwritten, overwritten);
	KUNIT_EXPECT_EQ(test, counts.written,
			counts.read + counts.entries + counts.overwritten + counts.lost);
}

static void ring_clear(struct kunit *test)
{
	struct ring_test *t = test->priv;

	record(test, 0, 100);
	expect_counts(test, 100, 0, 0);
	mctracer_ring_clear(t->mine);
	expect_counts(test, 0, 0, 0);
	record(test, 100, 107);
	expect_counts(test, 7, 0, 0);
	KUNIT_EXPECT_EQ(test, mctracer_ring_counts(t->mine).entries, 7);
}

/* Cursor */

/* Expect the calls [from, to) next, 10 units of time each. */
static void expect_found(struct kunit *test, struct mctracer_cursor *cursor, u64 from, u64 to)
{
	for (; from < to; from++) {
		KUNIT_ASSERT_EQ(test, mctracer_cursor_next(cursor), MCTRACER_FOUND_CALL);
		KUNIT_ASSERT_EQ(test, cursor->state.ip, ip_of(from));
		KUNIT_ASSERT_EQ(test, cursor->state.parent_ip, parent_of(from));
		KUNIT_ASSERT_EQ(test, cursor->state.calls, from + 1);
		KUNIT_ASSERT_EQ(test, cursor->state.pid, 1);
		KUNIT_ASSERT_STREQ(test, cursor->state.comm, "one");
		KUNIT_ASSERT_LE(test, cursor->ns, 10000 + from * 10 + 700);
		KUNIT_ASSERT_GE(test, cursor->ns + 700, 10000 + from * 10);
	}
}

static void cursor_begins_anywhere(struct kunit *test)
{
	struct mctracer_cursor cursor = {};
	struct ring_test *t = test->priv;
	u64 first = t->mine->user.head, at, n;

	record(test, 0, WORDS / 2);
	for (at = 0; at < WORDS / 2; at += 333) {
		cursor = (struct mctracer_cursor) {};
		mctracer_cursor_begin(&cursor, t->mine, NULL, false,
				      mctracer_position(first + at * WORD), false);
		n = cursor.state.calls;
		KUNIT_ASSERT_LE(test, n, at);
		KUNIT_ASSERT_GE(test, n + at / 64 + 30, at);
		expect_found(test, &cursor, n, WORDS / 2);
		KUNIT_ASSERT_EQ(test, mctracer_cursor_next(&cursor), MCTRACER_FOUND_NOTHING);
	}
}

/* A cursor begins at the wanted position, also if the words before it are meta words. */
static void cursor_begins_behind_notes(struct kunit *test)
{
	struct mctracer_cursor cursor = {};
	struct ring_test *t = test->priv;

	record(test, 0, 100);
	write_sync(test);
	mctracer_ring_clear(t->mine);
	write_sync(test);
	write(test, 100, 110);
	mctracer_cursor_begin(&cursor, t->mine, NULL, true, t->mine->user.read, false);
	KUNIT_EXPECT_EQ(test, cursor.pos, t->mine->user.read);
	KUNIT_EXPECT_EQ(test, cursor.state.calls, 100);
	expect_found(test, &cursor, 100, 110);
}

/* The number of overwritten calls is exact. */
static void cursor_overtaken(struct kunit *test)
{
	struct mctracer_cursor cursor = {};
	struct ring_test *t = test->priv;
	u64 oldest;

	record(test, 0, 100);
	mctracer_cursor_begin(&cursor, t->mine, NULL, true, t->mine->user.read, false);
	expect_found(test, &cursor, 0, 10);
	record(test, 100, 3 * WORDS + 500);
	KUNIT_EXPECT_EQ(test, mctracer_cursor_next(&cursor), MCTRACER_FOUND_OVERWRITTEN);
	mctracer_cursor_begin(&cursor, t->mine, NULL, true, t->mine->user.read, false);
	oldest = cursor.state.calls;
	KUNIT_EXPECT_GE(test, oldest, 2 * WORDS);
	KUNIT_EXPECT_EQ(test, mctracer_ring_counts(t->mine).entries, 3 * WORDS + 500 - oldest);
	expect_counts(test, 3 * WORDS + 500, 0, oldest);
	expect_found(test, &cursor, oldest, 3 * WORDS + 500);
}

/* A cursor waits for an uncommitted word, but not for ever. */
static void cursor_uncommitted(struct kunit *test)
{
	struct mctracer_cursor cursor = {};
	struct ring_test *t = test->priv;
	u64 head;

	record(test, 0, 5);
	head = reserve(test);
	write(test, 6, 10);
	mctracer_cursor_begin(&cursor, t->mine, NULL, true, t->mine->user.read, false);
	expect_found(test, &cursor, 0, 5);
	KUNIT_EXPECT_EQ(test, mctracer_cursor_next(&cursor), MCTRACER_FOUND_NOTHING);
	commit(test, head, 5);
	expect_found(test, &cursor, 5, 10);

	reserve(test);
	write(test, 11, 20);
	KUNIT_EXPECT_EQ(test, mctracer_cursor_next(&cursor), MCTRACER_FOUND_NOTHING);
	write(test, 20, 20 + WORDS / 2);
	KUNIT_ASSERT_EQ(test, mctracer_cursor_next(&cursor), MCTRACER_FOUND_CALL);
	KUNIT_EXPECT_EQ(test, cursor.state.ip, ip_of(11));
}

/* A pause comes right before the time that ends it, and is not spread over the calls before. */
static void cursor_pause(struct kunit *test)
{
	struct mctracer_cursor cursor = {};
	struct ring_test *t = test->priv;
	u64 last = 0;
	int i;

	record(test, 0, 200);
	write_word(test, mctracer_word(MCTRACER_TIME, 500000));
	write(test, 200, 210);
	write_word(test, mctracer_word(MCTRACER_TIME, 500050));
	mctracer_cursor_begin(&cursor, t->mine, NULL, false, t->mine->user.read, false);
	for (i = 0; i < 210; i++) {
		KUNIT_ASSERT_EQ(test, mctracer_cursor_next(&cursor), MCTRACER_FOUND_CALL);
		KUNIT_ASSERT_GE(test, cursor.ns, last);
		last = cursor.ns;
		if (i < 200)
			KUNIT_ASSERT_LE(test, cursor.ns, 10000 + 200 * 10 + 300);
		else
			KUNIT_ASSERT_GE(test, cursor.ns, 1000000);
	}
	KUNIT_EXPECT_LE(test, cursor.ns, 1000100);
}

/* Pauses are not spread over calls even if they are frequent. */
static void cursor_pauses(struct kunit *test)
{
	struct mctracer_cursor cursor = {};
	struct ring_test *t = test->priv;
	u64 time, n;
	int i;

	record(test, 0, 200);
	time = t->said.time;
	for (n = 200; n < 600; n += 10) {
		time += 10 * 10;
		write(test, n, n + 10);
		if (n / 10 % 2)
			time += 1000000;
		write_word(test, mctracer_word(MCTRACER_TIME, time / 2));
	}
	mctracer_cursor_begin(&cursor, t->mine, NULL, false, t->mine->user.read, false);
	for (i = 0; i < 200; i++)
		mctracer_cursor_next(&cursor);
	for (n = 200; n < 600; n += 10) {
		for (i = 0; i < 10; i++) {
			KUNIT_ASSERT_EQ(test, mctracer_cursor_next(&cursor), MCTRACER_FOUND_CALL);
			if (!i)
				time = cursor.ns;
			KUNIT_ASSERT_LE(test, cursor.ns, time + 1000);
		}
	}
}

static void cursor_task_and_gap(struct kunit *test)
{
	struct mctracer_cursor cursor = {};
	struct ring_test *t = test->priv;

	record(test, 0, 5);
	write_word(test, mctracer_meta_word(MCTRACER_GAP, 17));
	t->said.pid = 2;
	strscpy(t->said.comm, "two");
	write_sync(test);
	write(test, 5, 6);
	mctracer_cursor_begin(&cursor, t->mine, NULL, false, t->mine->user.read, false);
	expect_found(test, &cursor, 0, 5);
	KUNIT_EXPECT_EQ(test, mctracer_cursor_next(&cursor), MCTRACER_FOUND_GAP);
	KUNIT_EXPECT_EQ(test, cursor.state.value, 17);
	KUNIT_EXPECT_EQ(test, mctracer_cursor_next(&cursor), MCTRACER_FOUND_CALL);
	KUNIT_EXPECT_EQ(test, cursor.state.pid, 2);
	KUNIT_EXPECT_STREQ(test, cursor.state.comm, "two");
}

/* A gap has the time at which recording resumed, though the ring's last call was long before. */
static void cursor_gap_time(struct kunit *test)
{
	struct mctracer_cursor cursor = {};
	struct ring_test *t = test->priv;

	record(test, 0, 5);
	write_word(test, mctracer_word(MCTRACER_TIME, t->said.time >> 1));
	t->said.time += 1000000;
	write_sync(test);
	write_word(test, mctracer_meta_word(MCTRACER_GAP, MCTRACER_GAP_UNCOUNTED));
	mctracer_cursor_begin(&cursor, t->mine, NULL, false, t->mine->user.read, false);
	expect_found(test, &cursor, 0, 5);
	KUNIT_EXPECT_LT(test, cursor.ns, t->said.time);
	KUNIT_EXPECT_EQ(test, mctracer_cursor_next(&cursor), MCTRACER_FOUND_GAP);
	KUNIT_EXPECT_EQ(test, cursor.state.value, MCTRACER_GAP_UNCOUNTED);
	KUNIT_EXPECT_GE(test, cursor.ns, t->said.time);
}

/* The first event is marked if calls before it are gone, and only the first. */
static void cursor_cut(struct kunit *test)
{
	struct mctracer_cursor cursor = {};
	struct ring_test *t = test->priv;

	record(test, 0, 5);
	mctracer_cursor_begin(&cursor, t->mine, NULL, false, t->mine->user.read, false);
	mctracer_cursor_next(&cursor);
	KUNIT_EXPECT_FALSE(test, cursor.after_cut);
	record(test, 5, 2 * RING_SIZE / WORD);
	mctracer_cursor_begin(&cursor, t->mine, NULL, false, t->mine->user.read, false);
	KUNIT_EXPECT_EQ(test, mctracer_cursor_next(&cursor), MCTRACER_FOUND_CALL);
	KUNIT_EXPECT_TRUE(test, cursor.after_cut);
	KUNIT_EXPECT_EQ(test, mctracer_cursor_next(&cursor), MCTRACER_FOUND_CALL);
	KUNIT_EXPECT_FALSE(test, cursor.after_cut);
}

static void move(struct kunit *test, size_t size)
{
	struct mctracer_ring *new = kunit_kzalloc(test, sizeof(*new), GFP_KERNEL);
	struct ring_test *t = test->priv;

	KUNIT_ASSERT_NOT_NULL(test, new);
	KUNIT_ASSERT_EQ(test, mctracer_ring_alloc(new, 0, size), 0);
	mctracer_ring_move(t->mine, new);
	mctracer_ring_free(new);
}

/* After moves to larger, smaller and equal rings the words are complete and the counts exact. */
static void ring_moves(struct kunit *test)
{
	static const int factors[] = { 4, 1, 2, 1, 1 };
	struct mctracer_cursor cursor = {};
	struct ring_test *t = test->priv;
	u64 n = 0, first;
	int i;

	for (i = 0; i < ARRAY_SIZE(factors); i++) {
		record(test, n, n + WORDS + 1234);
		n += WORDS + 1234;
		move(test, factors[i] * RING_SIZE);
		cursor = (struct mctracer_cursor) {};
		mctracer_cursor_begin(&cursor, t->mine, NULL, false, t->mine->user.read, false);
		first = cursor.state.calls;
		KUNIT_EXPECT_GE(test, first + WORDS, n - WORDS / 2);
		expect_counts(test, n, 0, first);
		expect_found(test, &cursor, first, n);
		t->mine->sync_at = U64_MAX;
	}
}

/* A word that nobody will commit any more does not appear after a move, nor a lap later. */
static void ring_moves_uncommitted(struct kunit *test)
{
	struct mctracer_cursor cursor = {};
	struct ring_test *t = test->priv;

	record(test, 0, WORDS + 10);
	reserve(test);
	write(test, WORDS + 11, WORDS + 20);
	move(test, RING_SIZE);
	mctracer_cursor_begin(&cursor, t->mine, NULL, false, t->mine->user.read, false);
	while (mctracer_cursor_next(&cursor) == MCTRACER_FOUND_CALL)
		KUNIT_ASSERT_NE(test, cursor.state.ip, ip_of(WORDS + 10));
	KUNIT_EXPECT_EQ(test, cursor.state.ip, ip_of(WORDS + 19));
}

/* Move a ring that was cleared exactly at a sync point, and so is empty. */
static void ring_moves_nothing(struct kunit *test)
{
	struct ring_test *t = test->priv;
	u64 n = 0;

	do {
		record(test, n, n + 1);
		n++;
	} while (mctracer_ring_end(t->mine) % (QUARTER * WORD));
	mctracer_ring_clear(t->mine);
	move(test, 2 * RING_SIZE);
	expect_counts(test, 0, 0, 0);
	move(test, RING_SIZE);
	expect_counts(test, 0, 0, 0);
}

/* A packet never lies in two quarters: so a reader never gets half of one. */
static void ring_moves_entities(struct kunit *test)
{
	struct mctracer_cursor cursor = {};
	struct ring_test *t = test->priv;
	u64 n, i, word, pos;

	move(test, 4 * RING_SIZE);
	for (n = 0; n < 3 * WORDS; n += 3) {
		record(test, n, n + 3);
		write_sync(test);
	}
	move(test, RING_SIZE);
	pos = mctracer_ring_oldest(t->mine);
	for (i = 0; pos != mctracer_ring_end(t->mine); pos = mctracer_position(pos + WORD)) {
		if (mctracer_ring_read(t->mine, pos, &word) != MCTRACER_READ_OK)
			continue;
		if (!mctracer_word_is_call(word) && mctracer_word_type(word) == MCTRACER_MORE &&
		    !(pos % (QUARTER * WORD)))
			i++;
	}
	KUNIT_EXPECT_EQ(test, i, 0);
	mctracer_cursor_begin(&cursor, t->mine, NULL, false, t->mine->user.read, false);
	expect_found(test, &cursor, cursor.state.calls, n);
}

static struct kunit_case ring_cases[] = {
	KUNIT_CASE(ring_sizes),
	KUNIT_CASE(ring_no_memory),
	KUNIT_CASE(ring_wraps),
	KUNIT_CASE(ring_overwritten),
	KUNIT_CASE(ring_interrupted_before_reserve),
	KUNIT_CASE(ring_uncommitted_first),
	KUNIT_CASE(ring_uncommitted_first_lap),
	KUNIT_CASE(ring_uncommitted_stale),
	KUNIT_CASE(ring_uncommitted_newest),
	KUNIT_CASE(ring_torn),
	KUNIT_CASE(ring_lapped_writer),
	KUNIT_CASE(ring_counts_calls),
	KUNIT_CASE(ring_clear),
	KUNIT_CASE(ring_moves),
	KUNIT_CASE(ring_moves_uncommitted),
	KUNIT_CASE(ring_moves_nothing),
	KUNIT_CASE(ring_moves_entities),
	KUNIT_CASE(cursor_begins_anywhere),
	KUNIT_CASE(cursor_begins_behind_notes),
	KUNIT_CASE(cursor_overtaken),
	KUNIT_CASE(cursor_uncommitted),
	KUNIT_CASE(cursor_pause),
	KUNIT_CASE(cursor_pauses),
	KUNIT_CASE(cursor_task_and_gap),
	KUNIT_CASE(cursor_gap_time),
	KUNIT_CASE(cursor_cut),
	{}
};

static struct kunit_suite ring_suite = {
	.name		= "mctracer_ring",
	.init		= ring_init,
	.exit		= ring_exit,
	.test_cases	= ring_cases,
};

kunit_test_suite(ring_suite);

MODULE_DESCRIPTION("KUnit tests of mctracer's ring and cursor");
MODULE_LICENSE("GPL");
