// SPDX-License-Identifier: GPL-2.0
/*
 * Takes no steps by ORC, in kernels whose ORC entries have another form: the kernel's unwinder takes
 * all steps.
 */
#include "compat.h"
#include "arch/mcount_steps.h"

unsigned int mcount_take_steps(struct mcount_place *at, u32 *callers, u32 *stacks,
			       unsigned int *max)
{
	return 0;
}
