// SPDX-License-Identifier: GPL-2.0
/*
 * Record the deepest stack of all traced calls, and the functions on it. While the option max_stack
 * is on, all functions call the pre-handler. It compares the stack pointer with the lowest one so
 * far, relative to the task's stack. Interrupts that run on their own stacks are not recorded.
 */
#include <linux/atomic.h>
#include <linux/cleanup.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/kallsyms.h>
#include <linux/mcount.h>
#include <linux/preempt.h>
#include <linux/processor.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "../ring/ring.h"
#include "record.h"

unsigned long mctracer_stack_left = THREAD_SIZE;

/* A lock: the context that has set it may read and write deepest. Hooks do not wait for it. */
static atomic_t taken;

static struct max_stack {
	unsigned int nr;	/* functions; 0: no stack recorded */
	u32 ips[1 + MCTRACER_FRAMES_MAX];
	u32 stacks[1 + MCTRACER_FRAMES_MAX];	/* where each is on the stack: low halves */
	u32 end;		/* of the stack */
	u32 modules;		/* mctracer_module_count() at the time */
	char comm[TASK_COMM_LEN];
	pid_t pid;
	int cpu;
} deepest;

/*
 * Return how many of @n frames are in ascending order: a guessing unwinder may return frames out of
 * order, or frames whose place is not known.
 */
static unsigned int max_stack_nr_ascending(unsigned int n)
{
	unsigned int i;

	for (i = 1; i < n && deepest.stacks[i] > deepest.stacks[i - 1]; i++)
		;
	return i;
}

static void max_stack_record(const unsigned long *ips, const struct mcount_regs *regs)
{
	unsigned int n = arch_mcount_callers(ips[0], ips[1], regs, deepest.ips + 1,
					     deepest.stacks + 1, MCTRACER_FRAMES_MAX);

	deepest.ips[0] = ips[0];
	deepest.stacks[0] = (unsigned long)&ips[0];
	deepest.stacks[1] = (unsigned long)&ips[1];
	deepest.nr = max_stack_nr_ascending(1 + n);
	deepest.end = (unsigned long)task_stack_page(current) + THREAD_SIZE;
	deepest.modules = mctracer_module_count();
	memcpy(deepest.comm, current->comm, TASK_COMM_LEN - 1);
	deepest.pid = current->pid;
	deepest.cpu = raw_smp_processor_id();
}

void mctracer_max_stack_record(const unsigned long *ips, const struct mcount_regs *regs)
{
	unsigned long left = (unsigned long)ips - (unsigned long)task_stack_page(current);

	if (left >= READ_ONCE(mctracer_stack_left) || !mctracer_is_on() ||
	    !mctracer_task_traced(current) || atomic_xchg_acquire(&taken, true))
		return;
	if (left < mctracer_stack_left) {
		WRITE_ONCE(mctracer_stack_left, left);
		max_stack_record(ips, regs);
	}
	atomic_set_release(&taken, false);
}

/* Lock deepest. With preemption disabled. */
static void max_stack_lock(void)
{
	while (atomic_xchg_acquire(&taken, true))
		cpu_relax();
}

static void max_stack_unlock(void)
{
	atomic_set_release(&taken, false);
}

void mctracer_max_stack_clear(void)
{
	guard(preempt_notrace)();
	max_stack_lock();
	deepest.nr = 0;
	WRITE_ONCE(mctracer_stack_left, THREAD_SIZE);
	max_stack_unlock();
}

/* Print a line in the format of ftrace's stack_trace. */
static void max_stack_show_function(struct seq_file *m, const struct max_stack *stack,
				    unsigned int i,
				    size_t (*name_address)(char *name, u32 low, bool *lasting))
{
	u32 depth = stack->end - stack->stacks[i];
	u32 below = i + 1 < stack->nr ? stack->end - stack->stacks[i + 1] : 0;
	char name[KSYM_SYMBOL_LEN] = "[unknown]";
	bool lasting;

	if (mctracer_module_was_there((unsigned long)(long)(s32)stack->ips[i], stack->modules))
		name_address(name, stack->ips[i], &lasting);
	seq_printf(m, "%3u) %8u   %5u   %s\n", i, depth, depth - below, name);
}

int mctracer_max_stack_show(struct seq_file *m,
			    size_t (*name_address)(char *name, u32 low, bool *lasting))
{
	struct max_stack *stack __free(kfree) = kmalloc(sizeof(*stack), GFP_KERNEL);
	unsigned int i;

	if (!stack)
		return -ENOMEM;
	scoped_guard(preempt_notrace) {
		max_stack_lock();
		*stack = deepest;
		max_stack_unlock();
	}
	if (!stack->nr) {
		seq_puts(m, mctracer_option(MCTRACER_OPT_MAX_STACK) ? "# nothing yet\n" :
								   "# echo max_stack > options\n");
		return 0;
	}
	seq_printf(m, "# CPU %d: %*pE:%d, of %lu bytes\n", stack->cpu, (int)strlen(stack->comm),
		   stack->comm, stack->pid, THREAD_SIZE);
	seq_printf(m, "        Depth    Size   Location    (%u entries)\n", stack->nr);
	seq_puts(m, "        -----    ----   --------\n");
	for (i = 0; i < stack->nr; i++)
		max_stack_show_function(m, stack, i, name_address);
	return 0;
}
