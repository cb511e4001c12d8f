// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of mctracer's record encoding, ring, silences and switch. The ring is written by the very
 * steps that the hook takes; what interrupts do in between is done by hand.
 */
#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/threads.h>

#include "../encoding.h"
#include "../mctracer.h"
#include "../ring.h"
#include "../silence.h"

#define RECORDS		MCTRACER_RING_MIN_RECORDS
#define RECORD_SIZE	sizeof(struct mctracer_record)
#define RING_SIZE	(RECORDS * RECORD_SIZE)

/* Encoding */

static void encoding_stamp(struct kunit *test)
{
	static const u64 clocks[] = { 0, 1, MCTRACER_CLOCK_MASK - 1, MCTRACER_CLOCK_MASK };
	static const pid_t pids[] = { 0, 1, 32768, PID_MAX_LIMIT - 1 };
	int c, p;

	for (c = 0; c < ARRAY_SIZE(clocks); c++) {
		for (p = 0; p < ARRAY_SIZE(pids); p++) {
			struct mctracer_record record = {
				.ip = MCTRACER_PLAIN,
				.stamp = mctracer_stamp(clocks[c], pids[p]),
			};

			KUNIT_EXPECT_EQ(test, mctracer_clock(&record), clocks[c]);
			KUNIT_EXPECT_EQ(test, mctracer_stamp_pid(record.stamp), pids[p]);
		}
	}

	/* A longer clock loses its upper bits and leaves the pid alone. */
	KUNIT_EXPECT_EQ(test, mctracer_stamp(U64_MAX, 7),
			mctracer_stamp(MCTRACER_CLOCK_MASK, 7));
}

static struct mctracer_record at(u64 clock)
{
	return (struct mctracer_record) {
		.ip = MCTRACER_PLAIN,
		.stamp = mctracer_stamp(clock, 1),
	};
}

static struct mctracer_record with_context(u64 clock, u32 context)
{
	return (struct mctracer_record) {
		.stamp = mctracer_context_stamp(clock, context, PID_MAX_LIMIT - 1),
	};
}

static void encoding_delta(struct kunit *test)
{
	struct mctracer_record a = at(1000), b = at(5000), last = at(MCTRACER_CLOCK_MASK);

	KUNIT_EXPECT_EQ(test, mctracer_cycles_between(&a, &b), 4000);
	KUNIT_EXPECT_EQ(test, mctracer_cycles_between(&a, &a), 0);
	KUNIT_EXPECT_EQ(test, mctracer_cycles_between(&last, &a), 1001);
	KUNIT_EXPECT_EQ(test, mctracer_cycles_until(&a, 1ULL << 50 | 3000, U64_MAX), 2000);

	/* Going back is no distance. */
	KUNIT_EXPECT_EQ(test, mctracer_cycles_between(&b, &a), 0);
	KUNIT_EXPECT_EQ(test, mctracer_cycles_between(&a, &last), 0);
}

static void encoding_context(struct kunit *test)
{
	const u64 unit = 1 << MCTRACER_CONTEXT_SHIFT;
	const u32 most = GENMASK(MCTRACER_CONTEXT_BITS - 1, 0);
	struct mctracer_record a = with_context(1000 * unit, most);
	struct mctracer_record b = with_context(1007 * unit, 0);
	struct mctracer_record last = with_context(MCTRACER_CONTEXT_CLOCK_MASK, 1);
	struct mctracer_record plain = at(1002 * unit + 1);

	KUNIT_EXPECT_TRUE(test, mctracer_has_context(&a));
	KUNIT_EXPECT_FALSE(test, mctracer_has_context(&plain));
	KUNIT_EXPECT_EQ(test, mctracer_context(&a), most);
	KUNIT_EXPECT_EQ(test, mctracer_context(&b), 0);
	KUNIT_EXPECT_EQ(test, mctracer_stamp_pid(a.stamp), PID_MAX_LIMIT - 1);

	KUNIT_EXPECT_EQ(test, mctracer_cycles_between(&a, &b), 7 * unit);
	KUNIT_EXPECT_EQ(test, mctracer_cycles_between(&last, &a), 1001 * unit);
	KUNIT_EXPECT_EQ(test, mctracer_cycles_between(&b, &a), 0);

	/* Mixed, after the option was changed. */
	KUNIT_EXPECT_EQ(test, mctracer_cycles_between(&a, &plain), 2 * unit + 1);
	KUNIT_EXPECT_EQ(test, mctracer_cycles_between(&plain, &b), 5 * unit - 1);
}

