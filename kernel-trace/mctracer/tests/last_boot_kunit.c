// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests of reading and validating a persistent ring. The tests write two rings as an earlier
 * kernel at another address would, and then damage the memory in many ways.
 */
#include <kunit/test.h>
#include <linux/compiler.h>
#include <linux/err.h>
#include <linux/kallsyms.h>
#include <linux/prandom.h>
#include <linux/seq_buf.h>
#include <linux/string.h>
#include <linux/vmalloc.h>

#include <asm/sections.h>

#include "../crash/last_boot.h"
#include "../files/text.h"
#include "../ring/cursor.h"
#include "../ring/ring.h"
#include "../ring/streams.h"
#include "../ring/words.h"

#define WORDS		MCTRACER_RING_MIN_WORDS
#define RING_SIZE	MCTRACER_RING_MIN_SIZE
#define PAGE_WORDS	512
#define RINGS		2
#define SIZE		(MCTRACER_PERSISTENT_RINGS_AT + RINGS * RING_SIZE)
/* How far from this kernel the earlier one was: below, unless KASLR has left no room there. */
#define FAR		0x3200000L
#define MOVED		(((u32)(unsigned long)_stext - FAR) & BIT(31) ? FAR : -FAR)
#define OLD(ip)		((u32)((ip) - MOVED))
#define MODULE_AT	((u32)MODULES_VADDR + SZ_1M)

struct last_boot_test {
	void *area;
	struct mctracer_ring *ring;	/* the ring that is being written */
	struct rnd_state rnd;
	u32 calls[RINGS];		/* how many calls each ring has */
};

static struct mctracer_persistent *header_at(struct last_boot_test *t, int i)
{
	return t->area + MCTRACER_PERSISTENT_HEADER(i);
}

static u64 *words_of(struct last_boot_test *t, int ring)
{
	return t->area + MCTRACER_PERSISTENT_RINGS_AT + ring * RING_SIZE;
}

/* Return the word of call @number, as the earlier kernel has recorded it. */
static u64 call(u32 number)
{
	const u32 ip = OLD((u32)(unsigned long)_stext + 1 + number);

	return MCTRACER_WORD_VALID | (u64)(number | BIT(31)) << 32 | ip;
}

static void write_ring(struct last_boot_test *t, int i, u32 calls)
{
	struct mctracer_state state = {
		.known = MCTRACER_KNOWS_TASK | MCTRACER_KNOWS_CLOCK, .comm = "then",
		.pid = 10 + i, .tgid = 10 + i, .time = 1000,
		.clock = { .mult = 1000000, .shift = 10 },
		.context = MCTRACER_CONTEXT_UNKNOWN,
	};
	u64 sync[MCTRACER_SYNC_WORDS];
	unsigned int n, j;
	u64 at;

	memset(t->ring, 0, sizeof(*t->ring));
	mctracer_ring_place(t->ring, i, words_of(t, i), RING_SIZE);
	for (t->calls[i] = 0; t->calls[i] < calls; t->calls[i]++) {
		at = mctracer_position(t->ring->user.head) & -(u64)(RING_SIZE / 4);
		state.calls = t->calls[i];
		state.time += 20;
		if (at != t->ring->sync_at) {
			t->ring->sync_at = at;
			n = mctracer_compose_sync_words(&state, sync);
			for (j = 0; j < n; j++)
				mctracer_ring_put_at_rest(t->ring, sync[j]);
		} else if (!(t->calls[i] % 64)) {
			mctracer_ring_put_at_rest(t->ring,
						  mctracer_word(MCTRACER_TIME, state.time / 2));
		}
		mctracer_ring_put_at_rest(t->ring, call(t->calls[i]));
	}
}

static void write_headers(struct last_boot_test *t, struct mctracer_persistent *header)
{
	header->sum = mctracer_persistent_sum(header);
	*header_at(t, 0) = *header;
	*header_at(t, 1) = *header;
}

