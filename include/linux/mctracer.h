/* SPDX-License-Identifier: GPL-2.0 */
/* What mctracer has to be told by the rest of the kernel. */
#ifndef _LINUX_MCTRACER_H
#define _LINUX_MCTRACER_H

struct task_struct;

#ifdef CONFIG_MCTRACER

#include <linux/jump_label.h>

DECLARE_STATIC_KEY_FALSE(mctracer_note_exits);
void __mctracer_task_exit(struct task_struct *task);

/* @task, the current one, exits: its pid will soon not lead to its name. */
static inline void mctracer_task_exit(struct task_struct *task)
{
	if (static_branch_unlikely(&mctracer_note_exits))
		__mctracer_task_exit(task);
}

#else /* !CONFIG_MCTRACER */

static inline void mctracer_task_exit(struct task_struct *task)
{
}

#endif /* CONFIG_MCTRACER */

#endif /* _LINUX_MCTRACER_H */
