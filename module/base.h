/* SPDX-License-Identifier: GPL-2.0 */
/* Declarations of the module's own files: undoing at unload, base.c's probes, marks of tasks. */
#ifndef _MCTRACER_BASE_H
#define _MCTRACER_BASE_H

#include <linux/types.h>

struct task_struct;

/*
 * compat.c: Call @undo(@arg) when the module is unloaded. With @file, for files and sysctls that
 * users may have open, the call comes before the tracer is stopped, otherwise after. May sleep.
 */
void mctracer_undo_later(bool file, void (*undo)(void *arg), void *arg);

/* rings.c: Free the rings, as before the first start. Nothing may be recorded or read. May sleep. */
void mctracer_free_rings(void);

/*
 * reserved.c: Begin to record this boot's modules, also those that are loaded already. Called by
 * persistent.c in place of mctracer_persistent_modules_watch(). May sleep.
 */
void mctracer_compat_modules_watch(void);

/* base.c: Register probes; return 0 or an error. After mctracer_base_stop() none of them runs. */
int mctracer_base_start(void);
void mctracer_base_stop(void);

/* marks.c */

/*
 * Give @child the marks that it inherits from @parent; remove the marks of a freed task. Any
 * context.
 */
void mctracer_marks_fork(struct task_struct *parent, struct task_struct *child);
void mctracer_marks_forget(const struct task_struct *task);
int mctracer_marks_alloc(void);
void mctracer_marks_free(void);

#endif /* _MCTRACER_BASE_H */
