// SPDX-License-Identifier: GPL-2.0
/* Compatibility with Linux 6.12: replacements of functions that the kernel does not export. */

#include "compat.h"
#include "base.h"

static unsigned long orc_address(const int *ip)
{
	return (unsigned long)ip + *ip;
}

/* Find the ORC entry in the kernel's own text. In modules the unwinder takes over. */
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

static void undo_syscore(void *syscore)
{
	unregister_syscore(syscore);
}

void mctracer_compat_syscore(struct syscore *syscore)
{
	register_syscore(syscore);
	mctracer_undo_later(false, undo_syscore, syscore);
}

static void undo_sysctl(void *header)
{
	unregister_sysctl_table(header);
}

void mctracer_compat_sysctl(const char *path, struct ctl_table *table, size_t size)
{
	struct ctl_table_header *header = register_sysctl_sz(path, table, size);

	if (header)
		mctracer_undo_later(true, undo_sysctl, header);
}
