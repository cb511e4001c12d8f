/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions to look for in a trace.
 */
#ifndef _MCT_TARGET_H
#define _MCT_TARGET_H

/* Returns n + 1. */
int mct_target_leaf(int n);

/* Calls mct_target_leaf() once; returns n + 2. */
int mct_target_branch(int n);

#endif /* _MCT_TARGET_H */
