// SPDX-License-Identifier: GPL-2.0
/* Static call sites, which always call the stub: there is no table of them. */
#include <linux/mcount.h>
#include <linux/string.h>
#include <linux/uaccess.h>

/*
 * Return true if a call of the stub is at @addr. The first byte may be a kprobe's breakpoint, so
 * only compare the others.
 */
static bool mcount_is_static_site(unsigned long addr)
{
	u8 found[MCOUNT_SITE_SIZE], call[MCOUNT_SITE_SIZE];

	arch_mcount_site_insn(call, (void *)addr, MCOUNT_HOOK, false);
	return !copy_from_kernel_nofault(found, (void *)addr, sizeof(found)) &&
	       !memcmp(found + 1, call + 1, sizeof(call) - 1);
}

unsigned long mcount_function_site(unsigned long func)
{
	if (mcount_is_static_site(func))
		return func;
	if (MCOUNT_SITE_OFFSET && mcount_is_static_site(func + MCOUNT_SITE_OFFSET))
		return func + MCOUNT_SITE_OFFSET;
	return 0;
}