static void write_all(struct last_boot_test *t, u32 calls)
{
	struct mctracer_persistent_module *module = t->area + MCTRACER_PERSISTENT_MODULES_AT;
	struct mctracer_persistent header;
	int i;

	memset(t->area, 0, SIZE);
	mctracer_persistent_fill(&header);
	header.nr_rings = RINGS;
	header.ring_size = RING_SIZE;
	header.text -= MOVED;
	header.text_end -= MOVED;
	header.clock = (struct mctracer_clock) { .mult = 1000100, .shift = 10 };
	write_headers(t, &header);
	module[3] = (struct mctracer_persistent_module) {
		.text = MODULE_AT, .size = SZ_64K, .name = "gone",
	};
	module[3].sum = mctracer_persistent_module_sum(&module[3]);
	for (i = 0; i < RINGS; i++)
		write_ring(t, i, calls + i);
}

static struct mctracer_last_boot *take(struct kunit *test)
{
	struct last_boot_test *t = test->priv;
	struct mctracer_last_boot *last;
	const char *wrong;

	last = mctracer_last_boot_take(t->area, SIZE, &wrong);
	KUNIT_ASSERT_FALSE_MSG(test, IS_ERR(last), "%pe: %s", last, wrong);
	return last;
}

static void expect_refused(struct kunit *test)
{
	struct last_boot_test *t = test->priv;
	struct mctracer_last_boot *last;
	const char *wrong;

	last = mctracer_last_boot_take(t->area, SIZE, &wrong);
	KUNIT_EXPECT_PTR_EQ(test, last, (struct mctracer_last_boot *)ERR_PTR(-ENODATA));
	if (!IS_ERR(last))
		mctracer_last_boot_put(last);
}

/*
 * Expect the calls of a ring from some number to the last, except for @missing of them. Return the
 * first number.
 */
static u32 expect_calls(struct kunit *test, struct mctracer_last_boot *last, int ring, u32 missing)
{
	struct last_boot_test *t = test->priv;
	struct mctracer_stream stream = last->streams[ring];
	u32 first = U32_MAX, next = 0, n = 0, number;

	for (; stream.found; stream.found = mctracer_cursor_next(&stream.cursor)) {
		const struct mctracer_state *state = &stream.cursor.state;

		if (stream.found != MCTRACER_FOUND_CALL)
			continue;
		number = state->parent_ip & ~BIT(31);
		if (first == U32_MAX)
			first = number;
		KUNIT_ASSERT_GE(test, number, next);
		KUNIT_ASSERT_EQ(test, state->ip, (u32)call(number));
		next = number + 1;
		n++;
		if (!missing) {
			KUNIT_ASSERT_EQ(test, state->calls, number + 1);
			KUNIT_ASSERT_STREQ(test, state->comm, "then");
			KUNIT_ASSERT_EQ(test, state->pid, 10 + ring);
		}
	}
	KUNIT_EXPECT_EQ(test, next, t->calls[ring]);
	if (n)
		KUNIT_EXPECT_EQ(test, n + missing, next - first);
	return first;
}

/* Undamaged rings, from empty to several laps, have all calls in order, and nothing else. */
static void test_whole(struct kunit *test)
{
	static const u32 sizes[] = {
		0, 1, 100, WORDS / 4, WORDS / 2 + 1, WORDS - 200, WORDS - 1, WORDS, WORDS + 1,
		WORDS + WORDS / 4, 2 * WORDS, 3 * WORDS + 77, 4 * WORDS - 400, 7 * WORDS,
	};
	struct last_boot_test *t = test->priv;
	struct mctracer_last_boot *last;
	u32 first;
	int i, r;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		write_all(t, sizes[i]);
		last = take(test);
		KUNIT_EXPECT_TRUE(test, last->same);
		KUNIT_EXPECT_EQ(test, last->sums.bad_words, 0);
		KUNIT_EXPECT_EQ(test, last->sums.bad_pages, 0);
		for (r = 0; r < RINGS; r++) {
			first = expect_calls(test, last, r, 0);
			if (t->calls[r] && t->calls[r] < WORDS - 300)
				KUNIT_EXPECT_EQ(test, first, 0);
			if (t->calls[r] > WORDS)
				KUNIT_EXPECT_GE(test, t->calls[r] - first, WORDS * 3 / 4 - 300);
		}
		mctracer_last_boot_put(last);
	}
}

