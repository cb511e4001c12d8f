// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests: other code that patches kernel text leaves mcount's call sites alone, and a
 * pre-handler gets the callers of its function that the unwinder finds.
 */
#include <kunit/test.h>
#include <linux/bpf.h>
#include <linux/compiler.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/irqflags.h>
#include <linux/jiffies.h>
#include <linux/kallsyms.h>
#include <linux/kgdb.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/mcount.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/workqueue.h>

#include <asm/ibt.h>

#include "../mcount.h"

/* A function that is traced, and one that is not. */
#define TRACED		((unsigned long)wake_up_process)
#define NOT_TRACED	((unsigned long)register_mcount_function)

static unsigned long site_of(unsigned long func)
{
	OPTIMIZER_HIDE_VAR(func);	/* objtool warns about constants behind an ENDBR */
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

/* Sites before returns, and before jumps in their place: TRACED only contains one such jump. */
static void returns_are_known(struct kunit *test)
{
	unsigned long site = mcount_next_return(TRACED), size, offset;

	if (!IS_ENABLED(CONFIG_MCOUNT_RETURNS)) {
		KUNIT_EXPECT_EQ(test, site, 0);
		return;
	}
	KUNIT_ASSERT_NE(test, kallsyms_lookup_size_offset(TRACED, &size, &offset), 0);
	KUNIT_EXPECT_GT(test, site, site_of(TRACED));
	KUNIT_EXPECT_LT(test, site, TRACED + size);
	KUNIT_EXPECT_TRUE(test, mcount_is_site(site));
	KUNIT_EXPECT_FALSE(test, mcount_is_site(site + 1));
	KUNIT_EXPECT_EQ(test, mcount_next_return(site), site);
	KUNIT_EXPECT_GE(test, mcount_next_return(site + 1), TRACED + size);
	/* gcc makes no tail calls where there are frame pointers. */
	KUNIT_EXPECT_EQ(test, mcount_is_tail(site), !IS_ENABLED(CONFIG_FRAME_POINTER));
	KUNIT_EXPECT_FALSE(test, mcount_is_tail(mcount_next_return((unsigned long)kthread_stop)));
	/* Functions that are not traced have no sites. */
	KUNIT_ASSERT_NE(test, kallsyms_lookup_size_offset(NOT_TRACED, &size, &offset), 0);
	KUNIT_EXPECT_GE(test, mcount_next_return(NOT_TRACED), NOT_TRACED + size);
	KUNIT_EXPECT_EQ(test, mcount_next_return(ULONG_MAX), 0);
	KUNIT_EXPECT_EQ(test, mcount_next_return(0), 0);
}

/* While no hook sees returns, there is a return before a return, and a NOP before a jump. */
static void returns_are_held(struct kunit *test)
{
	unsigned long tail = mcount_next_return(TRACED);
	unsigned long ret = mcount_next_return((unsigned long)kthread_stop);

	if (!IS_ENABLED(CONFIG_MCOUNT_RETURNS))
		kunit_skip(test, "needs CONFIG_MCOUNT_RETURNS");

	KUNIT_EXPECT_TRUE(test, arch_mcount_holds_return((void *)ret));
	KUNIT_EXPECT_EQ(test, arch_mcount_site_kind((void *)ret, true), MCOUNT_NOTHING);
	KUNIT_EXPECT_LT(test, arch_mcount_site_kind((void *)ret, false), 0);
	KUNIT_EXPECT_EQ(test, arch_mcount_holds_return((void *)tail),
			IS_ENABLED(CONFIG_FRAME_POINTER));
	KUNIT_EXPECT_EQ(test, arch_mcount_site_kind((void *)tail, true), MCOUNT_NOTHING);
}

/* A BPF trampoline must not take the NOP at a function's head for its own. */
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
	else	/* 32-bit has no BPF trampolines */
		KUNIT_EXPECT_LT(test, ret, 0);
	KUNIT_EXPECT_MEMEQ(test, before, site, sizeof(before));
}

#ifndef CONFIG_KGDB	/* it is not even declared then */
static int kgdb_validate_break_address(unsigned long addr)
{
	return -ENODEV;
}
#endif

/* A debugger must not set a breakpoint at a site, where mcount would find it. */
static void sites_are_not_for_kgdb(struct kunit *test)
{
	unsigned long site = site_of(TRACED), ret;
	u8 before[MCOUNT_SITE_SIZE];

	if (!IS_ENABLED(CONFIG_KGDB))
		kunit_skip(test, "needs CONFIG_KGDB");

	memcpy(before, (void *)site, sizeof(before));
	KUNIT_EXPECT_EQ(test, kgdb_validate_break_address(site), -EINVAL);
	if (IS_ENABLED(CONFIG_MCOUNT_RETURNS)) {
		ret = mcount_next_return((unsigned long)kthread_stop) + MCOUNT_SITE_SIZE;
		KUNIT_EXPECT_TRUE(test, mcount_is_unreached(ret));
		KUNIT_EXPECT_EQ(test, kgdb_validate_break_address(ret), -EINVAL);
	}
	KUNIT_EXPECT_MEMEQ(test, before, (void *)site, sizeof(before));
}

