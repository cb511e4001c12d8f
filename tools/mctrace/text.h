/* SPDX-License-Identifier: GPL-2.0 */
/* Events as the lines that the kernel's own trace has, to the byte. */
#ifndef _MCTRACE_TEXT_H
#define _MCTRACE_TEXT_H

#include <stdio.h>

#include "events.h"
#include "symbols.h"

struct text;

/* As the recording's options say; the names are those of @symbols. */
struct text *text_new(const struct recording *from, struct symbols *symbols);
void text_event(struct text *text, const struct event *event, FILE *to);
void text_free(struct text *text);

/* "CPU 2: hackbench:11867 ", with what would break the line replaced; until the next call. */
const char *text_who(const struct mctracer_state *state, unsigned int cpu, size_t *length);

#endif /* _MCTRACE_TEXT_H */
