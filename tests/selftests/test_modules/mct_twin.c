// SPDX-License-Identifier: GPL-2.0
/*
 * mct_target with other names. If this module is loaded after mct_target was unloaded,
 * its functions are likely to have the same addresses.
 */
#define mct_target_leaf		mct_twin_leaf
#define mct_target_branch	mct_twin_branch
#define mct_target_init_step	mct_twin_init_step

#include "mct_target.c"
