// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of mctracer's words: composing and decoding. */
#include <kunit/test.h>
#include <linux/kernel.h>
#include <asm/sections.h>

#include "../ring/words.h"

static void words_data(struct kunit *test)
{
	static const u64 data[] = { 0, 1, BIT_ULL(31) - 1, BIT_ULL(31), BIT_ULL(59) - 1 };
	u64 word;
	int type, i;

	for (type = 0; type < 8; type++) {
		for (i = 0; i < ARRAY_SIZE(data); i++) {
			word = mctracer_word(type, data[i]);
			KUNIT_EXPECT_TRUE(test, word & MCTRACER_WORD_VALID);
			KUNIT_EXPECT_FALSE(test, mctracer_word_is_call(word));
			KUNIT_EXPECT_EQ(test, mctracer_word_type(word), type);
			KUNIT_EXPECT_EQ(test, mctracer_word_data(word), data[i]);
		}
	}
}

static void words_notes(struct kunit *test)
{
	struct mctracer_state said = {
		.time = 0x0fedcba987654320, .calls = 12345678901234,
		.clock = { .offset = -5, .mult = 0xfedcba98, .shift = 31 },
		.context = MCTRACER_IRQS_OFF | 3,
		.pid = 4194303, .tgid = 77, .comm = "fifteen letters", .modules = 0xfedcba98,
		.known = MCTRACER_KNOWS_TASK | MCTRACER_KNOWS_CLOCK | MCTRACER_KNOWS_CONTEXT |
			 MCTRACER_KNOWS_MODULES,
	}, heard = { .clock.mult = 1 };
	u64 words[MCTRACER_SYNC_WORDS];
	unsigned int n = mctracer_compose_sync_words(&said, words), i;

	for (i = 0; i < n; i++)
		mctracer_decode(&heard, words[i]);
	KUNIT_EXPECT_EQ(test, heard.time, said.time);
	KUNIT_EXPECT_EQ(test, heard.calls, said.calls);
	KUNIT_EXPECT_EQ(test, heard.clock.offset, said.clock.offset);
	KUNIT_EXPECT_EQ(test, heard.clock.mult, said.clock.mult);
	KUNIT_EXPECT_EQ(test, heard.clock.shift, said.clock.shift);
	KUNIT_EXPECT_EQ(test, heard.context, said.context);
	KUNIT_EXPECT_EQ(test, heard.pid, said.pid);
	KUNIT_EXPECT_EQ(test, heard.tgid, said.tgid);
	KUNIT_EXPECT_EQ(test, heard.modules, said.modules);
	KUNIT_EXPECT_STREQ(test, heard.comm, said.comm);
}

/* The decoder skips unknown words, which do not change the state. */
static void words_unknown(struct kunit *test)
{
	struct mctracer_state state = {};
	int i;

	mctracer_decode(&state, mctracer_word(MCTRACER_MORE, 1));
	mctracer_decode(&state, mctracer_word(MCTRACER_TASK, 7 | (u64)'a' << MCTRACER_COMM_SHIFT));
	for (i = 0; i < 9; i++)
		mctracer_decode(&state, mctracer_word(MCTRACER_MORE, !i ? 7 : i < 3 ? 0 : 8));
	KUNIT_EXPECT_EQ(test, mctracer_decode(&state, mctracer_meta_word(63, 1)),
			MCTRACER_EVENT_UNKNOWN);
	mctracer_decode(&state, mctracer_word(MCTRACER_MORE, ~0ULL));
	KUNIT_EXPECT_EQ(test, state.pid, 7);
	KUNIT_EXPECT_EQ(test, state.tgid, 7);
	KUNIT_EXPECT_STREQ(test, state.comm, "a");
	KUNIT_EXPECT_EQ(test, state.known, MCTRACER_KNOWS_TASK);
}

/* A stream names its magic number, version, CPU and base. */
static void words_stream(struct kunit *test)
{
	struct mctracer_state state = {};
	u64 words[MCTRACER_STREAM_WORDS];
	unsigned int i, n = mctracer_compose_stream(words, 5);

	KUNIT_EXPECT_EQ(test, mctracer_decode(&state, words[0]), MCTRACER_EVENT_STREAM);
	for (i = 1; i < n; i++)
		mctracer_decode(&state, words[i]);
	KUNIT_EXPECT_EQ(test, (u32)state.value, MCTRACER_MAGIC);
	KUNIT_EXPECT_EQ(test, state.value >> MCTRACER_STREAM_VERSION_SHIFT, MCTRACER_VERSION);
	KUNIT_EXPECT_EQ(test, state.cpu, 5);
	KUNIT_EXPECT_EQ(test, mctracer_address(&state, (u32)(unsigned long)_stext),
			(unsigned long)_stext);
}

