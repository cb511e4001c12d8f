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
	const char *title;	/* of the output: the recording's path, or "3 recordings" */
	struct symbols *symbols;
	bool json;		/* JSON Lines, not text */
	bool color;
	struct select *select;	/* NULL: everything */
	struct functions *sums;	/* functions of several views; NULL: only its own */
	bool check_later;	/* check the selection later: another view may match it */
	bool no_pager;
	unsigned int width;	/* of the terminal, in characters */
	int pager;		/* pid of the pager; 0: none */
	bool counted;		/* lost calls were reported already */
	bool several;		/* see view_each() */
	struct {		/* of all recordings that were closed */
		uint64_t written, seen, lost, missed;
		bool damaged;
	} sum;
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
/*
 * view_each() - Open recordings in turn, and call a function for each
 * @files: paths, which end with NULL; none: --input, or the default file
 * @take: called for each recording that is not empty
 *
 * In all recordings of one name, a function has one id. Only one recording is open at a time, and
 * the last one stays open. End mctrace if a recording can't be read, if only some of them have
 * returns, or if the selection matches nothing.
 */
void view_each(struct view *view, char **files, void (*take)(struct view *view, void *arg),
	       void *arg);
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
