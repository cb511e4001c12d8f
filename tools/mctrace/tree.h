/* SPDX-License-Identifier: GPL-2.0 */
/* A recording as trees of calls: what each task has done, between two changes of the task. */
#ifndef _MCTRACE_TREE_H
#define _MCTRACE_TREE_H

#include <stdio.h>

#include "view.h"

/* @most: so many calls; 0: all. */
void tree_print(const struct view *view, uint64_t most, FILE *to);

#endif /* _MCTRACE_TREE_H */