/* A page of zeroes, ones or noise damages that page only, wherever it is. */
static void test_bad_page(struct kunit *test)
{
	struct last_boot_test *t = test->priv;
	struct mctracer_last_boot *last;
	struct mctracer_stream stream;
	int page, kind, marks;
	u64 *at;

	for (page = 0; page < WORDS / PAGE_WORDS; page++) {
		for (kind = 0; kind < 3; kind++) {
			write_all(t, 2 * WORDS + 900);
			at = words_of(t, 0) + page * PAGE_WORDS;
			if (kind == 2)
				prandom_bytes_state(&t->rnd, at, PAGE_SIZE);
			else
				memset(at, kind ? 0xff : 0, PAGE_SIZE);
			last = take(test);
			KUNIT_EXPECT_LE(test, last->sums.bad_pages, 2);
			KUNIT_EXPECT_GE(test, last->sums.events,
					2 * (WORDS * 3 / 4 - 300) - 4 * PAGE_WORDS);
			stream = last->streams[0];
			for (marks = 0; stream.found;
			     stream.found = mctracer_cursor_next(&stream.cursor))
				marks += stream.found == MCTRACER_FOUND_MARK;
			KUNIT_EXPECT_LE(test, marks, 1);
			expect_calls(test, last, 1, 0);
			mctracer_last_boot_put(last);
		}
	}
}

/* Only damaged words are left out. */
static void test_bad_words(struct kunit *test)
{
	struct last_boot_test *t = test->priv;
	struct mctracer_last_boot *last;
	u64 *words = words_of(t, 0);

	write_all(t, WORDS / 2);
	words[100] ^= MCTRACER_WORD_VALID;
	words[1000] = MCTRACER_WORD_VALID | MCTRACER_WORD_CALL | 0x7ffffffe;	/* no function */
	last = take(test);
	KUNIT_EXPECT_EQ(test, last->sums.bad_words, 2);
	KUNIT_EXPECT_EQ(test, last->sums.bad_pages, 0);
	expect_calls(test, last, 0, 2);
	expect_calls(test, last, 1, 0);
	mctracer_last_boot_put(last);
}

/* Return the number of words that are bad if the value of the first clock word has other @bits. */
static u64 bad_clock(struct kunit *test, u64 bits)
{
	struct last_boot_test *t = test->priv;
	struct mctracer_last_boot *last;
	u64 *word = words_of(t, 0), bad;

	write_all(t, WORDS / 2);
	while (!mctracer_word_is_meta(*word, MCTRACER_CLOCK))
		word++;
	bits ^= mctracer_word_data(*word) & (BIT_ULL(MCTRACER_META_SHIFT) - 1);
	*word = mctracer_meta_word(MCTRACER_CLOCK, bits) | (*word & MCTRACER_WORD_VALID);
	last = take(test);
	bad = last->sums.bad_words;
	mctracer_last_boot_put(last);
	return bad;
}

/* A clock word that is not like that boot's clock is damaged. */
static void test_clock(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, bad_clock(test, 0), 0);
	KUNIT_EXPECT_EQ(test, bad_clock(test, 1), 0);
	KUNIT_EXPECT_EQ(test, bad_clock(test, BIT_ULL(31)), 1);
	KUNIT_EXPECT_EQ(test, bad_clock(test, BIT_ULL(MCTRACER_CLOCK_SHIFT)), 1);
	KUNIT_EXPECT_EQ(test, bad_clock(test, MCTRACER_CLOCK_IS_NS), 1);
	KUNIT_EXPECT_EQ(test, bad_clock(test, MCTRACER_CLOCK_IS_NS << 1), 1);
}

