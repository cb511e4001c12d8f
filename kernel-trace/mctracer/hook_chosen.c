// SPDX-License-Identifier: GPL-2.0
/*
 * The hook where call sites are static, while not all functions are recorded: all call
 * it, so it looks first whether this one is to be. See hook.c.
 */
#include <linux/mcount.h>

#include "hook.h"
#include "mctracer.h"

void __mcount_direct mctracer_hook_chosen(void)
{
	record(MCTRACER_HOOK_CALL, false, false, true);
}

void __mcount_direct mctracer_hook_chosen_exact(void)
{
	record(MCTRACER_HOOK_CALL, true, false, true);
}

void __mcount_direct mctracer_hook_chosen_context(void)
{
	record(MCTRACER_HOOK_CALL, false, true, true);
}

void __mcount_direct mctracer_hook_chosen_exact_context(void)
{
	record(MCTRACER_HOOK_CALL, true, true, true);
}
