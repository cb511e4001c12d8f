// SPDX-License-Identifier: GPL-2.0
/*
 * The hooks at returns: what hook.c is for calls, and what is said there holds here. But all
 * registers may hold something: a function's result; or where it jumps to another one, which
 * returns in its place, that one's arguments and address. A jump may become a return, and the
 * other way around, while sites are calls (static_call), so both preserve all.
 */
#include <linux/mcount.h>

#include "hook.h"
#include "mctracer.h"

void __mcount_direct mctracer_hook_return(void)
{
	record(MCTRACER_HOOK_RETURN, false, false, false);
}

void __mcount_direct mctracer_hook_return_exact(void)
{
	record(MCTRACER_HOOK_RETURN, true, false, false);
}

void __mcount_direct mctracer_hook_return_context(void)
{
	record(MCTRACER_HOOK_RETURN, false, true, false);
}

void __mcount_direct mctracer_hook_return_exact_context(void)
{
	record(MCTRACER_HOOK_RETURN, true, true, false);
}

void __mcount_direct mctracer_hook_return_slow(void)
{
	record_return_slowly(MCTRACER_HOOK_RETURN);
}

void __mcount_direct mctracer_hook_tail(void)
{
	record(MCTRACER_HOOK_TAIL, false, false, false);
}

void __mcount_direct mctracer_hook_tail_exact(void)
{
	record(MCTRACER_HOOK_TAIL, true, false, false);
}

void __mcount_direct mctracer_hook_tail_context(void)
{
	record(MCTRACER_HOOK_TAIL, false, true, false);
}

void __mcount_direct mctracer_hook_tail_exact_context(void)
{
	record(MCTRACER_HOOK_TAIL, true, true, false);
}

void __mcount_direct mctracer_hook_tail_slow(void)
{
	record_return_slowly(MCTRACER_HOOK_TAIL);
}
