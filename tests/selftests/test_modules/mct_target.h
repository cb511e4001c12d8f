/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions of mct_target.c, which other modules may call.
 */
#ifndef _MCT_TARGET_H
#define _MCT_TARGET_H

/* Return @n + 1. */
int mct_target_leaf(int n);

/* Call mct_target_leaf() once and return @n + 2. */
int mct_target_branch(int n);

#endif /* _MCT_TARGET_H */
