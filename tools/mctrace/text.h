/* SPDX-License-Identifier: GPL-2.0 */
/* Events as the lines that the kernel's own trace has, to the byte. */
#ifndef _MCTRACE_TEXT_H
#define _MCTRACE_TEXT_H

#include <stdio.h>

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
void text_event(struct text *text, const struct event *event, const struct view *view, FILE *to);
void text_free(struct text *text);

#endif /* _MCTRACE_TEXT_H */
