/* SPDX-License-Identifier: GPL-2.0 */
/* Events as lines of text. */
#ifndef _KERNEL_TRACE_MCTRACER_TEXT_H
#define _KERNEL_TRACE_MCTRACER_TEXT_H

#include <linux/mctracer.h>
#include <linux/types.h>

#include "../ring/cursor.h"
#include "../ring/ring.h"

struct seq_buf;

/* text.c: events as lines, each valid until the next one. A cache of names makes lines cheap. */
struct mctracer_text;

/*
 * Write the symbol of the return address whose low half is @low to @name, KSYM_SYMBOL_LEN bytes at
 * most. Return the length. *@lasting: the symbol stays valid until a module is loaded or unloaded.
 */
size_t mctracer_name_address(char *name, u32 low, bool *lasting);
/*
 * Allocate a formatter. Without @addresses, it hashes addresses. With @crash, it may be used in any
 * context, and allocates nothing later. Return NULL if there is no memory.
 */
struct mctracer_text *mctracer_text_alloc(bool addresses, bool crash);
void mctracer_text_free(struct mctracer_text *text);
/*
 * Set a symbolizer for addresses of another boot: @elsewhere either converts *@low to an address of
 * the running kernel and returns 0, or writes @name and returns its length. Lines then have all
 * times and contexts that were recorded, whatever the options are now.
 */
void mctracer_text_set_elsewhere(struct mctracer_text *text,
				 size_t (*elsewhere)(const void *data, char *name, u32 *low),
				 const void *data);
/* Prepare for a new sequence of events: the next one doesn't follow the last one. */
void mctracer_text_rewind(struct mctracer_text *text);
/* Return the header lines. */
const struct seq_buf *mctracer_text_header(struct mctracer_text *text,
					   const struct mctracer_ring_counts *counts);
/* Return the line of the event of @stream: missing calls before it, if any, else the event. */
const struct seq_buf *mctracer_text_event(struct mctracer_text *text,
					  const struct mctracer_stream *stream, int cpu);

#endif /* _KERNEL_TRACE_MCTRACER_TEXT_H */
