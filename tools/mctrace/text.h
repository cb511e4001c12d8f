/* SPDX-License-Identifier: GPL-2.0 */
/* Events as the lines that the kernel's own trace has, to the byte. */
#ifndef _MCTRACE_TEXT_H
#define _MCTRACE_TEXT_H

#include <stdio.h>

#include "buffer.h"
#include "events.h"
#include "symbols.h"
#include "view.h"

struct prototypes;
struct text;

/* As the recording's options say; the names are those of @symbols. */
struct text *text_new(const struct recording *from, struct symbols *symbols);
/* Arguments have their names and types, by these. */
void text_name_arguments(struct text *text, struct prototypes *prototypes);
/* If it is of a task that the view shows; as JSON if that is asked for. */
bool text_event(struct text *text, const struct event *event, const struct view *view, FILE *to);
void text_free(struct text *text);

/* Parts of such lines, each with a space before it: which objects it concerns, ... */
void text_objects(struct buffer *to, const struct mctracer_state *state);
/* ... what lay in memory: a string, if it may well be one, or hexadecimal digits, ... */
void text_data(struct buffer *to, const uint8_t *data, uint32_t nr);
/* ... and, with a space behind them instead, the letters of a context. */
void text_context(struct buffer *to, uint32_t context);
/* Digits alone. */
void text_hex(struct buffer *to, const uint8_t *data, uint32_t nr);

#endif /* _MCTRACE_TEXT_H */
