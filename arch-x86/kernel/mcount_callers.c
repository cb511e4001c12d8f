// SPDX-License-Identifier: GPL-2.0
/*
 * Find the callers of the function that called a pre-handler: with the quick steps of
 * mcount_steps.c as far as these lead, then with the unwinder.
 */
#include <linux/kconfig.h>
#include <linux/mcount.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/string.h>

#include <asm/segment.h>
#include <asm/unwind.h>

#include "mcount_steps.h"

/* Make the unwinder continue at the caller of @at. It may use @regs as long as @state is used. */
static void mcount_unwind_from(struct unwind_state *state, const struct mcount_place *at,
			       struct pt_regs *regs)
{
	memset(regs, 0, sizeof(*regs));
	regs->ip = at->ip - 1;	/* of the call, as if it had been interrupted */
	regs->sp = at->sp;
	regs->bp = at->bp;
	regs->cs = __KERNEL_CS;
	unwind_start(state, current, at->regs ?: regs, NULL);
}

/*
 * Make the unwinder start here, and advance through the pre-handler's frames to the caller of the
 * traced function.
 */
static void mcount_unwind_pre_handler(struct unwind_state *state, unsigned long ip)
{
	unwind_start(state, current, NULL, NULL);
	while (!unwind_done(state) && unwind_get_return_address(state) != ip)
		unwind_next_frame(state);
	unwind_next_frame(state);
}

unsigned int arch_mcount_callers(unsigned long ip, unsigned long parent_ip,
				 const struct mcount_regs *regs, u32 *callers, u32 *stacks,
				 unsigned int max)
{
	struct pt_regs regs_there;
	struct unwind_state state;
	struct mcount_place at;
	unsigned long address;
	unsigned int n = 0;

	if (IS_ENABLED(CONFIG_UNWINDER_ORC) && regs) {
		at = (struct mcount_place) {
			.ip = ip, .sp = (unsigned long)&regs->ips[1], .bp = regs->bp,
		};
		n = mcount_take_steps(&at, callers, stacks, &max);
		if (n == max)
			return n;
		mcount_unwind_from(&state, &at, &regs_there);
	} else {
		mcount_unwind_pre_handler(&state, ip);
	}
	/*
	 * The unwinder misses @parent_ip if it assumes the frame that the traced function has not
	 * made yet.
	 */
	if (!n && unwind_get_return_address(&state) != parent_ip) {
		callers[n] = parent_ip;
		if (stacks)
			stacks[n] = (unsigned long)unwind_get_return_address_ptr(&state);
		n++;
	}
	for (; n < max && !unwind_done(&state); unwind_next_frame(&state)) {
		address = unwind_get_return_address(&state);
		if (!address)
			break;
		callers[n] = address;
		if (stacks)
			stacks[n] = (unsigned long)unwind_get_return_address_ptr(&state);
		n++;
	}
	return n;
}
