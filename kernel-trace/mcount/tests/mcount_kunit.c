// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of mcount's call sites, as others see them who also patch kernel text.
 */
#include <kunit/test.h>
#include <linux/bpf.h>
#include <linux/compiler.h>
#include <linux/kgdb.h>
#include <linux/mcount.h>
#include <linux/sched.h>
#include <linux/string.h>

#include <asm/ibt.h>

/* A traced function, its call site, and one that is not traced. */
#define TRACED		((unsigned long)wake_up_process)
#define NOT_TRACED	((unsigned long)register_mcount_function)

static unsigned long site_of(unsigned long func)
{
	OPTIMIZER_HIDE_VAR(func);	/* objtool wonders about constants behind an ENDBR */
	return is_endbr(*(u32 *)func) ? func + ENDBR_INSN_SIZE : func;
}

static void sites_are_known(struct kunit *test)
{
	unsigned long site = site_of(TRACED);

	KUNIT_EXPECT_TRUE(test, mcount_is_site(site));
	KUNIT_EXPECT_FALSE(test, mcount_is_site(site - 1));
	KUNIT_EXPECT_FALSE(test, mcount_is_site(site + 1));
	KUNIT_EXPECT_FALSE(test, mcount_is_site(site + MCOUNT_SITE_SIZE));
	KUNIT_EXPECT_FALSE(test, mcount_is_site(site_of(NOT_TRACED)));
	KUNIT_EXPECT_FALSE(test, mcount_is_site(0));
	KUNIT_EXPECT_FALSE(test, mcount_is_site(ULONG_MAX));
}

/* A BPF trampoline takes a NOP at a function's head for its own. */
static void sites_are_not_for_bpf(struct kunit *test)
{
	void *site = (void *)site_of(TRACED);
	u8 before[MCOUNT_SITE_SIZE];
	int ret;

	if (!IS_ENABLED(CONFIG_BPF_JIT))
		kunit_skip(test, "needs CONFIG_BPF_JIT");

	memcpy(before, site, sizeof(before));
	ret = bpf_arch_text_poke((void *)TRACED, BPF_MOD_CALL, NULL, (void *)NOT_TRACED);
	if (IS_ENABLED(CONFIG_64BIT))
		KUNIT_EXPECT_EQ(test, ret, -EBUSY);
	else	/* which has no BPF trampolines */
		KUNIT_EXPECT_LT(test, ret, 0);
	KUNIT_EXPECT_MEMEQ(test, before, site, sizeof(before));
}

#ifndef CONFIG_KGDB	/* then it is not even declared */
static int kgdb_validate_break_address(unsigned long addr)
{
	return -ENODEV;
}
#endif

/* Nor does a debugger get one; its breakpoint would be found there. */
static void sites_are_not_for_kgdb(struct kunit *test)
{
	unsigned long site = site_of(TRACED);
	u8 before[MCOUNT_SITE_SIZE];

	if (!IS_ENABLED(CONFIG_KGDB))
		kunit_skip(test, "needs CONFIG_KGDB");

	memcpy(before, (void *)site, sizeof(before));
	KUNIT_EXPECT_EQ(test, kgdb_validate_break_address(site), -EINVAL);
	KUNIT_EXPECT_MEMEQ(test, before, (void *)site, sizeof(before));
}

static struct kunit_case sites_cases[] = {
	KUNIT_CASE(sites_are_known),
	KUNIT_CASE(sites_are_not_for_bpf),
	KUNIT_CASE(sites_are_not_for_kgdb),
	{}
};

static struct kunit_suite sites_suite = {
	.name		= "mcount_sites",
	.test_cases	= sites_cases,
};

kunit_test_suite(sites_suite);

MODULE_DESCRIPTION("KUnit tests of mcount's call sites");
MODULE_LICENSE("GPL");
