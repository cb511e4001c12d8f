/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What all commands that show a recording share: the file, its names, the output, and its format.
 */
#ifndef _MCTRACE_VIEW_H
#define _MCTRACE_VIEW_H

#include <stdbool.h>

#include "options.h"
#include "recording.h"
#include "symbols.h"

struct view {
	struct recording *from;
	struct symbols *symbols;
	bool json;		/* JSON Lines, not text */
	bool color;
	struct select *select;	/* NULL: everything */
	bool check_later;	/* check the selection later: another view may match it */
	bool no_pager;
	unsigned int width;	/* of the terminal, in characters */
	int pager;		/* pid of the pager; 0: none */
	bool counted;		/* lost calls were reported already */
};

/* The values of view_options, for all views. */
extern struct view_asked {
	const char *input;	/* NULL: the usual file */
	const char *kallsyms;	/* symbols for recordings without any */
	const char *color;	/* "yes", "no" or "auto" */
	bool json, no_pager;
} view_asked;

/* The end of the option tables of commands that show a recording. */
extern const struct option view_options[];

/* Open @file (NULL: --input, or the default file); output may begin then. */
void view_open(struct view *view, const char *file);
/* As view_open(), with a recording that is open already. */
void view_begin(struct view *view, struct recording *from);
/* Print a line as a heading. */
void view_heading(const struct view *view, const char *text);
/* Show the progress @done, from 0 to 1, if the command takes long. */
void view_progress(const struct view *view, double done);
/* Finish the output, free the view, and return an exit status. */
int view_close(struct view *view);

/* End mctrace if no function of this name was met. Call this after walking the whole recording. */
void check_function(const struct view *view, const char *name);
/*
 * End mctrace with the reason why the function has no calls. @meant: a similar name that has calls,
 * or NULL.
 */
void die_not_called(const struct view *view, const char *name, const char *meant)
	__attribute__((noreturn));

#endif /* _MCTRACE_VIEW_H */
