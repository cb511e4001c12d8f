// SPDX-License-Identifier: GPL-2.0
/*
 * The hooks at returns, and at tail jumps: jumps to another function, which returns in its place.
 * The rules of hook.c hold here, but any register may hold a value: the function's result, or the
 * other function's arguments and address. static_call may turn a jump into a return, and back,
 * while the site before it is a call: so the hooks of both kinds preserve all registers.
 */
#include <linux/mcount.h>

#include "hook.h"
#include "record.h"

void __mcount_direct mctracer_hook_return(void)
{
	hook_record(MCTRACER_HOOK_RETURN, false, false, false, NULL);
}

void __mcount_direct mctracer_hook_return_timed(void)
{
	hook_record(MCTRACER_HOOK_RETURN, true, false, false, NULL);
}

void __mcount_direct mctracer_hook_return_context(void)
{
	hook_record(MCTRACER_HOOK_RETURN, false, true, false, NULL);
}

void __mcount_direct mctracer_hook_return_timed_context(void)
{
	hook_record(MCTRACER_HOOK_RETURN, true, true, false, NULL);
}

void __mcount_direct mctracer_hook_return_slow(void)
{
	hook_record_return_slow(MCTRACER_HOOK_RETURN);
}

void __mcount_direct mctracer_hook_tail(void)
{
	hook_record(MCTRACER_HOOK_TAIL, false, false, false, NULL);
}

void __mcount_direct mctracer_hook_tail_timed(void)
{
	hook_record(MCTRACER_HOOK_TAIL, true, false, false, NULL);
}

void __mcount_direct mctracer_hook_tail_context(void)
{
	hook_record(MCTRACER_HOOK_TAIL, false, true, false, NULL);
}

void __mcount_direct mctracer_hook_tail_timed_context(void)
{
	hook_record(MCTRACER_HOOK_TAIL, true, true, false, NULL);
}

void __mcount_direct mctracer_hook_tail_slow(void)
{
	hook_record_return_slow(MCTRACER_HOOK_TAIL);
}
