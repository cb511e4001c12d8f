// SPDX-License-Identifier: GPL-2.0
/*
 * The smallest user of mcount: count the calls of traced functions on each CPU.
 *
 *   # sysctl kernel.mcount_enabled=1
 *   # modprobe mcount-sample
 *   # cat /sys/kernel/debug/mcount_sample/calls
 *   10817364
 *   # rmmod mcount-sample
 *
 * Loading this module overrides whatever hook is registered, even a tracer's. Unloading removes
 * only its own hook.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/kprobes.h>
#include <linux/mcount.h>
#include <linux/module.h>
#include <linux/percpu.h>

static DEFINE_PER_CPU(unsigned long, calls);
static struct dentry *dir;

/* One instruction, which interrupts can't divide: it needs no lock and can't recurse. */
static void notrace count_call(unsigned long ip, unsigned long parent_ip)
{
	this_cpu_inc(calls);
}

NOKPROBE_SYMBOL(count_call);

static u64 sum_calls(void)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu(calls, cpu));
	return sum;
}

static int calls_get(void *data, u64 *value)
{
	*value = sum_calls();
	return 0;
}
DEFINE_DEBUGFS_ATTRIBUTE(calls_fops, calls_get, NULL, "%llu\n");

static int __init mcount_sample_init(void)
{
	int ret;

	ret = register_mcount_function(count_call);
	if (ret)
		return ret;

	dir = debugfs_create_dir("mcount_sample", NULL);
	debugfs_create_file_unsafe("calls", 0400, dir, NULL, &calls_fops);
	return 0;
}

static void __exit mcount_sample_exit(void)
{
	debugfs_remove(dir);

	/* If another hook has overridden this one, this fails, and this hook is gone already. */
	unregister_mcount_function(count_call);
	pr_info("%llu calls\n", sum_calls());
}

module_init(mcount_sample_init);
module_exit(mcount_sample_exit);

MODULE_DESCRIPTION("Count function calls with mcount");
MODULE_LICENSE("GPL");