static void encoding_address(struct kunit *test)
{
	unsigned long here = (unsigned long)encoding_address;

	KUNIT_EXPECT_EQ(test, mctracer_address((u32)here), here);
}

/* Ring */

struct ring_test {
	struct mctracer_ring __percpu *ring;
	struct mctracer_ring *mine;	/* the same, of the CPU that the test stays on */
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

	/* The thread that runs this runs one case and ends. */
	cpu = raw_smp_processor_id();
	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(cpu)), 0);
	t->mine = per_cpu_ptr(t->ring, cpu);
	KUNIT_ASSERT_EQ(test, mctracer_ring_alloc(t->mine, RING_SIZE, NUMA_NO_NODE), 0);
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

/* What a record has tells its number. */
static u64 stamp_of(u64 number)
{
	return mctracer_stamp(number * 1000, number & 0xffff);
}

static u32 parent_of(u64 number)
{
	return MCTRACER_LAP_BIT | ~(u32)number;
}

static u64 reserve(struct kunit *test)
{
	struct ring_test *t = test->priv;
	u64 pos = mctracer_ring_head(t->ring);

	KUNIT_ASSERT_TRUE(test, mctracer_ring_reserve(t->ring, pos));
	return pos;
}

static void commit(struct kunit *test, u64 pos, u64 number)
{
	struct ring_test *t = test->priv;
	struct mctracer_record *slot;

	slot = mctracer_ring_fill(t->ring, pos, (u32)number + 1, stamp_of(number));
	mctracer_ring_commit(t->ring, pos, slot, parent_of(number));
}

static void write(struct kunit *test, u64 from, u64 to)
{
	for (; from < to; from++)
		commit(test, reserve(test), from);
}

/* Walk the ring as readers do; expect the records [from, to) without @missing. */
static void expect_records(struct kunit *test, u64 from, u64 to, u64 missing)
{
	struct ring_test *t = test->priv;
	struct mctracer_ring_counts counts = mctracer_ring_counts(t->mine);
	u64 pos = counts.end - counts.entries * RECORD_SIZE;
	struct mctracer_record record;
	bool valid;

	KUNIT_ASSERT_EQ(test, counts.entries, to - from);
	for (; pos != counts.end; pos += RECORD_SIZE, from++) {
		valid = mctracer_ring_read(t->mine, pos, &record);
		KUNIT_ASSERT_EQ(test, valid, from != missing);
		if (!valid)
			continue;
		KUNIT_ASSERT_EQ(test, record.stamp, stamp_of(from));
		KUNIT_ASSERT_EQ(test, record.ip, (u32)from + 1);
		KUNIT_ASSERT_EQ(test, record.parent_ip, parent_of(from));
	}
}

#define NONE	U64_MAX

static void expect_counts(struct kunit *test, u64 written, u64 entries, u64 overwritten)
{
	struct ring_test *t = test->priv;
	struct mctracer_ring_counts counts = mctracer_ring_counts(t->mine);

	KUNIT_EXPECT_EQ(test, counts.written, written);
	KUNIT_EXPECT_EQ(test, counts.entries, entries);
	KUNIT_EXPECT_EQ(test, counts.overwritten, overwritten);
}

static void ring_sizes(struct kunit *test)
{
	static struct mctracer_ring ring;	/* too large for the stack */

	KUNIT_EXPECT_EQ(test, mctracer_ring_alloc(&ring, 0, NUMA_NO_NODE), -EINVAL);
	KUNIT_EXPECT_EQ(test, mctracer_ring_alloc(&ring, RING_SIZE / 2, NUMA_NO_NODE), -EINVAL);
	KUNIT_EXPECT_EQ(test, mctracer_ring_alloc(&ring, RING_SIZE + 16, NUMA_NO_NODE), -EINVAL);
	KUNIT_EXPECT_EQ(test, mctracer_ring_alloc(&ring, 2UL * MCTRACER_RING_MAX_SIZE,
						  NUMA_NO_NODE), -EINVAL);
	KUNIT_EXPECT_NULL(test, ring.base);
}

