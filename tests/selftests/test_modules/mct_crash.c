// SPDX-License-Identifier: GPL-2.0
/*
 * Crash in contexts that a tracer may not expect.
 *
 *   # insmod mct_crash.ko
 *   # echo FUNCTION > /sys/module/mct_crash/parameters/at
 *   # echo 1 > /sys/module/mct_crash/parameters/nmi
 *   # echo ADDRESS,ADDRESS,... > /sys/module/mct_crash/parameters/mutexes
 *
 * at: the next call of FUNCTION reads address 0, in mct_crash_now(), in its own context.
 * nmi: an NMI reads address 0.
 * mutexes: another task takes the mutexes at these addresses, and the lock of its own name
 * (task_lock), and keeps them. The write returns when the task holds all of them.
 */
#include <linux/array_size.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/smp.h>
#include <linux/string.h>

#include <asm/apic.h>
#include <asm/irq_vectors.h>
#include <asm/nmi.h>

static bool crash;	/* the next probe or NMI must crash */
static char symbol[KSYM_NAME_LEN];
static unsigned long mutexes[16];
static unsigned int nr_mutexes;
static DECLARE_COMPLETION(taken);

static noinline __noipa void mct_crash_now(void)
{
	READ_ONCE(*(int *)NULL);
}

static int mct_crash_probe(struct kprobe *p, struct pt_regs *regs)
{
	if (xchg(&crash, false))
		mct_crash_now();
	return 0;
}

static struct kprobe probe = {
	.symbol_name	= symbol,
	.pre_handler	= mct_crash_probe,
};

static int mct_crash_nmi(unsigned int type, struct pt_regs *regs)
{
	if (!xchg(&crash, false))
		return NMI_DONE;
	mct_crash_now();
	return NMI_HANDLED;
}

static int set_at(const char *text, const struct kernel_param *kp)
{
	int ret;

	if (probe.addr)
		return -EBUSY;
	strscpy(symbol, text);
	strim(symbol);
	ret = register_kprobe(&probe);
	if (ret)
		probe.addr = NULL;
	else
		WRITE_ONCE(crash, true);
	return ret;
}

static int set_nmi(const char *text, const struct kernel_param *kp)
{
	WRITE_ONCE(crash, true);
	preempt_disable();
	__apic_send_IPI_mask(cpumask_of(smp_processor_id()), NMI_VECTOR);
	preempt_enable();
	return 0;
}

static int keep(void *unused)
{
	unsigned int i;

	for (i = 0; i < nr_mutexes; i++)
		mutex_lock((struct mutex *)mutexes[i]);
	preempt_disable();
	task_lock(current);
	complete(&taken);
	for (;;)
		cpu_relax();
	return 0;
}

static int set_mutexes(const char *text, const struct kernel_param *kp)
{
	char buffer[256], *rest = buffer, *word;
	struct task_struct *task;
	int ret;

	strscpy(buffer, text);
	while ((word = strsep(&rest, ",\n"))) {
		if (!*word)
			continue;
		if (nr_mutexes == ARRAY_SIZE(mutexes))
			return -E2BIG;
		ret = kstrtoul(word, 16, &mutexes[nr_mutexes]);
		if (ret)
			return ret;
		nr_mutexes++;
	}
	task = kthread_create(keep, NULL, "mct_crash");
	if (IS_ERR(task))
		return PTR_ERR(task);
	kthread_bind(task, cpumask_last(cpu_online_mask));
	wake_up_process(task);
	wait_for_completion(&taken);
	return 0;
}

static const struct kernel_param_ops at_ops = { .set = set_at };
static const struct kernel_param_ops nmi_ops = { .set = set_nmi };
static const struct kernel_param_ops mutexes_ops = { .set = set_mutexes };

module_param_cb(at, &at_ops, NULL, 0200);
MODULE_PARM_DESC(at, "Crash when this function is called");
module_param_cb(nmi, &nmi_ops, NULL, 0200);
MODULE_PARM_DESC(nmi, "Crash in an NMI");
module_param_cb(mutexes, &mutexes_ops, NULL, 0200);
MODULE_PARM_DESC(mutexes, "Addresses of mutexes to take and keep");

static int __init mct_crash_init(void)
{
	return register_nmi_handler(NMI_LOCAL, mct_crash_nmi, 0, "mct_crash");
}

static void __exit mct_crash_exit(void)
{
	if (probe.addr)
		unregister_kprobe(&probe);
	unregister_nmi_handler(NMI_LOCAL, "mct_crash");
}

module_init(mct_crash_init);
module_exit(mct_crash_exit);

MODULE_DESCRIPTION("Selftest of mctracer: crashes");
MODULE_LICENSE("GPL");
