/* SPDX-License-Identifier: GPL-2.0 */
/* A recording as trees of calls: what each task has done, between two changes of the task. */
#ifndef _MCTRACE_TREE_H
#define _MCTRACE_TREE_H

#include <stdio.h>

#include "recording.h"
#include "symbols.h"

void tree_print(const struct recording *from, struct symbols *symbols, FILE *to);

#endif /* _MCTRACE_TREE_H */