static void ring_no_memory(struct kunit *test)
{
	static struct mctracer_ring ring;	/* too large for the stack */

	if (totalram_pages() > MCTRACER_RING_MAX_SIZE >> PAGE_SHIFT)
		kunit_skip(test, "this machine has memory for the largest ring");
	KUNIT_EXPECT_EQ(test, mctracer_ring_alloc(&ring, MCTRACER_RING_MAX_SIZE, NUMA_NO_NODE),
			-ENOMEM);
	KUNIT_EXPECT_NULL(test, ring.base);
	KUNIT_EXPECT_EQ(test, mctracer_ring_counts(&ring).entries, 0);
}

static void ring_empty(struct kunit *test)
{
	expect_counts(test, 0, 0, 0);
	expect_records(test, 0, 0, NONE);
}

/* Positions overflow after two laps; nobody may notice. */
static void ring_wraps(struct kunit *test)
{
	struct ring_test *t = test->priv;
	u64 n = 0;

	KUNIT_EXPECT_EQ(test, t->mine->user.head + 2 * RING_SIZE, 0);

	for (; n <= RECORDS; n += RECORDS / 4) {
		expect_records(test, 0, n, NONE);
		expect_counts(test, n, n, 0);
		write(test, n, n + RECORDS / 4);
	}
	for (; n < 5 * RECORDS; n += 1000) {
		expect_records(test, n - RECORDS, n, NONE);
		expect_counts(test, n, RECORDS, n - RECORDS);
		write(test, n, n + 1000);
	}
}

static void ring_overwritten(struct kunit *test)
{
	struct ring_test *t = test->priv;
	struct mctracer_record record;
	u64 pos = t->mine->user.head;

	write(test, 0, RECORDS);
	KUNIT_EXPECT_TRUE(test, mctracer_ring_read(t->mine, pos, &record));
	KUNIT_EXPECT_EQ(test, record.stamp, stamp_of(0));

	/* Reserved for the next lap, if not written yet: no longer to be trusted. */
	reserve(test);
	KUNIT_EXPECT_FALSE(test, mctracer_ring_read(t->mine, pos, &record));
	KUNIT_EXPECT_TRUE(test, mctracer_ring_read(t->mine, pos + RECORD_SIZE, &record));
}

/* An interrupt between taking the time and reserving makes the writer start again. */
static void ring_interrupted_before_reserve(struct kunit *test)
{
	struct ring_test *t = test->priv;
	u64 pos = mctracer_ring_head(t->ring);

	write(test, 0, 3);
	KUNIT_EXPECT_FALSE(test, mctracer_ring_reserve(t->ring, pos));
	expect_counts(test, 3, 3, 0);
	write(test, 3, 4);
	expect_records(test, 0, 4, NONE);
}

static void interrupted_after_reserve(struct kunit *test, u64 before, u64 nested)
{
	u64 to = before + 1 + nested, from = to > RECORDS ? to - RECORDS : 0;
	u64 pos;

	write(test, 0, before);
	pos = reserve(test);
	write(test, before + 1, to);
	expect_records(test, from, to, before);
	commit(test, pos, before);
	expect_records(test, from, to, NONE);
	expect_counts(test, to, to - from, from);
}

/* A slot that is reserved, but not committed, is not shown: if it is the first of all ... */
static void ring_uncommitted_first(struct kunit *test)
{
	interrupted_after_reserve(test, 0, 20);
}

/* ... on the first lap ... */
static void ring_uncommitted_first_lap(struct kunit *test)
{
	interrupted_after_reserve(test, 10, 20);
}

/* ... when it is the first since a clear ... */
static void ring_uncommitted_cleared(struct kunit *test)
{
	struct ring_test *t = test->priv;
	struct mctracer_record record;
	u64 pos;

	write(test, 0, 2 * RECORDS + 100);
	mctracer_ring_clear(t->mine);
	pos = reserve(test);
	KUNIT_EXPECT_FALSE(test, mctracer_ring_read(t->mine, pos, &record));
	commit(test, pos, 0);
	expect_records(test, 0, 1, NONE);
}

/* ... when it still holds the record of the lap before ... */
static void ring_uncommitted_stale(struct kunit *test)
{
	interrupted_after_reserve(test, 2 * RECORDS + 10, 20);
}

