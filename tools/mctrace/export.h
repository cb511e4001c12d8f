/* SPDX-License-Identifier: GPL-2.0 */
/* What other programs read: a file for each, which exports in the form of one. */
#ifndef _MCTRACE_EXPORT_H
#define _MCTRACE_EXPORT_H

#include <stdio.h>

#include "view.h"

struct walker;

/* Into @output, a file or a new directory; NULL: standard output. Ends if it can't. */
void export_folded(struct view *view, const char *output);
void export_json(struct view *view, const char *output);
void export_speedscope(struct view *view, const char *output);
void export_perfetto(struct view *view, const char *output);
void export_uftrace(struct view *view, const char *output);
void export_trace_dat(struct view *view, const char *output);
void export_ctf(struct view *view, const char *output);

/* --- what they share, in export.c --- */

/* A file for what is exported; and its end. */
FILE *export_open(const char *output);
void export_close(FILE *to, const char *output);
/* A new directory, and a file in it. */
void export_directory(const char *output);
FILE *export_in(const char *output, const char *name);

#endif /* _MCTRACE_EXPORT_H */
