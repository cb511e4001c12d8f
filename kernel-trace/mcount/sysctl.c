// SPDX-License-Identifier: GPL-2.0
/*
 * The sysctls kernel.mcount_enabled, which switches mcount, and kernel.mcount_hook, which shows the
 * registered hook:
 *
 *   # sysctl kernel.mcount_enabled=1
 *   kernel.mcount_enabled = 1
 *   # echo 2 > /proc/sys/kernel/mcount_enabled
 *   sh: write error: Invalid argument
 *   # sysctl kernel.mcount_hook
 *   kernel.mcount_hook = count_call [mcount_sample]
 */
#include <linux/capability.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/mcount.h>
#include <linux/security.h>
#include <linux/string.h>
#include <linux/sysctl.h>

#include "mcount.h"

/* Parse and set a value. @buf is the kernel's copy of the written text, NUL-terminated at @len. */
static int mcount_sysctl_write(char *buf, size_t len)
{
	static const char * const values[] = { "0", "1" };
	int value, ret;

	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	if (strlen(buf) != len)
		return -EINVAL;

	value = match_string(values, ARRAY_SIZE(values), strim(buf));
	if (value < 0)
		return value;

	if (value) {
		ret = security_locked_down(LOCKDOWN_TRACEFS);
		if (ret)
			return ret;
	}
	return mcount_set_enabled(value);
}

static int mcount_sysctl(const struct ctl_table *table, int write,
			 void *buffer, size_t *lenp, loff_t *ppos)
{
	unsigned int value = mcount_is_enabled();
	struct ctl_table read = {
		.data	= &value,
		.maxlen	= sizeof(value),
	};
	int ret;

	if (!write)
		return proc_douintvec(&read, 0, buffer, lenp, ppos);

	/* proc_douintvec() would accept "1 junk" and writes at an offset. */
	if (*ppos)
		return -EINVAL;
	ret = mcount_sysctl_write(buffer, *lenp);
	if (!ret)
		*ppos += *lenp;
	return ret;
}

/* Show the registered hook: of several users that don't know each other, the last one's. */
static int mcount_hook_sysctl(const struct ctl_table *table, int write, void *buffer,
			      size_t *lenp, loff_t *ppos)
{
	char name[KSYM_SYMBOL_LEN];
	struct ctl_table read = {
		.data	= name,
		.maxlen	= sizeof(name),
	};

	mcount_name_hook(name, sizeof(name));
	return proc_dostring(&read, write, buffer, lenp, ppos);
}

static struct ctl_table mcount_sysctls[] = {
	{
		.procname	= "mcount_enabled",
		.maxlen		= sizeof(unsigned int),
		.mode		= 0644,
		.proc_handler	= mcount_sysctl,
	},
	{
		.procname	= "mcount_hook",
		.mode		= 0444,
		.proc_handler	= mcount_hook_sysctl,
	},
};

static int __init mcount_sysctl_init(void)
{
	register_sysctl_init("kernel", mcount_sysctls);
	return 0;
}
late_initcall(mcount_sysctl_init);
