/* SPDX-License-Identifier: GPL-2.0 */
/* Strings that arguments point to, where the kernel's types say that they do. */
#ifndef _MCTRACE_STRINGS_H
#define _MCTRACE_STRINGS_H

#include "prototypes.h"

/*
 * More lines for the file "triggers": of each function whose arguments are to be recorded by
 * @triggers, also the string among them. @functions: as the tracer's file has them. To be freed;
 * empty if there are none, or if @triggers ask for other memory.
 */
char *strings_triggers(const char *triggers, const char *functions, struct prototypes *types);

#endif /* _MCTRACE_STRINGS_H */
