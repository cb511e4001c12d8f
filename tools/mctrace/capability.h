/* SPDX-License-Identifier: GPL-2.0 */
/* The capabilities of this process: root in a container may lack some. */
#ifndef _MCTRACE_CAPABILITY_H
#define _MCTRACE_CAPABILITY_H

#include <stdbool.h>

/* Return true if this process has capability @nr (CAP_...), or if that can't be read. */
bool has_capability(unsigned int nr);

#endif /* _MCTRACE_CAPABILITY_H */
