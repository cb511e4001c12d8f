/* SPDX-License-Identifier: GPL-2.0 */
/* Going from caller to caller quickly, where there is ORC. */
#ifndef _ARCH_X86_KERNEL_MCOUNT_STEPS_H
#define _ARCH_X86_KERNEL_MCOUNT_STEPS_H

#include <linux/ftrace.h>
#include <linux/types.h>

struct pt_regs;

/* What ftrace's graph tracer puts in the place of return addresses. */
#ifdef CONFIG_FUNCTION_GRAPH_TRACER
static __always_inline bool mcount_is_graph_handler(unsigned long ip)
{
	return ip == (unsigned long)return_to_handler;
}
#else
static __always_inline bool mcount_is_graph_handler(unsigned long ip)
{
	return false;
}
#endif

/* Where a call will return to, and what registers hold then. */
struct mcount_place {
	unsigned long ip, sp, bp;
	struct pt_regs *regs;	/* or what was interrupted there */
};

/*
 * The first callers of the function whose head is at @at, which is the last of them then;
 * where on the stack their return addresses are, unless @stacks is NULL. How many, @max at
 * most; and @max is that, too, if there are no more.
 */
unsigned int mcount_take_steps(struct mcount_place *at, u32 *callers, u32 *stacks,
			       unsigned int *max);

#endif /* _ARCH_X86_KERNEL_MCOUNT_STEPS_H */
