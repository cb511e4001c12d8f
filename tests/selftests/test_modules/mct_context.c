// SPDX-License-Identifier: GPL-2.0
/*
 * Call functions in known contexts, for a test that looks for them in a trace.
 *
 *   # insmod mct_context.ko
 *   # echo N > /sys/module/mct_context/parameters/rounds
 *
 * This write calls each of mct_context_plain(), _irqs_off(), _preempt_off()
 * (depth two), _resched(), _softirq() and _hardirq() N times, in the context of
 * its name.
 */
#include <linux/completion.h>
#include <linux/hrtimer.h>
#include <linux/init.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/timer.h>

/* Work that the compiler does not remove. */
static unsigned int called;

#define CONTEXT_FUNCTION(name)					\
static noinline __noipa void mct_context_##name(void)		\
{								\
	WRITE_ONCE(called, READ_ONCE(called) + 1);		\
}

CONTEXT_FUNCTION(plain)
CONTEXT_FUNCTION(irqs_off)
CONTEXT_FUNCTION(preempt_off)
CONTEXT_FUNCTION(resched)
CONTEXT_FUNCTION(softirq)
CONTEXT_FUNCTION(hardirq)

static DECLARE_COMPLETION(softirq_done);
static DECLARE_COMPLETION(hardirq_done);
static struct timer_list timer;
static struct hrtimer hrtimer;

static void in_softirq_context(struct timer_list *unused)
{
	mct_context_softirq();
	complete(&softirq_done);
}

static enum hrtimer_restart in_hardirq_context(struct hrtimer *unused)
{
	mct_context_hardirq();
	complete(&hardirq_done);
	return HRTIMER_NORESTART;
}

static void in_each_context(void)
{
	mct_context_plain();

	local_irq_disable();
	mct_context_irqs_off();
	local_irq_enable();

	preempt_disable();
	preempt_disable();
	mct_context_preempt_off();
	set_tsk_need_resched(current);
	set_preempt_need_resched();
	preempt_enable();
	mct_context_resched();
	preempt_enable();

	mod_timer(&timer, jiffies);
	wait_for_completion(&softirq_done);
	hrtimer_start(&hrtimer, ns_to_ktime(10 * NSEC_PER_USEC), HRTIMER_MODE_REL_HARD);
	wait_for_completion(&hardirq_done);
}

static int rounds_set(const char *text, const struct kernel_param *kp)
{
	unsigned int n;
	int ret;

	ret = kstrtouint(text, 0, &n);
	if (ret)
		return ret;
	while (n--) {
		in_each_context();
		if (fatal_signal_pending(current))
			return -EINTR;
	}
	return 0;
}

static const struct kernel_param_ops rounds_ops = {
	.set	= rounds_set,
};

module_param_cb(rounds, &rounds_ops, NULL, 0200);
MODULE_PARM_DESC(rounds, "Call each function N times");

static int __init mct_context_init(void)
{
	timer_setup(&timer, in_softirq_context, 0);
	hrtimer_init(&hrtimer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	hrtimer.function = in_hardirq_context;
	return 0;
}

static void __exit mct_context_exit(void)
{
	hrtimer_cancel(&hrtimer);
	timer_delete_sync(&timer);
}

module_init(mct_context_init);
module_exit(mct_context_exit);

MODULE_DESCRIPTION("Selftest of mctracer: functions called in known contexts");
MODULE_LICENSE("GPL");