/* ... and when it is the newest. */
static void ring_uncommitted_newest(struct kunit *test)
{
	interrupted_after_reserve(test, 3 * RECORDS - 1, 0);
}

/* Half-written: all is new but what commits it. */
static void ring_torn(struct kunit *test)
{
	struct ring_test *t = test->priv;
	u64 pos;

	write(test, 0, 2 * RECORDS);
	pos = reserve(test);
	mctracer_ring_fill(t->ring, pos, 2 * RECORDS + 1, stamp_of(2 * RECORDS));
	expect_records(test, RECORDS + 1, 2 * RECORDS + 1, 2 * RECORDS);
	commit(test, pos, 2 * RECORDS);
	expect_records(test, RECORDS + 1, 2 * RECORDS + 1, NONE);
}

/*
 * The residual hole that ring.h describes: a writer lapped while interrupted
 * destroys a later record, which then is not shown; neither is its own.
 */
static void ring_lapped_writer(struct kunit *test)
{
	u64 pos;

	write(test, 0, 100);
	pos = reserve(test);
	write(test, 101, 101 + RECORDS + 50);
	commit(test, pos, 100);
	expect_records(test, 151, 101 + RECORDS + 50, 100 + RECORDS);
}

static void ring_clear(struct kunit *test)
{
	struct ring_test *t = test->priv;

	write(test, 0, 2 * RECORDS + 5);
	mctracer_ring_clear(t->mine);
	expect_counts(test, 0, 0, 0);
	write(test, 0, 7);
	expect_counts(test, 7, 7, 0);
	expect_records(test, 0, 7, NONE);
	write(test, 7, RECORDS + 9);
	expect_counts(test, RECORDS + 9, RECORDS, 9);

	mctracer_ring_clear(t->mine);
	mctracer_ring_clear(t->mine);
	expect_counts(test, 0, 0, 0);
}

/* Consume @from up to, not including, @to; before the first, @missed were passed over. */
static void expect_consumed(struct kunit *test, u64 from, u64 to, u64 missed, bool live)
{
	struct ring_test *t = test->priv;
	struct mctracer_record record;

	for (; from < to; from++) {
		KUNIT_ASSERT_TRUE(test, mctracer_ring_peek(t->mine, &record, live, live));
		KUNIT_ASSERT_EQ(test, record.stamp, stamp_of(from));
		KUNIT_ASSERT_EQ(test, t->mine->missed, missed);
		missed = 0;
		mctracer_ring_consume(t->mine);
	}
}

/* written = read + entries + overwritten + lost */
static void expect_sum(struct kunit *test, u64 read, u64 entries, u64 overwritten, u64 lost)
{
	struct ring_test *t = test->priv;
	struct mctracer_ring_counts counts = mctracer_ring_counts(t->mine);

	KUNIT_EXPECT_EQ(test, counts.read, read);
	KUNIT_EXPECT_EQ(test, counts.entries, entries);
	KUNIT_EXPECT_EQ(test, counts.overwritten, overwritten);
	KUNIT_EXPECT_EQ(test, counts.lost, lost);
	KUNIT_EXPECT_EQ(test, counts.written, read + entries + overwritten + lost);
}

static void ring_consume(struct kunit *test)
{
	struct ring_test *t = test->priv;
	struct mctracer_record record;

	KUNIT_EXPECT_FALSE(test, mctracer_ring_peek(t->mine, &record, true, true));
	write(test, 0, 10);
	expect_consumed(test, 0, 4, 0, true);
	expect_sum(test, 4, 6, 0, 0);
	expect_records(test, 4, 10, NONE);
	expect_consumed(test, 4, 10, 0, true);
	expect_sum(test, 10, 0, 0, 0);
	KUNIT_EXPECT_FALSE(test, mctracer_ring_peek(t->mine, &record, true, true));

	/* To look is not to take. */
	write(test, 10, 11);
	KUNIT_EXPECT_TRUE(test, mctracer_ring_peek(t->mine, &record, true, true));
	KUNIT_EXPECT_TRUE(test, mctracer_ring_peek(t->mine, &record, true, true));
	expect_sum(test, 10, 1, 0, 0);

	mctracer_ring_clear(t->mine);
	expect_sum(test, 0, 0, 0, 0);
}

