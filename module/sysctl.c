// SPDX-License-Identifier: GPL-2.0
/* Registers the sysctls of the series. */
#include "compat.h"
#include "base.h"

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
