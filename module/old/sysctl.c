// SPDX-License-Identifier: GPL-2.0
/* Registers the sysctls of the series in kernels whose tables end with an empty entry. */
#include "compat.h"
#include "base.h"

struct sysctl {
	struct ctl_table_header *header;
	struct ctl_table table[];
};

static void undo_sysctl(void *arg)
{
	struct sysctl *sysctl = arg;

	unregister_sysctl_table(sysctl->header);
	kfree(sysctl);
}

/* Register a copy of @table with an empty entry at its end. */
void mctracer_compat_sysctl(const char *path, struct ctl_table *table, size_t size)
{
	struct sysctl *sysctl = kzalloc(struct_size(sysctl, table, size + 1),
					GFP_KERNEL | __GFP_NOFAIL);

	memcpy(sysctl->table, table, size * sizeof(*table));
	sysctl->header = register_sysctl(path, sysctl->table);
	if (sysctl->header)
		mctracer_undo_later(true, undo_sysctl, sysctl);
	else
		kfree(sysctl);
}
