/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What all commands that show a recording have in common: its file, the names in it, where the
 * output goes, and how it is to look.
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
	struct select *select;	/* NULL: all of it */
	bool check_later;	/* what is selected may be in another view */
	bool no_pager;
	unsigned int width;	/* of the terminal, in characters */
	int pager;		/* its process; 0: there is none */
	bool counted;		/* what is missing has been said */
};

/* What the options ask for, which all views get. */
extern struct view_asked {
	const char *input;	/* NULL: the usual file */
	const char *kallsyms;	/* names for what has none */
	const char *color;	/* "yes", "no" or "auto" */
	bool json, no_pager;
} view_asked;

/* The end of the tables of commands that show a recording. */
extern const struct option view_options[];

/* Opens the file (NULL: that of --input, or the usual one); the output may begin then. */
void view_open(struct view *view, const char *file);
/* The same, of what is open already. */
void view_begin(struct view *view, struct recording *from);
/* A line above what follows. */
void view_heading(const struct view *view, const char *text);
/* So much of all has been gone through; who waits long is told. */
void view_progress(const struct view *view, double done);
/* The output is whole; an exit status. */
int view_close(struct view *view);

/* Ends if no function of this name was met; to be called when all of it was gone through. */
void check_function(const struct view *view, const char *name);
/* End, with the reason why this function has no calls. @meant: a similar one that has, or NULL. */
void die_not_called(const struct view *view, const char *name, const char *meant)
	__attribute__((noreturn));

#endif /* _MCTRACE_VIEW_H */
