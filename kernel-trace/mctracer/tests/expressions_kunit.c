// SPDX-License-Identifier: GPL-2.0
/* KUnit tests of the expressions that select functions. */
#include <kunit/test.h>
#include <linux/array_size.h>
#include <linux/bitmap.h>
#include <linux/bitops.h>
#include <linux/list.h>
#include <linux/string.h>

#include "../select/expressions.h"

static int expressions_init(struct kunit *test)
{
	test->priv = mctracer_expressions_alloc();
	return test->priv ? 0 : -ENOMEM;
}

static void expressions_exit(struct kunit *test)
{
	mctracer_expressions_free(test->priv);
}

static int parse(struct kunit *test, const char *text)
{
	char *copy = kunit_kmalloc(test, strlen(text) + 1, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, copy);
	strscpy(copy, text, strlen(text) + 1);
	return mctracer_expressions_parse(test->priv, copy, "KUnit");
}

struct expected {
	const char *name;
	const char *module;
	bool remove, may_wait, had_equal, is_glob;
};

static void expect(struct kunit *test, const struct expected *expected, size_t n)
{
	struct mctracer_expressions *expressions = test->priv;
	struct mctracer_expression *e;

	list_for_each_entry(e, &expressions->list, list) {
		KUNIT_ASSERT_NE(test, n, 0);
		KUNIT_EXPECT_STREQ(test, e->name, expected->name);
		KUNIT_EXPECT_STREQ(test, e->module ?: "", expected->module ?: "");
		KUNIT_EXPECT_EQ(test, e->remove, expected->remove);
		KUNIT_EXPECT_EQ(test, e->may_wait, expected->may_wait);
		KUNIT_EXPECT_EQ(test, e->had_equal, expected->had_equal);
		KUNIT_EXPECT_EQ(test, !list_empty(&e->globs), expected->is_glob);
		expected++;
		n--;
	}
	KUNIT_EXPECT_EQ(test, n, 0);
}

static void expressions_forms(struct kunit *test)
{
	static const struct expected expected[] = {
		{ "vfs_read" },
		{ "ext4_*", "ext4", .is_glob = true },
		{ "chmod", "a_b", .remove = true, .may_wait = true },
		{ "*", "d", .may_wait = true, .is_glob = true },
		{ "*", "e", .may_wait = true, .is_glob = true },
		{ "[ab]c?", .remove = true, .is_glob = true },
		{ "mod" },
	};

	KUNIT_ASSERT_EQ(test, parse(test, ""), 0);
	KUNIT_ASSERT_EQ(test, parse(test, " vfs_read\text4_* [ext4]\n# a b\n"), 0);
	KUNIT_ASSERT_EQ(test, parse(test, "!chmod:mod:a-b mod:d\n"), 0);
	KUNIT_ASSERT_EQ(test, parse(test, ":mod:e ![ab]c? mod\t# loaded"), 0);
	expect(test, expected, ARRAY_SIZE(expected));
}

static void expressions_equal(struct kunit *test)
{
	static const struct expected expected[] = {
		{ "b" },
		{ "a", "m" },
		{ "c", .remove = true, .had_equal = true },
		{ "a", .had_equal = true },
	};

	KUNIT_ASSERT_EQ(test, parse(test, "a b a [m] c !c a"), 0);
	expect(test, expected, ARRAY_SIZE(expected));
}

static void expressions_refused(struct kunit *test)
{
	static const char * const bad[] = {
		"!", "! a", "[m]", "!mod:", "mod:", "a:mod:", "a:traceoff", "a:mod:b [c]",
		"mod:b*", "mod:b:mod:c", "a[b", "[", "a [m] [n]", "a::mod:b",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		KUNIT_EXPECT_EQ_MSG(test, parse(test, bad[i]), -EINVAL, "%s", bad[i]);
}

/* Symbols that begin with other characters than @first are not compared. */
static void expect_first(struct kunit *test, const char *first)
{
	const struct mctracer_expressions *expressions = test->priv;
	int c;

	for (c = 1; c <= U8_MAX; c++)
		KUNIT_EXPECT_EQ_MSG(test, test_bit(c, expressions->first), !!strchr(first, c),
				    "%c", c);
}

static void expressions_first(struct kunit *test)
{
	static const char * const any[] = { "*b", "?b", "[ab]c", "\\\\b", "mod:b" };
	struct mctracer_expressions *expressions = test->priv;
	size_t i;

	expect_first(test, "");
	KUNIT_ASSERT_EQ(test, parse(test, "vfs_read !tcp_*"), 0);
	expect_first(test, "vt");
	for (i = 0; i < ARRAY_SIZE(any); i++) {
		bitmap_zero(expressions->first, U8_MAX + 1);
		KUNIT_ASSERT_EQ(test, parse(test, any[i]), 0);
		KUNIT_EXPECT_TRUE_MSG(test, bitmap_full(expressions->first, U8_MAX + 1), "%s",
				      any[i]);
	}
}

static struct kunit_case expressions_cases[] = {
	KUNIT_CASE(expressions_forms),
	KUNIT_CASE(expressions_equal),
	KUNIT_CASE(expressions_refused),
	KUNIT_CASE(expressions_first),
	{}
};

static struct kunit_suite expressions_suite = {
	.name		= "mctracer_expressions",
	.init		= expressions_init,
	.exit		= expressions_exit,
	.test_cases	= expressions_cases,
};

kunit_test_suite(expressions_suite);

MODULE_DESCRIPTION("KUnit tests of the expressions that select functions");
MODULE_LICENSE("GPL");
