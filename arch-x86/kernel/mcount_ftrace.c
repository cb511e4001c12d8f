// SPDX-License-Identifier: GPL-2.0
/*
 * Call sites of ftrace: make ftrace continue at the stub or the pre-handler after it has called
 * other ops.
 */
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/mcount.h>
#include <linux/ptrace.h>

static bool mcount_is_own_target(unsigned long addr)
{
	return addr == (unsigned long)arch_mcount_stub_in_turn ||
	       addr == (unsigned long)arch_mcount_pre_handler_in_turn;
}

NOKPROBE_SYMBOL(mcount_is_own_target);

/* Ops that are called later may still redirect the function: the stub checks %r10 for that. */
bool arch_mcount_ftrace_call(struct ftrace_regs *fregs, unsigned long ip, bool pre_handler)
{
	struct pt_regs *regs = ftrace_get_regs(fregs);

	if (!regs || regs->ip != ip || (regs->orig_ax && !mcount_is_own_target(regs->orig_ax)))
		return false;
	regs->r10 = ip;
	arch_ftrace_set_direct_caller(fregs,
				      pre_handler ? (unsigned long)arch_mcount_pre_handler_in_turn :
						    (unsigned long)arch_mcount_stub_in_turn);
	return true;
}

NOKPROBE_SYMBOL(arch_mcount_ftrace_call);
