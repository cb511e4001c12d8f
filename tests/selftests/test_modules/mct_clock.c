// SPDX-License-Identifier: GPL-2.0
/*
 * Mark the cycle counter as unstable, as the kernel's watchdog does when it finds
 * the counter wrong. Only a reboot makes it stable again.
 *
 *   # insmod mct_clock.ko
 */
#include <linux/init.h>
#include <linux/module.h>
#include <asm/tsc.h>

static int __init mct_clock_init(void)
{
	mark_tsc_unstable("a selftest");
	return 0;
}

static void __exit mct_clock_exit(void)
{
}

module_init(mct_clock_init);
module_exit(mct_clock_exit);

MODULE_DESCRIPTION("Selftest of mctracer: an unreliable cycle counter");
MODULE_LICENSE("GPL");