#define CALLERS		24
#define ENOUGH		3000	/* calls on each CPU */

struct chain {
	unsigned int nr;
	u32 callers[CALLERS];
};

/* The first difference: the CPU that sets @differs fills in the others. */
static bool differs;
static unsigned long differs_at;
static struct chain quick, thorough;

static DEFINE_PER_CPU(unsigned int, compared);
static DEFINE_PER_CPU(bool, comparing);
static DEFINE_PER_CPU(struct chain, quick_chain);
static DEFINE_PER_CPU(struct chain, thorough_chain);

static bool is_same(const struct chain *a, const struct chain *b)
{
	unsigned int i;

	for (i = 0; i < a->nr && a->nr == b->nr; i++)
		if (a->callers[i] != b->callers[i])
			return false;
	return a->nr == b->nr;
}

/* Compare the callers found with the registers to those that the unwinder finds from here on. */
static bool compare_callers(unsigned long ip, unsigned long parent_ip,
			    const struct mcount_regs *regs)
{
	struct chain *a, *b;
	unsigned long flags;

	raw_local_irq_save(flags);
	/* Outside of the kernel's own text the unwinder calls traced functions: don't recurse. */
	if (this_cpu_read(compared) < ENOUGH && !this_cpu_xchg(comparing, true)) {
		this_cpu_inc(compared);
		a = this_cpu_ptr(&quick_chain);
		b = this_cpu_ptr(&thorough_chain);
		a->nr = arch_mcount_callers(ip, parent_ip, regs, a->callers, NULL, CALLERS);
		b->nr = arch_mcount_callers(ip, parent_ip, NULL, b->callers, NULL, CALLERS);
		if (!is_same(a, b) && !xchg(&differs, true)) {
			differs_at = ip;
			quick = *a;
			thorough = *b;
		}
		this_cpu_write(comparing, false);
	}
	raw_local_irq_restore(flags);
	return false;
}

NOKPROBE_SYMBOL(compare_callers);

static enum mcount_site pre_handler_everywhere(unsigned long site)
{
	return MCOUNT_PRE_HANDLER;
}

static void __mcount_direct no_hook(void)
{
}

NOKPROBE_SYMBOL(no_hook);

static int come_and_go(void *unused)
{
	return 0;
}

static void do_nothing(struct work_struct *work)
{
}

static DECLARE_WORK(nothing, do_nothing);

/* Cause calls in tasks, in interrupts and while idle. */
static void make_calls(void)
{
	struct task_struct *task = kthread_create(come_and_go, NULL, "mcount_kunit");

	if (!IS_ERR(task))
		kthread_stop(task);
	schedule_work(&nothing);
	flush_work(&nothing);
	msleep(20);
}

static void show_chain(struct kunit *test, const char *what, const struct chain *chain)
{
	unsigned int i;

	for (i = 0; i < chain->nr; i++)
		kunit_info(test, "%s: %pS\n", what, (void *)(long)(s32)chain->callers[i]);
}

static void callers_are_what_the_unwinder_says(struct kunit *test)
{
	static const struct mcount_selection selection = {
		.kind = pre_handler_everywhere, .pre_handler = compare_callers,
	};
	unsigned long end = jiffies + 10 * HZ;
	int cpu = raw_smp_processor_id();

	if (!IS_ENABLED(CONFIG_UNWINDER_ORC))
		kunit_skip(test, "needs CONFIG_UNWINDER_ORC");
	if (mcount_is_enabled())
		kunit_skip(test, "mcount is in use");

	KUNIT_ASSERT_EQ(test, register_mcount_direct_selected(no_hook, &selection), 0);
	KUNIT_EXPECT_EQ(test, mcount_set_enabled(true), 0);
	while (per_cpu(compared, cpu) < ENOUGH && time_before(jiffies, end))
		make_calls();
	mcount_set_enabled(false);
	unregister_mcount_direct(no_hook);

	KUNIT_EXPECT_EQ(test, per_cpu(compared, cpu), ENOUGH);
	KUNIT_EXPECT_FALSE(test, differs);
	if (!differs)
		return;
	kunit_info(test, "at %pS\n", (void *)differs_at);
	show_chain(test, "quick", &quick);
	show_chain(test, "thorough", &thorough);
}

static struct kunit_case sites_cases[] = {
	KUNIT_CASE(sites_are_known),
	KUNIT_CASE(returns_are_known),
	KUNIT_CASE(returns_are_held),
	KUNIT_CASE(sites_are_not_for_bpf),
	KUNIT_CASE(sites_are_not_for_kgdb),
	KUNIT_CASE_SLOW(callers_are_what_the_unwinder_says),
	{}
};

static struct kunit_suite sites_suite = {
	.name		= "mcount_sites",
	.test_cases	= sites_cases,
};

kunit_test_suite(sites_suite);

MODULE_DESCRIPTION("KUnit tests of mcount's call sites");
MODULE_LICENSE("GPL");