/* A reader that was lapped is told how much it missed, once. */
static void ring_consume_lapped(struct kunit *test)
{
	struct ring_test *t = test->priv;
	struct mctracer_record record;

	write(test, 0, RECORDS + 100);
	expect_consumed(test, 100, 110, 100, false);
	expect_sum(test, 10, RECORDS - 10, 100, 0);

	/* Nothing more than was overwritten, if it was before the reader came ... */
	write(test, RECORDS + 100, 2 * RECORDS + 200);
	KUNIT_EXPECT_TRUE(test, mctracer_ring_peek(t->mine, &record, true, false));
	KUNIT_EXPECT_EQ(test, record.stamp, stamp_of(RECORDS + 200));
	/* ... else some distance is kept. */
	write(test, 2 * RECORDS + 200, 2 * RECORDS + 201);
	KUNIT_EXPECT_TRUE(test, mctracer_ring_peek(t->mine, &record, true, true));
	expect_consumed(test, RECORDS + 201 + RECORDS / 8, RECORDS + 301 + RECORDS / 8,
			RECORDS + 91 + RECORDS / 8, true);
	expect_sum(test, 110, RECORDS - RECORDS / 8 - 100, RECORDS + 191 + RECORDS / 8, 0);
}

/* What is not committed yet is waited for, but not for ever. */
static void ring_consume_uncommitted(struct kunit *test)
{
	struct ring_test *t = test->priv;
	struct mctracer_record record;
	u64 pos;

	write(test, 0, 5);
	pos = reserve(test);
	write(test, 6, 10);
	expect_consumed(test, 0, 5, 0, true);
	KUNIT_EXPECT_FALSE(test, mctracer_ring_peek(t->mine, &record, true, true));
	commit(test, pos, 5);
	expect_consumed(test, 5, 10, 0, true);

	/* Its writer is gone: at rest, or half a ring later. */
	reserve(test);
	write(test, 11, 20);
	expect_consumed(test, 11, 20, 1, false);
	reserve(test);
	write(test, 21, 22 + RECORDS / 2);
	expect_consumed(test, 21, 22 + RECORDS / 2, 1, true);
	expect_sum(test, 20 + RECORDS / 2, 0, 2, 0);
}

static void ring_keeps_oldest(struct kunit *test)
{
	struct ring_test *t = test->priv;
	int i;

	for (i = 0; i < RECORDS; i++) {
		KUNIT_ASSERT_FALSE(test, mctracer_ring_full(t->ring, mctracer_ring_head(t->ring)));
		write(test, i, i + 1);
	}
	for (i = 0; i < 3; i++)
		KUNIT_ASSERT_TRUE(test, mctracer_ring_full(t->ring, mctracer_ring_head(t->ring)));
	expect_sum(test, 0, RECORDS, 0, 3);

	/* What is taken makes room. */
	expect_consumed(test, 0, 2, 0, true);
	for (i = 0; i < 2; i++) {
		KUNIT_ASSERT_FALSE(test, mctracer_ring_full(t->ring, mctracer_ring_head(t->ring)));
		write(test, RECORDS + i, RECORDS + i + 1);
	}
	KUNIT_ASSERT_TRUE(test, mctracer_ring_full(t->ring, mctracer_ring_head(t->ring)));
	expect_records(test, 2, RECORDS + 2, NONE);
	expect_sum(test, 2, RECORDS, 0, 4);

	mctracer_ring_clear(t->mine);
	KUNIT_EXPECT_FALSE(test, mctracer_ring_full(t->ring, mctracer_ring_head(t->ring)));
	expect_sum(test, 0, 0, 0, 0);
}

/* After many laps, so that what was overwritten is far behind. */
static void ring_keeps_what_is_there(struct kunit *test)
{
	struct ring_test *t = test->priv;

	write(test, 0, 3 * RECORDS + 7);
	mctracer_ring_settle(t->mine);
	KUNIT_EXPECT_TRUE(test, mctracer_ring_full(t->ring, mctracer_ring_head(t->ring)));
	expect_records(test, 2 * RECORDS + 7, 3 * RECORDS + 7, NONE);
	expect_sum(test, 0, RECORDS, 2 * RECORDS + 7, 1);
}

