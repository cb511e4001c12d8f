// SPDX-License-Identifier: GPL-2.0
/*
 * Put the rings into reserved memory, where they outlive a reboot, with the header that the next
 * kernel needs to read them: "reserve_mem=65M:256M:NAME mctracer=@NAME" on the kernel's command
 * line. persistent.h describes the layout.
 */
#include <linux/cpumask.h>
#include <linux/errno.h>
#include <linux/init.h>
#include <linux/io.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/pgtable.h>
#include <linux/printk.h>
#include <linux/string.h>

#include <asm/pgtable_areas.h>

#include "../control/control.h"
#include "../record/record.h"
#include "../ring/ring.h"
#include "last_boot.h"
#include "persistent.h"

#undef pr_fmt
#define pr_fmt(fmt) "mctracer: " fmt

static void *area;

/*
 * Called by tracer.c around initializing the rings: with @forget before, to clear the memory, and
 * without it after, to write the header.
 */
static void reserved_begin(bool forget)
{
	struct mctracer_persistent header;
	int i;

	if (forget) {
		memset(area, 0, MCTRACER_PERSISTENT_RINGS_AT + nr_cpu_ids * mctracer_ring_bytes());
		return;
	}
	if (IS_ENABLED(CONFIG_MODULES))
		mctracer_persistent_modules_put(area + MCTRACER_PERSISTENT_MODULES_AT);
	mctracer_persistent_fill(&header);
	for (i = 0; i < 2; i++)
		memcpy(area + MCTRACER_PERSISTENT_HEADER(i), &header, sizeof(header));
}

int __init mctracer_persistent_use(const char *name)
{
	phys_addr_t start, size, end;
	size_t ring_size;

	if (!*name || !reserve_mem_find_by_name(name, &start, &size))
		return -ENOENT;
	end = PAGE_ALIGN_DOWN(start + size);
	start = PAGE_ALIGN(start);
	if (end < start + MCTRACER_PERSISTENT_RINGS_AT + nr_cpu_ids * MCTRACER_RING_MIN_SIZE)
		return -ENOSPC;
	if (!pfn_valid(PHYS_PFN(start)) || PageHighMem(pfn_to_page(PHYS_PFN(end - 1))))
		return -EINVAL;
	size = end - start;
	area = phys_to_virt(start);
	ring_size = rounddown_pow_of_two((size_t)(size -
						  MCTRACER_PERSISTENT_RINGS_AT) / nr_cpu_ids);
	ring_size = min_t(size_t, ring_size, MCTRACER_RING_MAX_SIZE);

	if (IS_ENABLED(CONFIG_MODULES))
		mctracer_persistent_modules_watch();
	mctracer_last_boot_found(area, size);
	mctracer_set_external_memory(area + MCTRACER_PERSISTENT_RINGS_AT, ring_size,
				     reserved_begin);
	pr_info("rings of %zu KiB lie in memory that the next kernel may find\n",
		ring_size / SZ_1K);
	return 0;
}
