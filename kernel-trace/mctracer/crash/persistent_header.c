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

u32 mctracer_persistent_sum(const struct mctracer_persistent *header)
{
	const size_t from = offsetofend(struct mctracer_persistent, sum);

	return crc32_le(~0, (const u8 *)header + from, sizeof(*header) - from);
}

u32 mctracer_persistent_module_sum(const struct mctracer_persistent_module *module)
{
	return crc32_le(~0, (const u8 *)module + sizeof(module->sum),
			sizeof(*module) - sizeof(module->sum));
}

void mctracer_persistent_fill(struct mctracer_persistent *header)
{
	memset(header, 0, sizeof(*header));
	header->magic = MCTRACER_PERSISTENT_MAGIC;
	header->version = MCTRACER_PERSISTENT_VERSION;
	header->words_version = MCTRACER_VERSION;
	header->bits = BITS_PER_LONG;
	header->nr_rings = nr_cpu_ids;
	header->ring_size = mctracer_ring_bytes();
	header->text = (unsigned long)_stext;
	header->text_end = (unsigned long)_einittext;
	header->linked = header->text - ((unsigned long)_text - __START_KERNEL);
	header->modules = (u32)MODULES_VADDR;
	header->modules_end = (u32)MODULES_END;
	header->has_id = !build_id_parse_buf(__start_notes, header->build_id,
					     __stop_notes - __start_notes);
	mctracer_clock_read(&header->clock);
	header->sum = mctracer_persistent_sum(header);
}
