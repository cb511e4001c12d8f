/* SPDX-License-Identifier: GPL-2.0 */
/* What mctracer has to be told by the rest of the kernel. */
#ifndef _LINUX_MCTRACER_H
#define _LINUX_MCTRACER_H

#include <linux/jump_label.h>
#include <linux/sched.h>

/* What is found out that tells that what was recorded before should be kept. */
enum mctracer_crash {
	MCTRACER_NOT_FROZEN,
	MCTRACER_OOPS,
	MCTRACER_PANIC,
	MCTRACER_WARNING,
	MCTRACER_HUNG_TASK,
	MCTRACER_SOFT_LOCKUP,
	MCTRACER_HARD_LOCKUP,
	MCTRACER_SYSRQ,
};

#ifdef CONFIG_MCTRACER

DECLARE_STATIC_KEY_FALSE(mctracer_in_use);
void __mctracer_task_changed(const struct task_struct *task);
void __mctracer_freeze(enum mctracer_crash crash, bool always);
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

/**
 * mctracer_freeze() - record nothing more, so that what was recorded before @crash is kept
 * @crash: what has happened
 *
 * To be called before anything is printed of it. Nothing happens if it is frozen already, or
 * nothing is being recorded. Until somebody thaws it by one of its files.
 *
 * Context: any, NMIs included; takes no lock.
 */
static inline void mctracer_freeze(enum mctracer_crash crash)
{
	if (static_branch_unlikely(&mctracer_in_use))
		__mctracer_freeze(crash, true);
}

/**
 * mctracer_may_freeze() - the same, if the option for it is set, or a panic follows
 * @crash: what has happened, which need not be the end
 * @panics: the kernel is going to panic for it
 *
 * Context: as mctracer_freeze().
 */
static inline void mctracer_may_freeze(enum mctracer_crash crash, bool panics)
{
	if (static_branch_unlikely(&mctracer_in_use))
		__mctracer_freeze(crash, panics);
}

/*
 * Which of the expressions of the file "pid" are about the task: any context; and to change that:
 * under tasklist_lock. Who can't add to struct task_struct brings his own.
 */
#ifndef mctracer_task_pids
static inline unsigned long mctracer_task_pids(const struct task_struct *task)
{
	return READ_ONCE(task->mctracer_pids);
}

static inline void mctracer_set_task_pids(struct task_struct *task, unsigned long pids)
{
	WRITE_ONCE(task->mctracer_pids, pids);
}
#endif

/*
 * The current task has made @task, a thread of its process or the first one of a new
 * process. Under tasklist_lock.
 */
static inline void mctracer_task_forked(struct task_struct *task, bool thread)
{
	mctracer_set_task_pids(task, mctracer_inherited_pids(mctracer_task_pids(current), thread));
}

#else /* !CONFIG_MCTRACER */

static inline void mctracer_freeze(enum mctracer_crash crash)
{
}

static inline void mctracer_may_freeze(enum mctracer_crash crash, bool panics)
{
}

static inline void mctracer_task_changed(const struct task_struct *task)
{
}

static inline void mctracer_task_forked(struct task_struct *task, bool thread)
{
}

#endif /* CONFIG_MCTRACER */

#endif /* _LINUX_MCTRACER_H */
