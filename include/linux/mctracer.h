/* SPDX-License-Identifier: GPL-2.0 */
/* What mctracer has to be told by the rest of the kernel. */
#ifndef _LINUX_MCTRACER_H
#define _LINUX_MCTRACER_H

#include <linux/jump_label.h>
#include <linux/sched.h>

#ifdef CONFIG_MCTRACER

DECLARE_STATIC_KEY_FALSE(mctracer_in_use);
void __mctracer_task_changed(const struct task_struct *task);
unsigned long mctracer_inherited_pids(unsigned long pids, bool thread);

/*
 * @task has got another name or pid, or its memory is about to become a new task's: what
 * was recorded of it does not hold for what comes. Any context.
 */
static inline void mctracer_task_changed(const struct task_struct *task)
{
	if (static_branch_unlikely(&mctracer_in_use))
		__mctracer_task_changed(task);
}

/*
 * The current task has made @task, a thread of its process or the first one of a new
 * process. Under tasklist_lock.
 */
static inline void mctracer_task_forked(struct task_struct *task, bool thread)
{
	task->mctracer_pids = mctracer_inherited_pids(current->mctracer_pids, thread);
}

#else /* !CONFIG_MCTRACER */

static inline void mctracer_task_changed(const struct task_struct *task)
{
}

static inline void mctracer_task_forked(struct task_struct *task, bool thread)
{
}

#endif /* CONFIG_MCTRACER */

#endif /* _LINUX_MCTRACER_H */
