// SPDX-License-Identifier: GPL-2.0
/* Write the header of persistent rings, and checksums. */
#include <linux/buildid.h>
#include <linux/cpumask.h>
#include <linux/crc32.h>
#include <linux/mm.h>
#include <linux/stddef.h>
#include <linux/string.h>

#include <asm/page_types.h>
#include <asm/pgtable_areas.h>
#include <asm/sections.h>

#include "../control/control.h"
#include "../record/record.h"
#include "persistent.h"

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
