/* SPDX-License-Identifier: GPL-2.0 */
/* Quick stepping from caller to caller with ORC. */
#ifndef _ARCH_X86_KERNEL_MCOUNT_STEPS_H
#define _ARCH_X86_KERNEL_MCOUNT_STEPS_H

#include <linux/ftrace.h>
#include <linux/types.h>

struct pt_regs;

/*
 * Return true if @ip is the address that ftrace's graph tracer puts in place of return addresses.
 */
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

/* The place to which a call will return, with the registers at that time. */
struct mcount_place {
	unsigned long ip, sp, bp;
	struct pt_regs *regs;	/* the saved registers, if the place was interrupted; else NULL */
};

/*
 * Store the first callers of the function at whose head @at is into @callers, and the addresses of
 * their return addresses on the stack into @stacks, unless that is NULL. Return their number, @max
 * at most. On return @at is the last of them; @max is the returned number if there are no more
 * callers.
 */
unsigned int mcount_take_steps(struct mcount_place *at, u32 *callers, u32 *stacks,
			       unsigned int *max);

#endif /* _ARCH_X86_KERNEL_MCOUNT_STEPS_H */
