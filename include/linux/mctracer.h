/* SPDX-License-Identifier: GPL-2.0 */
/* Calls by which the rest of the kernel reports to mctracer: changes of tasks, and crashes. */
#ifndef _LINUX_MCTRACER_H
#define _LINUX_MCTRACER_H

#include <linux/jump_label.h>
#include <linux/sched.h>

/* Events for which mctracer stops recording, so that the calls before the event are kept. */
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
 * Report that @task has a new name or pid, or that its memory is about to become a new task's:
 * mctracer must record the task's name and pid again. Any context.
 */
static inline void mctracer_task_changed(const struct task_struct *task)
{
	if (static_branch_unlikely(&mctracer_in_use))
		__mctracer_task_changed(task);
}

/**
 * mctracer_freeze() - stop recording, so that the calls before @crash are kept
 * @crash: the event
 *
 * Call this before anything is printed about the event. It does nothing if the rings are frozen
 * already or nothing is recorded. They stay frozen until a user thaws them through one of
 * mctracer's files.
 *
 * Context: any, NMIs included; takes no lock.
 */
static inline void mctracer_freeze(enum mctracer_crash crash)
{
	if (static_branch_unlikely(&mctracer_in_use))
		__mctracer_freeze(crash, true);
}

/**
 * mctracer_may_freeze() - stop recording if the option for @crash is set, or the kernel panics
 * @crash: the event, after which the kernel may continue to run
 * @panics: the kernel is going to panic because of @crash
 *
 * Context: as mctracer_freeze().
 */
static inline void mctracer_may_freeze(enum mctracer_crash crash, bool panics)
{
	if (static_branch_unlikely(&mctracer_in_use))
		__mctracer_freeze(crash, panics);
}

/*
 * Get and set the expressions of the file "pid" that match the task, one bit for each. Get: any
 * context. Set: under tasklist_lock. Code that can't add a field to struct task_struct defines its
 * own functions.
 */
#ifndef mctracer_task_pids
static inline unsigned long mctracer_task_pids(const struct task_struct *task)
{
	return READ_ONCE(task->mctracer_pids);
}

/* Return false if the task can't be marked, which happens in the module only. */
static inline bool mctracer_set_task_pids(struct task_struct *task, unsigned long pids)
{
	WRITE_ONCE(task->mctracer_pids, pids);
	return true;
}

/* Return how many new tasks could not be marked. */
static inline unsigned long mctracer_tasks_left_out(void)
{
	return 0;
}
#endif

/*
 * Report that the current task has created @task, as a thread of its own process if @thread, else
 * as the first thread of a new process. Under tasklist_lock.
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
