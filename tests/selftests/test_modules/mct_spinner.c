// SPDX-License-Identifier: GPL-2.0
/*
 * A kernel thread that runs for a while and never sleeps. Tasks RCU waits for this thread, and so
 * does a task that removes a hook. No other task may wait for it.
 */
#include <linux/err.h>
#include <linux/jiffies.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/processor.h>

static unsigned int seconds = 10;
module_param(seconds, uint, 0400);
MODULE_PARM_DESC(seconds, "The run time of the thread");

static struct task_struct *spinner;

static int spin(void *unused)
{
	unsigned long end = jiffies + seconds * HZ;

	while (!kthread_should_stop() && time_before(jiffies, end))
		cpu_relax();
	while (!kthread_should_stop())
		schedule_timeout_interruptible(HZ / 10);
	return 0;
}

static int __init mct_spinner_init(void)
{
	spinner = kthread_run(spin, NULL, "mct_spinner");
	return PTR_ERR_OR_ZERO(spinner);
}
module_init(mct_spinner_init);

static void __exit mct_spinner_exit(void)
{
	kthread_stop(spinner);
}
module_exit(mct_spinner_exit);

MODULE_DESCRIPTION("A kernel thread that does not sleep");
MODULE_LICENSE("GPL");