/* Pending attributes belong to the next return only. */
static void words_values(struct kunit *test)
{
	static const u64 values[] = {
		0, 1, -1ULL, -22ULL, 0xffffffea, BIT_ULL(58) - 1, BIT_ULL(58), -BIT_ULL(58),
		-BIT_ULL(58) - 1, BIT_ULL(59), 0xffff888012345678, BIT_ULL(63), S64_MAX,
	};
	const u64 tail = mctracer_word(MCTRACER_RETURN,
				       (u64)MCTRACER_RETURN_TAIL << MCTRACER_RETURN_SHIFT | 5);
	const u64 a_return = mctracer_word(MCTRACER_RETURN, 0x1234);
	u64 words[MCTRACER_VALUE_WORDS];
	struct mctracer_state state = {};
	unsigned int n, i, j;

	for (i = 0; i < ARRAY_SIZE(values); i++) {
		mctracer_decode(&state, mctracer_meta_word(MCTRACER_TOOK, 123456789012345));
		n = mctracer_value_words(words, values[i]);
		for (j = 0; j < n; j++)
			KUNIT_EXPECT_EQ(test, mctracer_decode(&state, words[j]),
					MCTRACER_EVENT_NONE);
		KUNIT_EXPECT_EQ(test, mctracer_decode(&state, a_return), MCTRACER_EVENT_RETURN);
		KUNIT_EXPECT_EQ(test, state.has, MCTRACER_HAS_RESULT | MCTRACER_HAS_TOOK);
		KUNIT_EXPECT_EQ(test, state.result, values[i]);
		KUNIT_EXPECT_EQ(test, state.took, 123456789012345);
		KUNIT_EXPECT_EQ(test, state.ip, 0x80001234);
		KUNIT_EXPECT_EQ(test, state.value, 0);
		KUNIT_EXPECT_EQ(test, state.calls, 2 * i + 1);
		KUNIT_EXPECT_EQ(test, mctracer_decode(&state, tail), MCTRACER_EVENT_RETURN);
		KUNIT_EXPECT_EQ(test, state.has, 0);
		KUNIT_EXPECT_EQ(test, state.ip, 0x80000005);
		KUNIT_EXPECT_EQ(test, state.value, MCTRACER_RETURN_TAIL);
	}
	mctracer_decode(&state, mctracer_meta_word(MCTRACER_TOOK, 5));
	mctracer_decode(&state, mctracer_word(MCTRACER_TIME, 7));
	mctracer_decode(&state, a_return);
	KUNIT_EXPECT_EQ(test, state.has, 0);
}

/* Arguments belong to one call, which has none if there are too many or if one is missing. */
static void words_args(struct kunit *test)
{
	static const u64 args[MCTRACER_ARGS + 1] = {
		0, -1ULL, 0xffff888012345678, 5, BIT_ULL(63), 0x7fffdeadbeef, BIT_ULL(62),
	};
	const u64 call = mctracer_word(0, 0) | MCTRACER_WORD_CALL;
	u64 words[MCTRACER_VALUE_WORDS];
	struct mctracer_state state = {};
	unsigned int given, n, i, j;

	for (given = 0; given <= ARRAY_SIZE(args); given++) {
		for (i = 0; i < given; i++) {
			n = mctracer_value_words(words, args[i]);
			for (j = 0; j < n; j++)
				mctracer_decode(&state, words[j]);
		}
		KUNIT_EXPECT_EQ(test, mctracer_decode(&state, call), MCTRACER_EVENT_CALL);
		KUNIT_ASSERT_EQ(test, state.nr_args, given <= MCTRACER_ARGS ? given : 0);
		for (i = 0; i < state.nr_args; i++)
			KUNIT_EXPECT_EQ(test, state.args[i], args[i]);
		mctracer_decode(&state, call);
		KUNIT_EXPECT_EQ(test, state.nr_args, 0);
	}
	mctracer_decode(&state, mctracer_word(MCTRACER_VALUE, 5));
	mctracer_decode(&state, mctracer_word(MCTRACER_TIME, 7));
	mctracer_decode(&state, call);
	KUNIT_EXPECT_EQ(test, state.nr_args, 0);
	mctracer_tear_pending(&state);
	mctracer_decode(&state, mctracer_word(MCTRACER_VALUE, 5));
	mctracer_decode(&state, call);
	KUNIT_EXPECT_EQ(test, state.nr_args, 0);
	mctracer_decode(&state, mctracer_word(MCTRACER_VALUE, 5));
	mctracer_decode(&state, call);
	KUNIT_EXPECT_EQ(test, state.nr_args, 1);
}

