// SPDX-License-Identifier: GPL-2.0
/*
 * NMIs, and functions called in them, to look for in a trace.
 *
 *   # insmod mct_nmi.ko
 *   # echo N > /sys/module/mct_nmi/parameters/self
 *   # cat /sys/module/mct_nmi/parameters/in_task
 *
 * self: the CPU of the task that writes sends N to itself, in mct_nmi_send().
 * others: N to each other CPU, whatever that does.
 * idle: to the others, which have some time for that, until N have come where one was idle.
 * in_task, in_idle: read as how many NMIs have come where it was not, or was.
 *
 * Each NMI calls the function mct_nmi_in_task() or mct_nmi_in_idle() once. Before the next
 * is sent it has ended, and then each CPU has called mct_nmi_after() once.
 */
#include <linux/atomic.h>
#include <linux/cleanup.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/init.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/smp.h>

#include <asm/apic.h>
#include <asm/irq_vectors.h>
#include <asm/nmi.h>

#define PATIENCE	(60 * HZ)

enum whom {
	SELF,
	OTHERS,
	IDLE,
};

static const enum whom self = SELF, others = OTHERS, idle = IDLE;
static DEFINE_MUTEX(sending);
static struct cpumask wanted;	/* CPUs that are to get one and have not */
static bool expected;
static atomic_t in_task, in_idle, after;

static noinline __noipa void mct_nmi_in_task(void)
{
	atomic_inc(&in_task);
}

static noinline __noipa void mct_nmi_in_idle(void)
{
	atomic_inc(&in_idle);
}

static noinline __noipa void mct_nmi_after(void *unused)
{
	atomic_inc(&after);
}

static int mct_nmi_handler(unsigned int type, struct pt_regs *regs)
{
	unsigned int cpu = smp_processor_id();

	if (!READ_ONCE(expected))
		return NMI_DONE;
	if (cpumask_test_cpu(cpu, &wanted)) {
		if (is_idle_task(current))
			mct_nmi_in_idle();
		else
			mct_nmi_in_task();
		smp_mb__before_atomic();	/* what was called, before it is said so */
		cpumask_clear_cpu(cpu, &wanted);
	}
	return NMI_HANDLED;
}

/* One NMI, which has ended then. Nothing that is traced is called while it may come. */
static noinline __noipa int mct_nmi_send(unsigned int cpu)
{
	unsigned long end = jiffies + PATIENCE;

	cpumask_set_cpu(cpu, &wanted);
	__apic_send_IPI_mask(cpumask_of(cpu), NMI_VECTOR);
	while (cpumask_test_cpu(cpu, &wanted)) {
		if (time_after(jiffies, end))
			return -ETIMEDOUT;
		cpu_relax();
	}
	smp_rmb();	/* that it has ended, before what comes now */
	return 0;
}

static int send_one(unsigned int cpu)
{
	int ret;

	WRITE_ONCE(expected, true);
	preempt_disable();
	ret = mct_nmi_send(cpu);
	preempt_enable();
	on_each_cpu(mct_nmi_after, NULL, 1);
	return ret;
}

/* To those that @whom says. The CPUs that there are stay the same. */
static int send_round(enum whom whom)
{
	unsigned int cpu, mine;
	int ret = 0;

	guard(cpus_read_lock)();
	guard(migrate)();
	mine = smp_processor_id();
	for_each_online_cpu(cpu) {
		if (cpu == mine ? whom != SELF : whom == SELF)
			continue;
		ret = send_one(cpu);
		if (ret)
			break;
	}
	return ret;
}

static int send_set(const char *text, const struct kernel_param *kp)
{
	const enum whom whom = *(const enum whom *)kp->arg;
	unsigned long end = jiffies + PATIENCE;
	unsigned int n, i;
	int ret, until;

	ret = kstrtouint(text, 0, &n);
	if (ret)
		return ret;
	guard(mutex)(&sending);
	until = atomic_read(&in_idle) + n;
	for (i = 0; !ret && (whom == IDLE ? atomic_read(&in_idle) - until < 0 : i < n); i++) {
		if (whom == IDLE)
			usleep_range(1000, 2000);
		ret = send_round(whom);
		if (whom == IDLE && time_after(jiffies, end))
			ret = -ETIMEDOUT;
		cond_resched();
		if (fatal_signal_pending(current))
			ret = -EINTR;
	}
	WRITE_ONCE(expected, false);
	return ret;
}

static int number_get(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%d\n", atomic_read((atomic_t *)kp->arg));
}

static const struct kernel_param_ops send_ops = {
	.set	= send_set,
};

static const struct kernel_param_ops number_ops = {
	.get	= number_get,
};

module_param_cb(self, &send_ops, (void *)&self, 0200);
MODULE_PARM_DESC(self, "Send so many to the own CPU");
module_param_cb(others, &send_ops, (void *)&others, 0200);
MODULE_PARM_DESC(others, "Send so many to each other CPU");
module_param_cb(idle, &send_ops, (void *)&idle, 0200);
MODULE_PARM_DESC(idle, "Have so many come to an idle CPU");
module_param_cb(in_task, &number_ops, &in_task, 0400);
MODULE_PARM_DESC(in_task, "How many have come to a CPU that was not idle");
module_param_cb(in_idle, &number_ops, &in_idle, 0400);
MODULE_PARM_DESC(in_idle, "How many have come to an idle CPU");

static int __init mct_nmi_init(void)
{
	return register_nmi_handler(NMI_LOCAL, mct_nmi_handler, 0, "mct_nmi");
}

static void __exit mct_nmi_exit(void)
{
	unregister_nmi_handler(NMI_LOCAL, "mct_nmi");
}

module_init(mct_nmi_init);
module_exit(mct_nmi_exit);

MODULE_DESCRIPTION("Selftest of mctracer: functions called in NMIs");
MODULE_LICENSE("GPL");