static void move(struct kunit *test, size_t size)
{
	struct ring_test *t = test->priv;
	struct mctracer_ring *new = kunit_kzalloc(test, sizeof(*new), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, new);
	KUNIT_ASSERT_EQ(test, mctracer_ring_alloc(new, size, NUMA_NO_NODE), 0);
	mctracer_ring_move(t->mine, new);
	KUNIT_EXPECT_NULL(test, new->base);
	KUNIT_EXPECT_EQ(test, mctracer_ring_size(t->mine), size);
}

/* In the first lap, in an odd and in an even one, by one, and with some read. */
static void ring_moves(struct kunit *test)
{
	static const u64 lengths[] = {
		5, RECORDS, RECORDS + 5, 2 * RECORDS - 1, 2 * RECORDS, 2 * RECORDS + 9,
		5 * RECORDS + 1
	};
	struct ring_test *t = test->priv;
	u64 from, length, end;
	int i, skip;

	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		for (skip = 0; skip < 4; skip += 3) {
			length = lengths[i];
			mctracer_ring_free(t->mine);
			KUNIT_ASSERT_EQ(test, mctracer_ring_alloc(t->mine, RING_SIZE, NUMA_NO_NODE),
					0);
			write(test, 0, length);
			from = length > RECORDS ? length - RECORDS : 0;
			expect_consumed(test, from, from + skip, from, false);

			/* All of it fits. */
			move(test, 4 * RING_SIZE);
			expect_records(test, from + skip, length, NONE);
			expect_sum(test, skip, length - from - skip, from, 0);

			/* And it is a ring like any other. */
			end = length + 9 * RECORDS;
			write(test, length, end);
			expect_records(test, end - 4 * RECORDS, end, NONE);
			expect_sum(test, skip, 4 * RECORDS, end - 4 * RECORDS - skip, 0);

			/* Only the latest fit. */
			move(test, RING_SIZE);
			expect_records(test, end - RECORDS, end, NONE);
			expect_sum(test, skip, RECORDS, end - RECORDS - skip, 0);
			reserve(test);
			expect_records(test, end - RECORDS + 1, end + 1, end);
		}
	}
}

static void ring_moves_uncommitted(struct kunit *test)
{
	write(test, 0, 10);
	reserve(test);
	write(test, 11, 20);
	move(test, 2 * RING_SIZE);
	expect_records(test, 0, 20, 10);
	write(test, 20, 30);
	expect_consumed(test, 0, 10, 0, false);
	expect_consumed(test, 11, 30, 1, false);
}

/* Silences */

#define MARGIN	MCTRACER_SILENCE_MARGIN

/* Shorter than what needs a note, as long as records come. */
static void silence_short(struct kunit *test)
{
	struct mctracer_silences silences = {};
	struct ring_test *t = test->priv;
	u64 now = 1;
	int i;

	for (i = 0; i < 100; i++, now += MARGIN - 1) {
		mctracer_silence_look(&silences, t->mine, now);
		KUNIT_EXPECT_EQ(test, silences.nr, 0);
		write(test, i, i + 1);
	}
	mctracer_silence_look(&silences, t->mine, now);
	mctracer_silence_look(&silences, t->mine, now + MARGIN - 1);
	KUNIT_EXPECT_EQ(test, silences.nr, 0);
}

static void silence_long(struct kunit *test)
{
	const struct mctracer_silence *silence;
	struct mctracer_silences silences = {};
	struct ring_test *t = test->priv;
	u64 pos;

	write(test, 0, 3);
	pos = t->mine->user.head;
	mctracer_silence_look(&silences, t->mine, 10 * MARGIN);
	mctracer_silence_look(&silences, t->mine, 11 * MARGIN);
	mctracer_silence_look(&silences, t->mine, 99 * MARGIN);
	KUNIT_EXPECT_EQ(test, silences.nr, 1);
	KUNIT_EXPECT_NULL(test, mctracer_silence_at(&silences, pos - RECORD_SIZE));
	silence = mctracer_silence_at(&silences, pos);
	KUNIT_ASSERT_NOT_NULL(test, silence);
	KUNIT_EXPECT_EQ(test, silence->before, 11 * MARGIN);
	KUNIT_EXPECT_EQ(test, silence->after, 98 * MARGIN);

	write(test, 3, 4);
	mctracer_silence_look(&silences, t->mine, 100 * MARGIN);
	KUNIT_EXPECT_EQ(test, silences.nr, 1);
	KUNIT_EXPECT_EQ(test, silence->after, 98 * MARGIN);
}

