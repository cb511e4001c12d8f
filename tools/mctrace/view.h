/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What all commands that show a recording have in common: its file, the names in it, where the
 * output goes, and how it is to look.
 */
#ifndef _MCTRACE_VIEW_H
#define _MCTRACE_VIEW_H

#include <getopt.h>
#include <stdbool.h>

#include "recording.h"
#include "symbols.h"

struct view {
	struct recording *from;
	struct symbols *symbols;
	bool json;		/* JSON Lines, not text */
	bool color;
	const char *task;	/* only of this name or pid; NULL: all */
	/* As asked for. */
	bool no_pager;
	const char *color_when;	/* "yes", "no" or "auto" */
	int pager;		/* its process; 0: there is none */
	bool counted;		/* what is missing has been said */
};

#define VIEW_HELP \
"  --task NAME|PID       only what this task does\n" \
"  --json                JSON Lines\n" \
"  --color yes|no|auto   auto: on a terminal; there a pager comes, too\n" \
"  --no-pager            it does not\n"

enum view_option { VIEW_JSON = 256, VIEW_COLOR, VIEW_NO_PAGER, VIEW_TASK, VIEW_OPTIONS_END };

#define VIEW_OPTIONS \
	{ "json", no_argument, NULL, VIEW_JSON }, \
	{ "color", required_argument, NULL, VIEW_COLOR }, \
	{ "no-pager", no_argument, NULL, VIEW_NO_PAGER }, \
	{ "task", required_argument, NULL, VIEW_TASK }, \
	{ "input", required_argument, NULL, 'i' }, \
	{ "help", no_argument, NULL, 'h' }

/*
 * One of the options above, or else the end: @usage and @help are shown, or it is said that
 * @command has no such option.
 */
void view_option(struct view *view, int letter, const char *argument, const char *command,
		 const char *usage, const char *help);
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

struct task_calls;
/* Is it one of the tasks that are asked for? */
bool view_shows(const struct view *view, const struct task_calls *task);

#endif /* _MCTRACE_VIEW_H */
