/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is to be recorded, as it is asked for on the command line: the same letters for all
 * commands that record. What is set is set back by session_restore().
 */
#ifndef _MCTRACE_SETUP_H
#define _MCTRACE_SETUP_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "options.h"

struct setup {
	char *filter;		/* NULL: all */
	char *notrace;
	char *pids;
	char *triggers;
	const char *rules;	/* a set of them, which makes more triggers; NULL: none */
	const char *btf;
	bool strings;		/* set by setup_apply(): memory is recorded of arguments */
	bool graph, times, no_times, context;
	bool self;		/* record mctrace, too */
	bool force;		/* clear frozen rings */
	const char *kb;		/* NULL: as it is, but not less than is good for a recording */
};

/* What setup_options ask for. */
extern struct setup setup_asked;
/* The end of the tables of commands that record. */
extern const struct option setup_options[];

/* A command with these options and --help alone: all of that, to where rings are to be filled. */
void setup_from(int argc, char **argv, const char *help);

/* End, and explain why, if somebody else traces, or frozen rings would be cleared. */
void setup_check_free(void);
/* End, and explain why, if the rings are frozen: they hold the last calls before a crash. */
void setup_check_frozen(bool force);
/*
 * Have the calls of processes @own, of which 0 is none, not recorded, if all processes are and
 * --self is not given. Return false if the kernel can't.
 */
bool setup_leave_out(const pid_t *own, size_t nr);
/* SIGINT and so on come when they are wanted; what was blocked before. SIGHUP as nohup has it. */
void setup_block_signals(sigset_t *before);
/* Everything but recording itself; and then that, paused, with empty rings. */
void setup_apply(struct setup *setup);
void setup_pause(void);
/* The switch allocates the rings: smaller ones, if there is too little memory. */
void setup_switch_on(void);

#endif /* _MCTRACE_SETUP_H */
