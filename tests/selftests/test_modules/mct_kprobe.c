// SPDX-License-Identifier: GPL-2.0
/*
 * Set a kprobe, a kretprobe, or both, at the head of a function, or a kprobe elsewhere in it.
 *
 *   # insmod mct_kprobe.ko symbol=vfs_read [offset=N] [entry=0] [ret=1]
 *   # cat /sys/module/mct_kprobe/parameters/hits
 *   # cat /sys/module/mct_kprobe/parameters/returns
 *   # rmmod mct_kprobe
 *
 * symbol: the function
 * offset: the requested offset of the kprobe in the function
 * at: the real place of the kprobe, as SYMBOL+OFFSET/SIZE [MODULE]
 * entry, ret: whether to set a kprobe, and a kretprobe
 * hits, returns: the number of hits of each
 * args, results: the sum of the first arguments, and of the returned values
 * missed: the number of hits that were not handled
 */
#include <linux/atomic.h>
#include <linux/errno.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/ptrace.h>

#define MAXACTIVE	256

static char *symbol;
module_param(symbol, charp, 0400);
MODULE_PARM_DESC(symbol, "The function");

static unsigned int offset;
module_param(offset, uint, 0400);
MODULE_PARM_DESC(offset, "The offset of the kprobe in the function");

static bool entry = true;
module_param(entry, bool, 0400);
MODULE_PARM_DESC(entry, "Set a kprobe");

static bool ret;
module_param(ret, bool, 0400);
MODULE_PARM_DESC(ret, "Set a kretprobe");

static atomic_long_t hits = ATOMIC_LONG_INIT(0);
static atomic_long_t returns = ATOMIC_LONG_INIT(0);
static atomic_long_t args = ATOMIC_LONG_INIT(0);
static atomic_long_t results = ATOMIC_LONG_INIT(0);

static int count_entry(struct kprobe *kp, struct pt_regs *regs)
{
	atomic_long_inc(&hits);
	atomic_long_add(regs_get_kernel_argument(regs, 0), &args);
	return 0;
}

NOKPROBE_SYMBOL(count_entry);

static int count_return(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	atomic_long_inc(&returns);
	atomic_long_add(regs_return_value(regs), &results);
	return 0;
}

NOKPROBE_SYMBOL(count_return);

static struct kprobe kprobe = {
	.pre_handler	= count_entry,
};

static struct kretprobe kretprobe = {
	.handler	= count_return,
	.maxactive	= MAXACTIVE,
};

static int count_get(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%ld\n", atomic_long_read(kp->arg));
}

static int missed_get(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%lu\n", kprobe.nmissed + kretprobe.kp.nmissed +
			  kretprobe.nmissed);
}

static int at_get(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%pS\n", kprobe.addr);
}

static const struct kernel_param_ops at_ops = {
	.get	= at_get,
};

static const struct kernel_param_ops count_ops = {
	.get	= count_get,
};

static const struct kernel_param_ops missed_ops = {
	.get	= missed_get,
};

module_param_cb(hits, &count_ops, &hits, 0400);
MODULE_PARM_DESC(hits, "Number of hits of the kprobe");
module_param_cb(returns, &count_ops, &returns, 0400);
MODULE_PARM_DESC(returns, "Number of hits of the kretprobe");
module_param_cb(args, &count_ops, &args, 0400);
MODULE_PARM_DESC(args, "The sum of the first arguments");
module_param_cb(results, &count_ops, &results, 0400);
MODULE_PARM_DESC(results, "The sum of the returned values");
module_param_cb(missed, &missed_ops, NULL, 0400);
MODULE_PARM_DESC(missed, "Number of hits that were not handled");
module_param_cb(at, &at_ops, NULL, 0400);
MODULE_PARM_DESC(at, "Where the kprobe is");

static int __init mct_kprobe_init(void)
{
	int err;

	if (!symbol)
		return -EINVAL;

	if (entry) {
		kprobe.symbol_name = symbol;
		kprobe.offset = offset;
		err = register_kprobe(&kprobe);
		if (err) {
			pr_err("no kprobe on %s: %pe\n", symbol, ERR_PTR(err));
			return err;
		}
	}
	if (ret) {
		kretprobe.kp.symbol_name = symbol;
		err = register_kretprobe(&kretprobe);
		if (err) {
			pr_err("no kretprobe on %s: %pe\n", symbol, ERR_PTR(err));
			if (entry)
				unregister_kprobe(&kprobe);
			return err;
		}
	}
	return 0;
}

static void __exit mct_kprobe_exit(void)
{
	if (ret)
		unregister_kretprobe(&kretprobe);
	if (entry)
		unregister_kprobe(&kprobe);
}

module_init(mct_kprobe_init);
module_exit(mct_kprobe_exit);

MODULE_DESCRIPTION("Selftest of mcount: a probe on a function");
MODULE_LICENSE("GPL");
