// SPDX-License-Identifier: GPL-2.0
/*
 * Keep a CPU busy with interrupts or preemption off, for a test that finds this in a trace.
 *
 *   # insmod mct_latency.ko
 *   # echo MS > /sys/module/mct_latency/parameters/irqs_off
 *   # echo MS > /sys/module/mct_latency/parameters/preempt_off
 *
 * A write calls mct_latency_step() repeatedly for MS milliseconds, 100 at most, with
 * interrupts off, or with preemption off. Reads as the nanoseconds from the end of the
 * first to the beginning of the last of these calls, by local_clock().
 */
#include <linux/compiler.h>
#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/init.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/preempt.h>
#include <linux/sched/clock.h>
#include <linux/time64.h>

#define MS_MAX	100
#define STEP_US	50

static unsigned long irqs_off;
static unsigned long preempt_off;

static noinline __noipa void mct_latency_step(void)
{
	udelay(STEP_US);
}

static unsigned long steps(unsigned int ms)
{
	u64 begin, took;

	mct_latency_step();
	begin = local_clock();
	do {
		mct_latency_step();
		took = local_clock() - begin;
	} while (took < ms * NSEC_PER_MSEC);
	mct_latency_step();
	return took;
}

static int ms_of(const char *text, unsigned int *ms)
{
	int ret = kstrtouint(text, 0, ms);

	return ret ?: *ms > MS_MAX ? -EINVAL : 0;
}

static int irqs_off_set(const char *text, const struct kernel_param *kp)
{
	unsigned int ms;
	int ret;

	ret = ms_of(text, &ms);
	if (ret)
		return ret;
	local_irq_disable();
	irqs_off = steps(ms);
	local_irq_enable();
	return 0;
}

static int preempt_off_set(const char *text, const struct kernel_param *kp)
{
	unsigned int ms;
	int ret;

	ret = ms_of(text, &ms);
	if (ret)
		return ret;
	preempt_disable();
	preempt_off = steps(ms);
	preempt_enable();
	return 0;
}

static const struct kernel_param_ops irqs_off_ops = {
	.set	= irqs_off_set,
	.get	= param_get_ulong,
};

module_param_cb(irqs_off, &irqs_off_ops, &irqs_off, 0600);
MODULE_PARM_DESC(irqs_off, "Switch interrupts off for N milliseconds");

static const struct kernel_param_ops preempt_off_ops = {
	.set	= preempt_off_set,
	.get	= param_get_ulong,
};

module_param_cb(preempt_off, &preempt_off_ops, &preempt_off, 0600);
MODULE_PARM_DESC(preempt_off, "Switch preemption off for N milliseconds");

static int __init mct_latency_init(void)
{
	return 0;
}

static void __exit mct_latency_exit(void)
{
}

module_init(mct_latency_init);
module_exit(mct_latency_exit);

MODULE_DESCRIPTION("Selftest of mctracer: a CPU that is busy with interrupts or preemption off");
MODULE_LICENSE("GPL");