/* More silences than can be noted: what lies before the oldest is not shown any more. */
static void silence_too_many(struct kunit *test)
{
	struct mctracer_silences silences = {};
	struct ring_test *t = test->priv;
	int i;

	for (i = 0; i < MCTRACER_SILENCES + 2; i++) {
		KUNIT_EXPECT_EQ(test, mctracer_ring_counts(t->mine).entries,
				min(i, MCTRACER_SILENCES));
		write(test, i, i + 1);
		mctracer_silence_look(&silences, t->mine, (100 * i + 1) * MARGIN);
		mctracer_silence_look(&silences, t->mine, (100 * i + 99) * MARGIN);
	}
	KUNIT_EXPECT_EQ(test, silences.nr, MCTRACER_SILENCES);
	expect_counts(test, i, MCTRACER_SILENCES, 2);
}

/* After a sleep: the clock has leapt between two records, or was set back. */
#define LEAP	1000000000

static void silence_slept(struct kunit *test)
{
	struct mctracer_silences silences = {};
	struct ring_test *t = test->priv;

	write(test, 0, 5);
	KUNIT_EXPECT_FALSE(test, mctracer_silence_look(&silences, t->mine, 2 * MARGIN));
	write(test, 5, 7);
	write(test, LEAP, LEAP + 3);
	KUNIT_EXPECT_TRUE(test, mctracer_silence_look(&silences, t->mine, 9 * MARGIN));
	expect_counts(test, 10, 3, 7);

	write(test, 0, 4);
	KUNIT_EXPECT_TRUE(test, mctracer_silence_look(&silences, t->mine, 1));
	expect_counts(test, 14, 4, 10);

	/* There was none: nobody found the time to look. */
	write(test, 4, 6);
	KUNIT_EXPECT_FALSE(test, mctracer_silence_look(&silences, t->mine, 9 * MARGIN));
	expect_counts(test, 16, 6, 10);

	/* The last from before was overwritten. */
	write(test, 0, RECORDS + 1);
	KUNIT_EXPECT_FALSE(test, mctracer_silence_look(&silences, t->mine, 1));
	expect_counts(test, RECORDS + 17, RECORDS, 17);
}

/* Nothing was written after the sleep until the look, or by this CPU. */
static void silence_slept_before(struct kunit *test)
{
	struct mctracer_silences silences = {};
	struct ring_test *t = test->priv;

	write(test, 0, 5);
	mctracer_silence_look(&silences, t->mine, 9 * MARGIN);
	write(test, 5, 7);
	KUNIT_EXPECT_FALSE(test, mctracer_silence_look(&silences, t->mine, 1));
	expect_counts(test, 7, 7, 0);
	write(test, 7, 9);
	KUNIT_EXPECT_TRUE(test, mctracer_silence_look(&silences, t->mine, 2));
	expect_counts(test, 9, 2, 7);

	mctracer_silence_look(&silences, t->mine, 9 * MARGIN);
	mctracer_silence_look(&silences, t->mine, 1);
	expect_counts(test, 9, 2, 7);
	KUNIT_EXPECT_TRUE(test, mctracer_silence_give_up(&silences, t->mine));
	KUNIT_EXPECT_FALSE(test, mctracer_silence_give_up(&silences, t->mine));
	expect_counts(test, 9, 0, 9);
}

/* While nothing is written nothing need be given up. */
static void silence_set_back(struct kunit *test)
{
	struct mctracer_silences silences = {};
	struct ring_test *t = test->priv;

	write(test, 0, 5);
	mctracer_silence_look(&silences, t->mine, 2 * MARGIN);
	mctracer_silence_look(&silences, t->mine, 9 * MARGIN);
	KUNIT_EXPECT_EQ(test, silences.nr, 1);
	KUNIT_EXPECT_FALSE(test, mctracer_silence_look(&silences, t->mine, MARGIN));
	expect_counts(test, 5, 5, 0);

	write(test, 5, 7);
	KUNIT_EXPECT_TRUE(test, mctracer_silence_look(&silences, t->mine, MARGIN + 1));
	expect_counts(test, 7, 2, 5);
	KUNIT_EXPECT_EQ(test, silences.nr, 0);
	expect_records(test, 5, 7, 7);
}

