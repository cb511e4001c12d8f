/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Set the tracer up as the command line asks: the options that all recording commands share.
 * session_restore() restores all settings.
 */
#ifndef _MCTRACE_SETUP_H
#define _MCTRACE_SETUP_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "options.h"

struct setup {
	char *filter;		/* NULL: all functions */
	char *notrace;
	char *pids;
	char *triggers;
	const char *rules;	/* a set of rules, which adds triggers; NULL: none */
	const char *btf;
	bool strings;		/* set by setup_apply(): strings of arguments are recorded */
	bool graph, times, no_times, context;
	bool self;		/* record mctrace, too */
	bool force;		/* clear frozen rings */
	const char *kb;		/* NULL: as it is, but at least RING_KB */
	bool chosen_kb;		/* the user chose the size: no smaller rings will do */
};

/* The values of setup_options. */
extern struct setup setup_asked;
/* The end of the option tables of commands that record. */
extern const struct option setup_options[];

/*
 * Parse the options of a command without arguments, lock the tracer, and set it up. @options ends
 * with setup_options.
 */
void setup_from(int argc, char **argv, const struct option *options, const char *help);

/* End mctrace with a reason if another user traces, or if frozen rings would be cleared. */
void setup_check_free(void);
/*
 * End mctrace with a reason if the rings are frozen, because they hold the last calls before a
 * crash. Do nothing if @force.
 */
void setup_check_frozen(bool force);
/*
 * Exclude the calls of processes @own (0: none) from recording, if all processes are recorded and
 * --self is not given. Return false and set errno if the kernel can't.
 */
bool setup_leave_out(const pid_t *own, size_t nr);
/*
 * Block those signals of setup_block_signals() that are ignored, as a shell's background job
 * ignores SIGINT and SIGQUIT. They stay pending, and end recording later; unblocking one drops it.
 * Other signals still end mctrace. Store the previous mask in @before, without the blocked signals.
 */
void setup_block_ignored(sigset_t *before);
/*
 * Block SIGINT, SIGTERM and SIGQUIT, and SIGHUP unless it is ignored, as under nohup. Store the
 * previous mask in @before.
 */
void setup_block_signals(sigset_t *before);
/* Write all settings; then, in setup_pause(), switch the tracer on, paused, with empty rings. */
void setup_apply(struct setup *setup);
void setup_pause(void);
/*
 * Switch the tracer on, which allocates the rings. Without enough memory, retry with smaller rings.
 */
void setup_switch_on(void);

#endif /* _MCTRACE_SETUP_H */
