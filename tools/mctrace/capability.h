/* SPDX-License-Identifier: GPL-2.0 */
/* What this process may do: a container's root may do less than root. */
#ifndef _MCTRACE_CAPABILITY_H
#define _MCTRACE_CAPABILITY_H

#include <stdbool.h>

/* Return true if this process has a capability, CAP_... of linux/capability.h, or it is unknown. */
bool has_capability(unsigned int nr);

#endif /* _MCTRACE_CAPABILITY_H */
