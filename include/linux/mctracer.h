/* SPDX-License-Identifier: GPL-2.0 */
/* What mctracer has to be told by the rest of the kernel. */
#ifndef _LINUX_MCTRACER_H
#define _LINUX_MCTRACER_H

struct task_struct;

#ifdef CONFIG_MCTRACER

#include <linux/jump_label.h>

DECLARE_STATIC_KEY_FALSE(mctracer_note_exits);
void __mctracer_pid_ends(struct task_struct *task);

/*
 * @task, the current one, exits or is about to get another pid: this one will soon
 * not lead to its name.
 */
static inline void mctracer_pid_ends(struct task_struct *task)
{
	if (static_branch_unlikely(&mctracer_note_exits))
		__mctracer_pid_ends(task);
}

#else /* !CONFIG_MCTRACER */

static inline void mctracer_pid_ends(struct task_struct *task)
{
}

#endif /* CONFIG_MCTRACER */

#endif /* _LINUX_MCTRACER_H */
