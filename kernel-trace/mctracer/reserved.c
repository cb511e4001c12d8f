// SPDX-License-Identifier: GPL-2.0
/*
 * Put the rings into reserved memory, where they outlive a reboot, with the header that the next
 * kernel needs to read them: "reserve_mem=65M:256M:NAME mctracer=@NAME" on the kernel's command
 * line. kept.h describes the layout.
 */
#include <linux/buildid.h>
#include <linux/cpumask.h>
#include <linux/crc32.h>
#include <linux/errno.h>
#include <linux/init.h>
#include <linux/io.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/pgtable.h>
#include <linux/printk.h>
#include <linux/string.h>

#include <asm/page_types.h>
#include <asm/pgtable_areas.h>
#include <asm/sections.h>

#include "kept.h"
#include "last_boot.h"
#include "mctracer.h"

#undef pr_fmt
#define pr_fmt(fmt) "mctracer: " fmt

static void *area;

u32 mctracer_kept_sum(const struct mctracer_kept *kept)
{
	const size_t from = offsetofend(struct mctracer_kept, sum);

	return crc32_le(~0, (const u8 *)kept + from, sizeof(*kept) - from);
}

u32 mctracer_kept_module_sum(const struct mctracer_kept_module *module)
{
	return crc32_le(~0, (const u8 *)module + sizeof(module->sum),
			sizeof(*module) - sizeof(module->sum));
}

void mctracer_kept_fill(struct mctracer_kept *kept)
{
	memset(kept, 0, sizeof(*kept));
	kept->magic = MCTRACER_KEPT_MAGIC;
	kept->version = MCTRACER_KEPT_VERSION;
	kept->words_version = MCTRACER_VERSION;
	kept->bits = BITS_PER_LONG;
	kept->nr_rings = nr_cpu_ids;
	kept->ring_size = mctracer_ring_bytes();
	kept->text = (unsigned long)_stext;
	kept->text_end = (unsigned long)_einittext;
	kept->linked = kept->text - ((unsigned long)_text - __START_KERNEL);
	kept->modules = (u32)MODULES_VADDR;
	kept->modules_end = (u32)MODULES_END;
	kept->has_id = !build_id_parse_buf(__start_notes, kept->build_id,
					   __stop_notes - __start_notes);
	mctracer_clock_read(&kept->clock);
	kept->sum = mctracer_kept_sum(kept);
}

/*
 * Called by tracer.c around initializing the rings: with @forget before, to clear the memory, and
 * without it after, to write the header.
 */
static void reserved_begin(bool forget)
{
	struct mctracer_kept kept;
	int i;

	if (forget) {
		memset(area, 0, MCTRACER_KEPT_RINGS_AT + nr_cpu_ids * mctracer_ring_bytes());
		return;
	}
	if (IS_ENABLED(CONFIG_MODULES))
		mctracer_kept_modules_put(area + MCTRACER_KEPT_MODULES_AT);
	mctracer_kept_fill(&kept);
	for (i = 0; i < 2; i++)
		memcpy(area + MCTRACER_KEPT_HEADER(i), &kept, sizeof(kept));
}

int __init mctracer_reserved_use(const char *name)
{
	phys_addr_t start, size, end;
	size_t ring_size;

	if (!*name || !reserve_mem_find_by_name(name, &start, &size))
		return -ENOENT;
	end = PAGE_ALIGN_DOWN(start + size);
	start = PAGE_ALIGN(start);
	if (end < start + MCTRACER_KEPT_RINGS_AT + nr_cpu_ids * MCTRACER_RING_MIN_SIZE)
		return -ENOSPC;
	if (!pfn_valid(PHYS_PFN(start)) || PageHighMem(pfn_to_page(PHYS_PFN(end - 1))))
		return -EINVAL;
	size = end - start;
	area = phys_to_virt(start);
	ring_size = rounddown_pow_of_two((size_t)(size - MCTRACER_KEPT_RINGS_AT) / nr_cpu_ids);
	ring_size = min_t(size_t, ring_size, MCTRACER_RING_MAX_SIZE);

	if (IS_ENABLED(CONFIG_MODULES))
		mctracer_kept_modules_watch();
	mctracer_last_boot_found(area, size);
	mctracer_give_memory(area + MCTRACER_KEPT_RINGS_AT, ring_size, reserved_begin);
	pr_info("rings of %zu KiB lie in memory that the next kernel may find\n",
		ring_size / SZ_1K);
	return 0;
}