/* A full ring that keeps the oldest has room again. */
static void silence_slept_full(struct kunit *test)
{
	struct mctracer_silences silences = {};
	struct ring_test *t = test->priv;

	write(test, 0, RECORDS);
	mctracer_silence_look(&silences, t->mine, 2 * MARGIN);
	mctracer_silence_look(&silences, t->mine, 1);
	KUNIT_EXPECT_TRUE(test, mctracer_ring_full(t->ring, t->mine->user.head));
	write(test, 0, 1);
	KUNIT_EXPECT_TRUE(test, mctracer_silence_look(&silences, t->mine, 2));
	KUNIT_EXPECT_FALSE(test, mctracer_ring_full(t->ring, t->mine->user.head));
}

static struct kunit_case encoding_cases[] = {
	KUNIT_CASE(encoding_stamp),
	KUNIT_CASE(encoding_delta),
	KUNIT_CASE(encoding_context),
	KUNIT_CASE(encoding_address),
	{}
};

static struct kunit_suite encoding_suite = {
	.name		= "mctracer_encoding",
	.test_cases	= encoding_cases,
};

static struct kunit_case ring_cases[] = {
	KUNIT_CASE(ring_sizes),
	KUNIT_CASE(ring_no_memory),
	KUNIT_CASE(ring_empty),
	KUNIT_CASE(ring_wraps),
	KUNIT_CASE(ring_overwritten),
	KUNIT_CASE(ring_interrupted_before_reserve),
	KUNIT_CASE(ring_uncommitted_first),
	KUNIT_CASE(ring_uncommitted_first_lap),
	KUNIT_CASE(ring_uncommitted_cleared),
	KUNIT_CASE(ring_uncommitted_stale),
	KUNIT_CASE(ring_uncommitted_newest),
	KUNIT_CASE(ring_torn),
	KUNIT_CASE(ring_lapped_writer),
	KUNIT_CASE(ring_clear),
	KUNIT_CASE(ring_consume),
	KUNIT_CASE(ring_consume_lapped),
	KUNIT_CASE(ring_consume_uncommitted),
	KUNIT_CASE(ring_keeps_oldest),
	KUNIT_CASE(ring_keeps_what_is_there),
	KUNIT_CASE(ring_moves),
	KUNIT_CASE(ring_moves_uncommitted),
	{}
};

static struct kunit_suite ring_suite = {
	.name		= "mctracer_ring",
	.init		= ring_init,
	.exit		= ring_exit,
	.test_cases	= ring_cases,
};

static struct kunit_case silence_cases[] = {
	KUNIT_CASE(silence_short),
	KUNIT_CASE(silence_long),
	KUNIT_CASE(silence_too_many),
	KUNIT_CASE(silence_slept),
	KUNIT_CASE(silence_slept_before),
	KUNIT_CASE(silence_set_back),
	KUNIT_CASE(silence_slept_full),
	{}
};

static struct kunit_suite silence_suite = {
	.name		= "mctracer_silence",
	.init		= ring_init,
	.exit		= ring_exit,
	.test_cases	= silence_cases,
};

/* Who reads holds the mutex, perhaps for long. */
static void tracer_stops_while_others_read(struct kunit *test)
{
	if (mctracer_started())
		kunit_skip(test, "the tracer is in use");

	mutex_lock(&mctracer_mutex);
	mctracer_stop();
	KUNIT_EXPECT_FALSE(test, mctracer_started());
	mutex_unlock(&mctracer_mutex);
}

static struct kunit_case tracer_cases[] = {
	KUNIT_CASE(tracer_stops_while_others_read),
	{}
};

static struct kunit_suite tracer_suite = {
	.name		= "mctracer_tracer",
	.test_cases	= tracer_cases,
};

kunit_test_suites(&encoding_suite, &ring_suite, &silence_suite, &tracer_suite);

MODULE_DESCRIPTION("KUnit tests of mctracer's encoding, ring, silences and switch");
MODULE_LICENSE("GPL");
