/* SPDX-License-Identifier: GPL-2.0 */
/* Export a recording to the formats of other programs: export_FORMAT.c writes one format. */
#ifndef _MCTRACE_EXPORT_H
#define _MCTRACE_EXPORT_H

#include <stdio.h>

#include "view.h"

struct walker;

/* Export to @output, a file or a new directory (NULL: standard output). End mctrace on failure. */
void export_json(struct view *view, const char *output);
void export_speedscope(struct view *view, const char *output);
void export_perfetto(struct view *view, const char *output);
void export_uftrace(struct view *view, const char *output);
void export_trace_dat(struct view *view, const char *output);
void export_ctf(struct view *view, const char *output);
void export_recording(struct view *view, const char *output);

/* Sum up recordings and export them: see view_each() for @files, which are opened here. */
void export_folded(struct view *view, char **files, const char *output);
void export_pprof(struct view *view, char **files, const char *output);

/* --- shared by the formats, in export.c; failures end mctrace --- */

/*
 * Create the directory @output, with a temporary name; and a file in the directory, and flush and
 * close such a file.
 */
void export_directory(const char *output);
FILE *export_in(const char *name);
void export_close(FILE *to, const char *path);

#endif /* _MCTRACE_EXPORT_H */
