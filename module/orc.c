// SPDX-License-Identifier: GPL-2.0
/* Finds the entries of the kernel's ORC table, whose symbols are not exported. */

#include "compat.h"

static unsigned long orc_address(const int *ip)
{
	return (unsigned long)ip + *ip;
}

/*
 * Return the ORC entry of @ip in the kernel's text, or NULL; in modules the caller uses the
 * unwinder.
 */
struct orc_entry *unwind_orc_find(unsigned long ip)
{
	const int *low = mctracer_at___start_orc_unwind_ip, *mid;
	const int *high = mctracer_at___stop_orc_unwind_ip;

	if (!mctracer_compat_kernel_text(ip) || ip < orc_address(low))
		return NULL;
	while (high - low > 1) {
		mid = low + (high - low) / 2;
		if (orc_address(mid) <= ip)
			low = mid;
		else
			high = mid;
	}
	return (struct orc_entry *)mctracer_at___start_orc_unwind +
	       (low - mctracer_at___start_orc_unwind_ip);
}
