// SPDX-License-Identifier: GPL-2.0
/*
 * Returns where mcount can't see any: with static call sites, because each site before a return
 * would call a stub all the time, and with ftrace's call sites if there is no rethook.
 */
#include <linux/mcount.h>

unsigned long mcount_next_return(unsigned long addr)
{
	return 0;
}

bool mcount_is_tail(unsigned long site)
{
	return false;
}
