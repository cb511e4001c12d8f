/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What mcount's core offers to its control files.
 */
#ifndef _KERNEL_TRACE_MCOUNT_H
#define _KERNEL_TRACE_MCOUNT_H

#include <linux/types.h>

/* Whether mcount is enabled, be a hook registered or not. May sleep. */
bool mcount_is_enabled(void);

/* On return of a disabling call no hook is running. May sleep. */
void mcount_set_enabled(bool enable);

#endif /* _KERNEL_TRACE_MCOUNT_H */
