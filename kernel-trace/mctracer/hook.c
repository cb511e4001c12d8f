// SPDX-License-Identifier: GPL-2.0
/*
 * The hook: what is done for every call of every kernel function.
 *
 * Nothing here may be traced, call anything out of line, or fault; then it can
 * not recurse and needs no guard against that. (What is called when a preemption
 * is due, or by paravirt, preserves all registers and is not traced.) The stub
 * jumps here and the compiler saves only what is used, of that what the traced
 * function may need: see CC_FLAGS_MCOUNT_DIRECT in linux/mcount.h.
 */
#include <linux/kprobes.h>
#include <linux/mcount.h>
#include <linux/percpu.h>

#include "hook.h"
#include "mctracer.h"

DEFINE_PER_CPU_PAGE_ALIGNED(struct mctracer_ring, mctracer_rings);

/* One for each combination of the options that change what is done here. */
void __mcount_direct mctracer_hook(void)
{
	record_call(false, false, true);
}

NOKPROBE_SYMBOL(mctracer_hook);

void __mcount_direct mctracer_hook_keep(void)
{
	record_call(true, false, true);
}

NOKPROBE_SYMBOL(mctracer_hook_keep);

void __mcount_direct mctracer_hook_context(void)
{
	record_call(false, true, true);
}

NOKPROBE_SYMBOL(mctracer_hook_context);

void __mcount_direct mctracer_hook_keep_context(void)
{
	record_call(true, true, true);
}

NOKPROBE_SYMBOL(mctracer_hook_keep_context);

/* While rings are exchanged: registered instead, it spares patching all call sites twice. */
void __mcount_direct mctracer_hook_nothing(void)
{
}

NOKPROBE_SYMBOL(mctracer_hook_nothing);