static void words_ns(struct kunit *test)
{
	const struct mctracer_clock clock = { .mult = 3u << 30, .shift = 31, .offset = -10 };
	u64 year = 365ULL * 86400 * 4000000000;

	KUNIT_EXPECT_EQ(test, mctracer_clock_ns(&clock, 1000), 1490);
	KUNIT_EXPECT_EQ(test, mctracer_clock_ns(&clock, year), year / 2 * 3 - 10);
}

static u64 data_word(const char *text)
{
	u64 word = strlen(text), i;

	word <<= MCTRACER_DATA_SHIFT;
	for (i = 0; text[i]; i++)
		word |= (u64)(u8)text[i] << 8 * i;
	return mctracer_word(MCTRACER_DATA, word);
}

/* Objects and memory belong to one call; a time word in between drops them. */
static void words_about(struct kunit *test)
{
	const u64 object = 3 | 2ULL << MCTRACER_OBJECT_ROLE_SHIFT | MCTRACER_OBJECT_BEGINS;
	const u64 call = MCTRACER_WORD_CALL | 0x1234;
	struct mctracer_state state = {};
	int i;

	mctracer_decode(&state, mctracer_meta_word(MCTRACER_OBJECT, object));
	mctracer_decode(&state, data_word("seven b"));
	mctracer_decode(&state, data_word("ytes"));
	KUNIT_EXPECT_EQ(test, mctracer_decode(&state, call), MCTRACER_EVENT_CALL);
	KUNIT_EXPECT_EQ(test, state.nr_objects, 1);
	KUNIT_EXPECT_EQ(test, state.objects[0], object);
	KUNIT_EXPECT_EQ(test, state.nr_data, 11);
	KUNIT_EXPECT_MEMEQ(test, state.data, "seven bytes", 11);
	mctracer_decode(&state, call);
	KUNIT_EXPECT_EQ(test, state.nr_objects, 0);
	KUNIT_EXPECT_EQ(test, state.nr_data, 0);

	mctracer_decode(&state, mctracer_meta_word(MCTRACER_OBJECT, object));
	mctracer_decode(&state, data_word("torn"));
	mctracer_decode(&state, mctracer_word(MCTRACER_TIME, 1));
	mctracer_decode(&state, call);
	KUNIT_EXPECT_EQ(test, state.nr_objects, 0);
	KUNIT_EXPECT_EQ(test, state.nr_data, 0);

	/* The decoder drops what exceeds the maximum. */
	for (i = 0; i < MCTRACER_OBJECTS + 1; i++)
		mctracer_decode(&state, mctracer_meta_word(MCTRACER_OBJECT, object + i));
	for (i = 0; i < MCTRACER_DATA_WORDS + 1; i++)
		mctracer_decode(&state, data_word("seven b"));
	mctracer_decode(&state, call);
	KUNIT_EXPECT_EQ(test, state.nr_objects, MCTRACER_OBJECTS);
	KUNIT_EXPECT_EQ(test, state.nr_data, MCTRACER_DATA_MAX);
}

/* Which words come before an event in its packet: of all types, and of all kinds of meta words. */
static void words_before_event(struct kunit *test)
{
	static const u8 types[] = { MCTRACER_MORE, MCTRACER_VALUE, MCTRACER_DATA };
	static const u8 kinds[] = { MCTRACER_OBJECT, MCTRACER_TOOK };
	unsigned int i;

	for (i = 0; i < 8; i++)
		if (i != MCTRACER_META)
			KUNIT_EXPECT_EQ_MSG(test, !!memchr(types, i, sizeof(types)),
					    mctracer_word_precedes_event(mctracer_word(i, 0)),
					    "type %u", i);
	for (i = 0; i < 32; i++)
		KUNIT_EXPECT_EQ_MSG(test, !!memchr(kinds, i, sizeof(kinds)),
				    mctracer_word_precedes_event(mctracer_meta_word(i, 0)),
				    "meta word %u", i);
	KUNIT_EXPECT_FALSE(test, mctracer_word_precedes_event(MCTRACER_WORD_CALL));
}

static struct kunit_case words_cases[] = {
	KUNIT_CASE(words_data),
	KUNIT_CASE(words_notes),
	KUNIT_CASE(words_unknown),
	KUNIT_CASE(words_stream),
	KUNIT_CASE(words_values),
	KUNIT_CASE(words_args),
	KUNIT_CASE(words_about),
	KUNIT_CASE(words_before_event),
	KUNIT_CASE(words_ns),
	{}
};

static struct kunit_suite words_suite = {
	.name		= "mctracer_words",
	.test_cases	= words_cases,
};

kunit_test_suite(words_suite);

MODULE_DESCRIPTION("KUnit tests of mctracer's words");
MODULE_LICENSE("GPL");
