// SPDX-License-Identifier: GPL-2.0
/*
 * From a gate: who called the function.
 */
#include <linux/kconfig.h>
#include <linux/kprobes.h>
#include <linux/mcount.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/string.h>

#include <asm/segment.h>
#include <asm/unwind.h>

/* Begin at the traced function's head: what @regs were pushed on, and ip, is all it has. */
static void begin_at_head(struct unwind_state *state, unsigned long ip,
			  const struct mcount_regs *regs)
{
	struct pt_regs head;

	memset(&head, 0, sizeof(head));
	head.ip = ip;
	head.sp = (unsigned long)(regs + 1) + sizeof(ip);
	head.bp = regs->bp;
	head.cs = __KERNEL_CS;
	unwind_start(state, current, &head, NULL);
}

NOKPROBE_SYMBOL(begin_at_head);

/* The same, from here on; frame pointers lead through the gate's frames. */
static void go_to_head(struct unwind_state *state, unsigned long ip)
{
	unwind_start(state, current, NULL, NULL);
	while (!unwind_done(state) && unwind_get_return_address(state) != ip)
		unwind_next_frame(state);
	unwind_next_frame(state);
}

NOKPROBE_SYMBOL(go_to_head);

unsigned int arch_mcount_callers(unsigned long ip, unsigned long parent_ip,
				 const struct mcount_regs *regs, u32 *callers,
				 unsigned int max)
{
	struct unwind_state state;
	unsigned long address;
	unsigned int n = 1;

	if (IS_ENABLED(CONFIG_UNWINDER_ORC) && regs)
		begin_at_head(&state, ip, regs);
	else
		go_to_head(&state, ip);
	callers[0] = parent_ip;
	/* Without a frame of its own for the traced function it is not met again. */
	if (unwind_get_return_address(&state) == parent_ip)
		unwind_next_frame(&state);
	for (; n < max && !unwind_done(&state); unwind_next_frame(&state)) {
		address = unwind_get_return_address(&state);
		if (!address)
			break;
		callers[n++] = address;
	}
	return n;
}

NOKPROBE_SYMBOL(arch_mcount_callers);