static void test_header(struct kunit *test)
{
	struct last_boot_test *t = test->priv;
	struct mctracer_persistent header;
	size_t i;

	write_all(t, 100);
	header = *header_at(t, 0);
	for (i = 0; i < sizeof(header); i++) {
		((u8 *)header_at(t, 0))[i] ^= 1 << i % 8;
		mctracer_last_boot_put(take(test));
		((u8 *)header_at(t, 1))[i] ^= 1 << i % 8;
		expect_refused(test);
		*header_at(t, 0) = *header_at(t, 1) = header;
	}

#define EXPECT_REFUSED(field, value) do {		\
		struct mctracer_persistent other = header;	\
							\
		other.field = (value);			\
		write_headers(t, &other);		\
		expect_refused(test);			\
	} while (0)
	EXPECT_REFUSED(nr_rings, 0);
	EXPECT_REFUSED(nr_rings, RINGS + 1);
	EXPECT_REFUSED(nr_rings, U32_MAX);
	EXPECT_REFUSED(ring_size, 0);
	EXPECT_REFUSED(ring_size, RING_SIZE / 2);
	EXPECT_REFUSED(ring_size, RING_SIZE * 2);
	EXPECT_REFUSED(ring_size, RING_SIZE + 8);
	EXPECT_REFUSED(ring_size, 1ULL << 63);
	EXPECT_REFUSED(text_end, header.text);
	EXPECT_REFUSED(clock.shift, 32);
	EXPECT_REFUSED(clock.mult, 0);
	EXPECT_REFUSED(bits, 16);
	EXPECT_REFUSED(words_version, MCTRACER_VERSION + 1);
}

static void expect_name(struct kunit *test, struct mctracer_last_boot *last, u32 low,
			const char *expected)
{
	char *name = kunit_kzalloc(test, KSYM_SYMBOL_LEN, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, name);
	KUNIT_EXPECT_EQ(test, mctracer_last_boot_name(last, name, &low), strlen(expected));
	KUNIT_EXPECT_STREQ(test, name, expected);
}

static void test_names(struct kunit *test)
{
	unsigned long function = (unsigned long)mctracer_last_boot_name;
	struct last_boot_test *t = test->priv;
	struct mctracer_last_boot *last;
	struct mctracer_persistent header;
	char expected[32];
	u32 here, low;
	u64 word;

	/* objtool would take a constant for a call target without ENDBR. */
	OPTIMIZER_HIDE_VAR(function);
	here = function + 5;
	low = OLD(here);

	write_all(t, 100);
	last = take(test);
	KUNIT_EXPECT_EQ(test, mctracer_last_boot_name(last, expected, &low), 0);
	KUNIT_EXPECT_EQ(test, low, here);
	expect_name(test, last, MODULE_AT + 0x10, "[gone+0x10]");
	expect_name(test, last, MODULE_AT + 2 * SZ_64K, "[unknown]");
	word = mctracer_last_boot_word(last, MCTRACER_WORD_VALID |
				       (u64)MODULE_AT << 32 | OLD(here));
	KUNIT_EXPECT_EQ(test, word, MCTRACER_WORD_VALID | MCTRACER_WORD_CALL | here);
	word = mctracer_word(MCTRACER_RETURN, (OLD(here) & INT_MAX) | BIT_ULL(31));
	KUNIT_EXPECT_EQ(test, mctracer_last_boot_word(last, word),
			mctracer_word(MCTRACER_RETURN, (here & INT_MAX) | BIT_ULL(31)));
	word = mctracer_meta_word(MCTRACER_FRAME, OLD(here));
	KUNIT_EXPECT_EQ(test, mctracer_last_boot_word(last, word),
			mctracer_meta_word(MCTRACER_FRAME, here));
	mctracer_last_boot_put(last);

	header = *header_at(t, 0);
	header.build_id[0]++;
	write_headers(t, &header);
	last = take(test);
	KUNIT_EXPECT_FALSE(test, last->same);
	snprintf(expected, sizeof(expected), "[_stext+%#x]", OLD(here) - header.text);
	expect_name(test, last, OLD(here), expected);
	word = mctracer_last_boot_word(last, MCTRACER_WORD_VALID | MCTRACER_WORD_CALL |
				       OLD(here));
	KUNIT_EXPECT_EQ(test, (u32)word, OLD(here) - header.text + header.linked);
	mctracer_last_boot_put(last);
}

