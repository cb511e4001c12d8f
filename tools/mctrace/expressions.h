/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Expressions that select functions, in the form of the tracer's files. There a blank separates a
 * name from its module, "NAME [MODULE]". mctrace's options also take "NAME[MODULE]".
 */
#ifndef _MCTRACE_EXPRESSIONS_H
#define _MCTRACE_EXPRESSIONS_H

#include <stdbool.h>

/*
 * Return @text, a list for filter or notrace, or, if @triggers, lines for triggers, in the kernel's
 * form. Brackets at the end of a name are a module if the module has such a function, and a set of
 * characters if a function has such a name: one expression becomes two if both is true. The caller
 * frees the text.
 */
char *expressions_for_kernel(const char *text, bool triggers);

#endif /* _MCTRACE_EXPRESSIONS_H */
