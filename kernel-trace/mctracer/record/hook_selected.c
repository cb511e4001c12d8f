// SPDX-License-Identifier: GPL-2.0
/*
 * The hooks for static call sites, while only some functions are recorded. All functions call them,
 * so they first look up whether the function is selected. See hook.c.
 */
#include <linux/mcount.h>

#include "hook.h"
#include "record.h"

void __mcount_direct mctracer_hook_selected(void)
{
	hook_record(MCTRACER_HOOK_CALL, false, false, true, NULL);
}

void __mcount_direct mctracer_hook_selected_timed(void)
{
	hook_record(MCTRACER_HOOK_CALL, true, false, true, NULL);
}

void __mcount_direct mctracer_hook_selected_context(void)
{
	hook_record(MCTRACER_HOOK_CALL, false, true, true, NULL);
}

void __mcount_direct mctracer_hook_selected_timed_context(void)
{
	hook_record(MCTRACER_HOOK_CALL, true, true, true, NULL);
}
