/* SPDX-License-Identifier: GPL-2.0 */
/* Print events as the lines of the kernel's own trace, byte for byte, or as JSON. */
#ifndef _MCTRACE_TEXT_H
#define _MCTRACE_TEXT_H

#include <stdio.h>

#include "buffer.h"
#include "events.h"
#include "symbols.h"
#include "view.h"

struct prototypes;
struct text;

/* Return a printer that uses the recording's options and the names in @symbols. */
struct text *text_new(const struct recording *from, struct symbols *symbols);
/* Print arguments with the names and types in @prototypes. */
void text_name_arguments(struct text *text, struct prototypes *prototypes);
/* Print @event if @view selects it, as a line or as JSON. Return true if it was printed. */
bool text_event(struct text *text, const struct event *event, const struct view *view, FILE *to);
void text_free(struct text *text);

/* Append a time in seconds, with nine decimals. */
void text_seconds(struct buffer *to, uint64_t ns);
/* Append parts of a line, each with a space before it: the objects of the event. */
void text_objects(struct buffer *to, const struct mctracer_state *state);
/* Append recorded memory: a string if it looks like one, or hexadecimal digits. */
void text_data(struct buffer *to, const uint8_t *data, uint32_t nr);
/* Append the letters of a context, with a space behind instead. */
void text_context(struct buffer *to, uint32_t context);
/* Append hexadecimal digits only. */
void text_hex(struct buffer *to, const uint8_t *data, uint32_t nr);

#endif /* _MCTRACE_TEXT_H */
