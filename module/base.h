/* SPDX-License-Identifier: GPL-2.0 */
/* What the series has the rest of the kernel call, done from outside; and marks of tasks. */
#ifndef _MCTRACER_BASE_H
#define _MCTRACER_BASE_H

#include <linux/types.h>

struct task_struct;

/*
 * compat.c: when the module goes @undo(@arg) is called; if that is a @file, which users have, before
 * the tracer is stopped, else behind.
 */
void mctracer_undo_later(bool file, void (*undo)(void *arg), void *arg);

/* base.c: 0 or an error; when it has stopped nothing of it runs. */
int mctracer_base_start(void);
void mctracer_base_stop(void);

/* marks.c */

/* A task that begins to run has the marks that it inherits; one that has gone has none. Any context. */
void mctracer_marks_fork(struct task_struct *parent, struct task_struct *child);
void mctracer_marks_forget(const struct task_struct *task);
int mctracer_marks_alloc(void);
void mctracer_marks_free(void);

#endif /* _MCTRACER_BASE_H */
