// SPDX-License-Identifier: GPL-2.0
/*
 * A plain hook that changes registers and lingers in the worst allowed ways.
 *
 *   # insmod mct_hook.ko [clobber=1] [linger=N]
 *   # cat /sys/module/mct_hook/parameters/calls
 *   # cat /sys/module/mct_hook/parameters/unwatched
 *   # rmmod mct_hook
 *
 * clobber: change all registers that a C function may change
 * linger: run N turns of a loop in one of 64 calls that can be preempted, so that
 *	some calls are preempted
 * calls: the number of calls
 * unwatched: the number of calls on an online CPU where RCU does not watch. The code
 *	that waits until no task runs a hook relies on none.
 *
 * The module's exit unregisters the hook and then logs how many tasks are still in
 * it: there must be none.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/atomic.h>
#include <linux/delay.h>
#include <linux/init.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/mcount.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/smp.h>

#define WAIT_MS		20000
#define STEP_MS		10

static bool clobber;
module_param(clobber, bool, 0400);
MODULE_PARM_DESC(clobber, "Change all registers that a C function may change");

static unsigned int linger;
module_param(linger, uint, 0400);
MODULE_PARM_DESC(linger, "Run N turns of a loop in some calls");

static DEFINE_PER_CPU(unsigned long, calls);
static DEFINE_PER_CPU(unsigned long, unwatched);
static atomic_t inside = ATOMIC_INIT(0);

#ifdef CONFIG_64BIT
#define CHANGE_ALL			\
	"movq $-1, %%rax\n\t"	\
	"movq $-2, %%rcx\n\t"	\
	"movq $-3, %%rdx\n\t"	\
	"movq $-4, %%rsi\n\t"	\
	"movq $-5, %%rdi\n\t"	\
	"movq $-6, %%r8\n\t"	\
	"movq $-7, %%r9\n\t"	\
	"movq $-8, %%r10\n\t"	\
	"movq $-9, %%r11"
#define CHANGED	"rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11"
#else
#define CHANGE_ALL			\
	"movl $-1, %%eax\n\t"	\
	"movl $-2, %%ecx\n\t"	\
	"movl $-3, %%edx"
#define CHANGED	"eax", "ecx", "edx"
#endif

static void notrace hook(unsigned long ip, unsigned long parent_ip)
{
	unsigned int i;

	this_cpu_inc(calls);
	if (!rcu_is_watching() && cpu_online(raw_smp_processor_id()))
		this_cpu_inc(unwatched);
	if (linger && !preempt_count() && !raw_irqs_disabled() &&
	    !(raw_cpu_read(calls) & 63)) {
		raw_atomic_inc(&inside);
		for (i = 0; i < linger; i++)
			barrier();
		raw_atomic_dec(&inside);
	}
	if (clobber)
		asm volatile(CHANGE_ALL : : : CHANGED, "cc");
}

NOKPROBE_SYMBOL(hook);

static int sum_get(char *buf, const struct kernel_param *kp)
{
	unsigned long __percpu *counts = kp->arg;
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += *per_cpu_ptr(counts, cpu);
	return sysfs_emit(buf, "%lu\n", sum);
}

static const struct kernel_param_ops sum_ops = {
	.get	= sum_get,
};

module_param_cb(calls, &sum_ops, &calls, 0400);
MODULE_PARM_DESC(calls, "Number of calls of the hook");
module_param_cb(unwatched, &sum_ops, &unwatched, 0400);
MODULE_PARM_DESC(unwatched, "Number of calls on an online CPU where RCU does not watch");

static int __init mct_hook_init(void)
{
	return register_mcount_function(hook);
}

static void __exit mct_hook_exit(void)
{
	int waited;

	unregister_mcount_function(hook);
	pr_info("%d tasks in the hook\n", atomic_read(&inside));

	/* Wait for these tasks, so that the test fails and the machine survives. */
	for (waited = 0; atomic_read(&inside) && waited < WAIT_MS; waited += STEP_MS)
		msleep(STEP_MS);
}

module_init(mct_hook_init);
module_exit(mct_hook_exit);

MODULE_DESCRIPTION("Selftest of mcount: a plain hook that changes registers and lingers");
MODULE_LICENSE("GPL");
