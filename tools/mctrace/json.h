/* SPDX-License-Identifier: GPL-2.0 */
/* Write values as JSON. */
#ifndef _MCTRACE_JSON_H
#define _MCTRACE_JSON_H

#include <stdbool.h>

#include "buffer.h"

/* Append a string in quotes. Bytes that are not valid UTF-8 become U+FFFD. */
void json_string(struct buffer *to, const char *text);
/* Append "name": value, with a comma before unless it is the first in its braces. */
void json_text(struct buffer *to, const char *name, const char *value);
void json_number(struct buffer *to, const char *name, uint64_t value);
/*
 * Append a task's name: @name is the key, and the value has the form that comm_clean() makes.
 * json_task() appends "comm" and "pid".
 */
void json_comm(struct buffer *to, const char *name, const char *comm);
void json_task(struct buffer *to, const char *comm, uint32_t pid);
/*
 * Append a function: the key "@name" with @text, a symbol's text or title, and the parts of @text:
 * "name", and "offset" and "module" if there. If @name is not "function", the keys of the parts
 * begin with it: "@name_name".
 */
void json_function(struct buffer *to, const char *name, const char *text);
/* Append a function in braces, with a comma before unless it is the first in its brackets. */
void json_step(struct buffer *to, const char *text);
void json_bool(struct buffer *to, const char *name, bool value);

#endif /* _MCTRACE_JSON_H */
