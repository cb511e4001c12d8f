// SPDX-License-Identifier: GPL-2.0
/*
 * Send NMIs and call functions in them, for a test that looks for them in a trace.
 *
 *   # insmod mct_nmi.ko
 *   # echo N > /sys/module/mct_nmi/parameters/self
 *   # cat /sys/module/mct_nmi/parameters/in_task
 *
 * self: the CPU of the writing task sends N NMIs to itself, in mct_nmi_send().
 * others: send N NMIs to each other CPU, whatever it does.
 * idle: send NMIs to the other CPUs, with pauses in which they may become idle, until N have
 *	arrived at an idle CPU.
 * in_task, in_idle: the number of NMIs that have arrived at a CPU that was not idle, or was.
 *
 * Each NMI calls mct_nmi_in_task() or mct_nmi_in_idle() once. After its end each CPU calls
 * mct_nmi_after() once, and only then the next NMI is sent.
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
static struct cpumask wanted;	/* CPUs that still have to receive an NMI */
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
		smp_mb__before_atomic();	/* order the call before the report */
		cpumask_clear_cpu(cpu, &wanted);
	}
	return NMI_HANDLED;
}

/* Send one NMI and wait for its end. Call nothing that is traced until then. */
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
	smp_rmb();	/* order the report before what follows */
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

/* Send one NMI to each CPU that @whom selects, without CPU hotplug meanwhile. */
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
MODULE_PARM_DESC(self, "Send N to the own CPU");
module_param_cb(others, &send_ops, (void *)&others, 0200);
MODULE_PARM_DESC(others, "Send N to each other CPU");
module_param_cb(idle, &send_ops, (void *)&idle, 0200);
MODULE_PARM_DESC(idle, "Send to other CPUs until N arrive at an idle CPU");
module_param_cb(in_task, &number_ops, &in_task, 0400);
MODULE_PARM_DESC(in_task, "Number that arrived at a CPU that was not idle");
module_param_cb(in_idle, &number_ops, &in_idle, 0400);
MODULE_PARM_DESC(in_idle, "Number that arrived at an idle CPU");

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
