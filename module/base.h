/* SPDX-License-Identifier: GPL-2.0 */
/* Hooks into the kernel from outside, see base.c, and the marks of tasks, see marks.c. */
#ifndef _MCTRACER_BASE_H
#define _MCTRACER_BASE_H

#include <linux/types.h>

struct task_struct;

/*
 * compat.c: call @undo(@arg) when the module is unloaded. If @file, it removes a file that users
 * see: call it before the tracer is stopped, else after that.
 */
void mctracer_undo_later(bool file, void (*undo)(void *arg), void *arg);

/* base.c: start returns 0 or an error; when stop returns, none of its callbacks runs. */
int mctracer_base_start(void);
void mctracer_base_stop(void);

/* marks.c */

/*
 * Give a new task the marks that it inherits, and remove those of a task that is freed. Any
 * context.
 */
void mctracer_marks_fork(struct task_struct *parent, struct task_struct *child);
void mctracer_marks_forget(const struct task_struct *task);
int mctracer_marks_alloc(void);
void mctracer_marks_free(void);

#endif /* _MCTRACER_BASE_H */
