/* SPDX-License-Identifier: GPL-2.0 */
/* Make triggers that record strings which arguments point to, by the kernel's types. */
#ifndef _MCTRACE_STRINGS_H
#define _MCTRACE_STRINGS_H

#include "prototypes.h"

/*
 * strings_triggers() - Return more lines for the file "triggers"
 * @triggers: lines of "triggers" that record arguments
 * @functions: content of the tracer's file "functions"
 * @types: the kernel's types
 *
 * For each function whose arguments @triggers record, record the string among the arguments, too.
 * Return "" if there are none, or if @triggers record other memory. The caller frees the text.
 */
char *strings_triggers(const char *triggers, const char *functions, struct prototypes *types);

#endif /* _MCTRACE_STRINGS_H */
