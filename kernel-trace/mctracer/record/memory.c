// SPDX-License-Identifier: GPL-2.0
/*
 * Read memory that an argument points to, for the action data. The pointer may be invalid: memory
 * that can't be read is left out.
 */
#include <linux/minmax.h>
#include <linux/types.h>
#include <linux/uaccess.h>

#include "record.h"
#include "triggers.h"

static bool memory_read(void *to, unsigned long address, size_t n)
{
	return !copy_from_kernel_nofault(to, (const void *)address, n);
}

void mctracer_read_memory(const struct mctracer_memory *memory, unsigned long address,
			  struct mctracer_args *args)
{
	const unsigned long object = address;
	unsigned int i, n;
	u16 add = 0;

	for (i = 0; i < memory->nr_pointers; i++)
		if (!memory_read(&address, address + memory->pointers[i], sizeof(address)))
			return;
	if (memory->adds && !memory_read(&add, object + memory->add, sizeof(add)))
		return;
	address += memory->behind + add;
	/* The next page may be unmapped: read up to its begin first. */
	n = min_t(unsigned int, memory->length, PAGE_SIZE - address % PAGE_SIZE);
	if (!memory_read(args->data, address, n))
		return;
	args->nr_data = n;
	if (n < memory->length && memory_read(args->data + n, address + n, memory->length - n))
		args->nr_data = memory->length;
}
