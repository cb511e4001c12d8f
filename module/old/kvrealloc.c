// SPDX-License-Identifier: GPL-2.0
/* Replaces kvrealloc() in kernels where it needs to know the old size. */
#include "compat.h"

static size_t size_of(const void *memory)
{
	if (is_vmalloc_addr(memory))
		return get_vm_area_size(static_call(mctracer_find_vm_area)(memory));
	return ksize(memory);
}

void *mctracer_compat_kvrealloc(const void *memory, size_t size, gfp_t gfp)
{
	void *new = kvmalloc(size, gfp);

	if (new && memory) {
		memcpy(new, memory, min(size, size_of(memory)));
		kvfree(memory);
	}
	return new;
}
