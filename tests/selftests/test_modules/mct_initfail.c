// SPDX-License-Identifier: GPL-2.0
/*
 * A module whose init calls its own functions, in memory that is freed
 * afterwards, and then fails: loading it always returns -ENODEV.
 */
#include <linux/errno.h>
#include <linux/init.h>
#include <linux/module.h>

#define CALLS	10

static noinline __noipa int core_step(int n)
{
	return n + 1;
}

static noinline __noipa int __init init_step(int n)
{
	return core_step(n) + 1;
}

static int __init mct_initfail_init(void)
{
	int i, n = 0;

	for (i = 0; i < CALLS; i++)
		n = init_step(n);
	return n == 2 * CALLS ? -ENODEV : -EIO;
}

/* Without an exit function the module could not be unloaded if a load succeeded. */
static void __exit mct_initfail_exit(void)
{
}

module_init(mct_initfail_init);
module_exit(mct_initfail_exit);

MODULE_DESCRIPTION("Selftest of mcount: a module whose init fails");
MODULE_LICENSE("GPL");