/* A module that took another's place has no calls from before. */
static void test_unloaded(struct kunit *test)
{
	struct last_boot_test *t = test->priv;
	struct mctracer_persistent_module *module = t->area + MCTRACER_PERSISTENT_MODULES_AT;
	const u64 its = MCTRACER_WORD_VALID | MCTRACER_WORD_CALL |
			(u64)(MODULE_AT + 1) << 32 | (MODULE_AT + 5);
	const u64 nowhere = MCTRACER_WORD_VALID | MCTRACER_WORD_CALL |
			    (u64)MCTRACER_NOWHERE << 32 | MCTRACER_NOWHERE;
	struct mctracer_last_boot *last;
	const struct mctracer_copy *copy;
	u64 i, count = 0, n[4] = {};

	write_all(t, 0);
	for (i = 0; i < 4; i++) {
		mctracer_ring_put_at_rest(t->ring, mctracer_meta_word(MCTRACER_MODULES, 6 + i));
		mctracer_ring_put_at_rest(t->ring, its);
	}
	module[3].since = 8;
	module[3].sum = mctracer_persistent_module_sum(&module[3]);
	last = take(test);
	copy = &last->rings[RINGS - 1].copy;
	for (i = 0; i < copy->end / sizeof(u64); i++) {
		if (mctracer_word_is_meta(copy->words[i], MCTRACER_MODULES))
			count = (u32)mctracer_word_data(copy->words[i]);
		else if (mctracer_word_is_call(copy->words[i]) && count - 6 < 4)
			n[count - 6] += copy->words[i] == (count < 8 ? nowhere : its);
	}
	for (i = 0; i < 4; i++)
		KUNIT_EXPECT_EQ_MSG(test, n[i], 1, "count %llu", 6 + i);
	mctracer_last_boot_put(last);
}

static void damage(struct last_boot_test *t)
{
	static const u32 lengths[] = { 1, 8, 64, SZ_4K, SZ_16K };
	u32 n = 1 + prandom_u32_state(&t->rnd) % 8, length, at;
	struct mctracer_persistent header = *header_at(t, 0);

	while (n--) {
		length = lengths[prandom_u32_state(&t->rnd) % ARRAY_SIZE(lengths)];
		at = prandom_u32_state(&t->rnd) % (SIZE - length);
		switch (prandom_u32_state(&t->rnd) % 4) {
		case 0:
			prandom_bytes_state(&t->rnd, t->area + at, length);
			break;
		case 1:
			memset(t->area + at, prandom_u32_state(&t->rnd), length);
			break;
		case 2:
			memcpy(t->area + at, words_of(t, 0), length);
			break;
		case 3:	/* a wrong header with a valid checksum */
			at = prandom_u32_state(&t->rnd) % sizeof(header);
			((u8 *)&header)[at] ^= prandom_u32_state(&t->rnd);
			write_headers(t, &header);
		}
	}
}

