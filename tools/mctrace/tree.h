/* SPDX-License-Identifier: GPL-2.0 */
/* Print a recording as trees of calls: what each task did between two task switches. */
#ifndef _MCTRACE_TREE_H
#define _MCTRACE_TREE_H

#include <stdio.h>

#include "view.h"

/* Print at most @most calls; 0: all. With @times begin the line of each call with a time. */
void tree_print(const struct view *view, uint64_t most, bool times, FILE *to);

#endif /* _MCTRACE_TREE_H */
