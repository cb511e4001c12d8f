// SPDX-License-Identifier: GPL-2.0
/* Functions of compat.h that are specific to Linux 6.12: the ORC table, syscore, sysctl. */

#include "compat.h"
#include "base.h"

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

#ifdef CONFIG_MCOUNT_RETHOOK
struct rethook *mctracer_compat_rethook_alloc(void *data, mctracer_compat_returned *handler,
					      size_t size, int nr)
{
	return static_call(mctracer_rethook_alloc)(data, handler, size, nr);
}
#endif