/* Do all that readers do: each event becomes one line, and there are not more events than words. */
static void read_all(struct kunit *test, struct mctracer_last_boot *last)
{
	struct mctracer_text *text = mctracer_text_alloc(true, false);
	const u32 rings = last->header.nr_rings;
	struct mctracer_streams all;
	struct mctracer_stream *stream;
	const struct seq_buf *line;
	u64 i, n = 0;

	KUNIT_ASSERT_EQ(test, mctracer_streams_alloc(&all, rings), 0);
	KUNIT_ASSERT_NOT_NULL(test, text);
	KUNIT_EXPECT_LE(test, rings * last->header.ring_size, RINGS * RING_SIZE);
	memcpy(all.streams, last->streams, rings * sizeof(*all.streams));
	mctracer_streams_order(&all);
	mctracer_text_set_elsewhere(text, mctracer_last_boot_name, last);
	while ((stream = mctracer_streams_oldest(&all))) {
		line = mctracer_text_event(text, stream, stream - all.streams);
		KUNIT_ASSERT_FALSE(test, seq_buf_has_overflowed((struct seq_buf *)line));
		KUNIT_ASSERT_EQ(test, line->buffer[line->len - 1], '\n');
		KUNIT_ASSERT_NULL(test, memchr(line->buffer, '\n', line->len - 1));
		KUNIT_ASSERT_LE(test, ++n, RINGS * WORDS);
		mctracer_streams_advance(&all);
	}
	for (i = 0; i < last->rings[0].copy.end / sizeof(u64); i++)
		mctracer_last_boot_word(last, last->rings[0].copy.words[i]);
	mctracer_text_free(text);
	mctracer_streams_free(&all);
}

/* Any damage is either refused or read to the end. The seed is fixed. */
static void test_fuzz(struct kunit *test)
{
	struct last_boot_test *t = test->priv;
	struct mctracer_last_boot *last;
	int i, shown = 0, refused = 0;
	const char *wrong;

	for (i = 0; i < 150; i++) {
		write_all(t, prandom_u32_state(&t->rnd) % (3 * WORDS));
		damage(t);
		last = mctracer_last_boot_take(t->area, SIZE, &wrong);
		if (IS_ERR(last)) {
			KUNIT_ASSERT_EQ(test, PTR_ERR(last), -ENODATA);
			refused++;
			continue;
		}
		read_all(test, last);
		mctracer_last_boot_put(last);
		shown++;
	}
	kunit_info(test, "%d shown, %d refused\n", shown, refused);
	KUNIT_EXPECT_GT(test, shown, 0);
	KUNIT_EXPECT_GT(test, refused, 0);
}

/* A valid header, and nothing but noise behind it. */
static void test_noise(struct kunit *test)
{
	struct last_boot_test *t = test->priv;
	struct mctracer_last_boot *last;

	write_all(t, 100);
	prandom_bytes_state(&t->rnd, t->area + MCTRACER_PERSISTENT_MODULES_AT,
			    SIZE - MCTRACER_PERSISTENT_MODULES_AT);
	last = take(test);
	KUNIT_EXPECT_EQ(test, last->sums.events, 0);
	KUNIT_EXPECT_EQ(test, last->nr_modules, 0);
	read_all(test, last);
	mctracer_last_boot_put(last);
}

static int last_boot_init(struct kunit *test)
{
	struct last_boot_test *t = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, t);
	prandom_seed_state(&t->rnd, 297263);
	t->area = vzalloc(SIZE);
	t->ring = vzalloc(sizeof(*t->ring));
	test->priv = t;
	return t->area && t->ring ? 0 : -ENOMEM;
}

static void last_boot_exit(struct kunit *test)
{
	struct last_boot_test *t = test->priv;

	if (!t)
		return;
	vfree(t->area);
	vfree(t->ring);
}

static struct kunit_case last_boot_cases[] = {
	KUNIT_CASE(test_whole),
	KUNIT_CASE(test_bad_page),
	KUNIT_CASE(test_bad_words),
	KUNIT_CASE(test_clock),
	KUNIT_CASE(test_header),
	KUNIT_CASE(test_names),
	KUNIT_CASE(test_unloaded),
	KUNIT_CASE_SLOW(test_fuzz),
	KUNIT_CASE(test_noise),
	{}
};

static struct kunit_suite last_boot_suite = {
	.name		= "mctracer_last_boot",
	.init		= last_boot_init,
	.exit		= last_boot_exit,
	.test_cases	= last_boot_cases,
};

kunit_test_suite(last_boot_suite);

MODULE_DESCRIPTION("KUnit tests of mctracer's persistent rings");
MODULE_LICENSE("GPL");
