/* SPDX-License-Identifier: GPL-2.0 */
/* Values as JSON. */
#ifndef _MCTRACE_JSON_H
#define _MCTRACE_JSON_H

#include <stdbool.h>

#include "buffer.h"

/* In quotes. What is no UTF-8 becomes U+FFFD. */
void json_string(struct buffer *to, const char *text);
/* "name": value, with a comma before it unless it is the first in its braces. */
void json_text(struct buffer *to, const char *name, const char *value);
void json_number(struct buffer *to, const char *name, uint64_t value);
/*
 * A function, by @text, as symbol->text or its title: "@name", and what that is made of, where
 * @text has it: "name", "offset" and "module", or "@name_name" and so on unless @name is
 * "function".
 */
void json_function(struct buffer *to, const char *name, const char *text);
/* The same in braces, with a comma before it unless it is the first in its brackets. */
void json_step(struct buffer *to, const char *text);
void json_bool(struct buffer *to, const char *name, bool value);

#endif /* _MCTRACE_JSON_H */
