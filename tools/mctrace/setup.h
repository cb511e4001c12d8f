/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What is to be recorded, as it is asked for on the command line: the same letters for all
 * commands that record. What is set is set back by session_restore().
 */
#ifndef _MCTRACE_SETUP_H
#define _MCTRACE_SETUP_H

#include <signal.h>
#include <stdbool.h>

#define SETUP_HELP \
"  -l, --func FUNC       only functions of this name; may have *, and be repeated\n" \
"  -n, --notrace FUNC    not these\n" \
"  -g, --graph           returns, too, with the time that each call took\n" \
"  -t, --times           the exact time of each call; with --graph unless ...\n" \
"  -T, --no-times        ... this: times are estimated, which is cheaper\n" \
"  -R, --trigger LINE    FUNCTION:ACTION, as the file triggers has it\n" \
"      --rules RULES     objects, as a set of rules follows them: skb, bio, or a FILE\n" \
"      --btf FILE        the kernel's types, if it has none itself\n" \
"  -c, --context         what the CPU was doing: irqs off, preemption\n" \
"  -P, --pid PID         only this process\n" \
"  -b, --buffer-size KB  of each CPU's ring\n"

#define SETUP_LETTERS	"l:n:gtTcP:p:b:R:"

enum { SETUP_RULES = 512, SETUP_BTF };	/* no letters */

#define SETUP_OPTIONS \
	{ "rules", required_argument, NULL, SETUP_RULES }, \
	{ "btf", required_argument, NULL, SETUP_BTF }, \
	{ "func", required_argument, NULL, 'l' }, \
	{ "notrace", required_argument, NULL, 'n' }, \
	{ "graph", no_argument, NULL, 'g' }, \
	{ "times", no_argument, NULL, 't' }, \
	{ "no-times", no_argument, NULL, 'T' }, \
	{ "trigger", required_argument, NULL, 'R' }, \
	{ "context", no_argument, NULL, 'c' }, \
	{ "pid", required_argument, NULL, 'P' }, \
	{ "buffer-size", required_argument, NULL, 'b' }

struct setup {
	char *filter;		/* NULL: all */
	char *notrace;
	char *pids;
	char *triggers;
	const char *rules;	/* a set of them, which makes more triggers; NULL: none */
	const char *btf;
	bool strings;		/* set by setup_apply(): memory is recorded of arguments */
	bool graph, times, no_times, context;
	const char *kb;		/* NULL: as it is, but not less than is good for a recording */
};

/* False if it is none of these. */
bool setup_option(struct setup *setup, int letter, const char *argument);
bool setup_has_pids(const struct setup *setup);

/* A command with these options and --help alone: all of that, to where rings are to be filled. */
void setup_from(int argc, char **argv, const char *help);

/* Is nobody else tracing? Else it ends, and says how to go on. */
void setup_check_free(void);
/* SIGINT and so on come when they are wanted; what was blocked before. SIGHUP as nohup has it. */
void setup_block_signals(sigset_t *before);
/* Everything but recording itself; and then that, paused, with empty rings. */
void setup_apply(struct setup *setup);
void setup_pause(void);
/* The switch allocates the rings: smaller ones, if there is too little memory. */
void setup_switch_on(void);

#endif /* _MCTRACE_SETUP_H */
