// SPDX-License-Identifier: GPL-2.0
/*
 * Functions that tests look for in a trace by name.
 *
 *   # insmod mct_target.ko [calls=N] [hold=1]
 *   # echo N > /sys/module/mct_target/parameters/calls
 *   # echo N > /sys/module/mct_target/parameters/deep
 *
 * calls: the task that writes N calls mct_target_branch() N times, which calls
 *	mct_target_leaf() once. Reads as the number of all such calls so far.
 * deep: mct_target_deep() calls itself until N of its frames are on the stack, each with
 *	at least MCT_TARGET_FRAME bytes, and then mct_target_leaf(). N is 8 at most.
 * hold: init calls mct_target_init_step(), sets hold to 2, and continues when 0 is
 *	written. A test can examine the functions of init, which are freed after
 *	init, meanwhile.
 */
#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sched/signal.h>

#include "mct_target.h"

#define MCT_TARGET_FRAME	900
#define HOLD_MAX_MS	60000
#define HOLD_STEP_MS	10

static atomic_t calls = ATOMIC_INIT(0);
static int hold;

noinline __noipa int mct_target_leaf(int n)
{
	return n + 1;
}
EXPORT_SYMBOL_GPL(mct_target_leaf);

noinline __noipa int mct_target_branch(int n)
{
	return mct_target_leaf(n) + 1;
}
EXPORT_SYMBOL_GPL(mct_target_branch);

/* Code after the recursive call keeps the compiler from making a loop of it. */
static noinline __noipa int mct_target_deep(int n)
{
	char frame[MCT_TARGET_FRAME];

	barrier_data(frame);
	n = n > 1 ? mct_target_deep(n - 1) : mct_target_leaf(n);
	barrier_data(frame);
	return n;
}

static int deep_set(const char *text, const struct kernel_param *kp)
{
	int n, ret = kstrtoint(text, 0, &n);

	if (ret)
		return ret;
	if (n < 1 || n > 8)
		return -EINVAL;
	mct_target_deep(n);
	return 0;
}

static const struct kernel_param_ops deep_ops = {
	.set	= deep_set,
};

module_param_cb(deep, &deep_ops, NULL, 0200);
MODULE_PARM_DESC(deep, "Put N frames of mct_target_deep() on the stack");

static int calls_set(const char *text, const struct kernel_param *kp)
{
	unsigned int i, n;
	int ret;

	ret = kstrtouint(text, 0, &n);
	if (ret)
		return ret;
	for (i = 0; i < n; i++) {
		if (mct_target_branch(i) != i + 2)
			return -EIO;
		cond_resched();
		if (fatal_signal_pending(current))
			return -EINTR;
	}
	atomic_add(n, &calls);
	return 0;
}

static int calls_get(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%d\n", atomic_read(&calls));
}

static const struct kernel_param_ops calls_ops = {
	.set	= calls_set,
	.get	= calls_get,
};

module_param_cb(calls, &calls_ops, NULL, 0600);
MODULE_PARM_DESC(calls, "Call mct_target_branch() N times");
module_param(hold, int, 0600);
MODULE_PARM_DESC(hold, "1: init waits until 0 is written");

static noinline __noipa int __init mct_target_init_step(int n)
{
	return mct_target_leaf(n) + 1;
}

static int __init mct_target_init(void)
{
	int waited;

	if (mct_target_init_step(0) != 2)
		return -EIO;
	if (!READ_ONCE(hold))
		return 0;

	WRITE_ONCE(hold, 2);
	for (waited = 0; READ_ONCE(hold); waited += HOLD_STEP_MS) {
		if (waited >= HOLD_MAX_MS)
			return -ETIMEDOUT;
		msleep(HOLD_STEP_MS);
	}
	return 0;
}

static void __exit mct_target_exit(void)
{
	mct_target_branch(0);
}

/* A further macro level expands the names that mct_twin.c redefines. */
#define init_is(function)	module_init(function)
#define exit_is(function)	module_exit(function)
init_is(mct_target_init);
exit_is(mct_target_exit);

MODULE_DESCRIPTION("Selftest of mcount: functions to look for in a trace");
MODULE_LICENSE("GPL");
