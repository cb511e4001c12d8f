/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tables of options: tools/lib/subcmd parses them, and --help prints them. Completion reads
 * --help, and a test compares the man pages with it. A letter means the same in all tables.
 */
#ifndef _MCTRACE_OPTIONS_H
#define _MCTRACE_OPTIONS_H

/* What parse-options.h takes from the kernel's own linux/kernel.h, which is not the system's. */
#ifndef BUILD_BUG_ON_ZERO
#define BUILD_BUG_ON_ZERO(e)	((int)sizeof(struct { int:(-!!(e)); }))
#endif
#ifndef __noreturn
#define __noreturn		__attribute__((__noreturn__))
#endif

#include "subcmd/parse-options.h"

/* A text, as it is typed. */
#define OPT_TEXT(s, l, v, a, h) \
	{ .type = OPTION_STRING, .short_name = (s), .long_name = (l), \
	  .value = check_vtype(v, const char **), .argh = (a), .help = (h), \
	  .flags = PARSE_OPT_NONEG }
/* A number; @v is an unsigned long. */
#define OPT_NUMBER(s, l, v, a, h) \
	OPT_CALL(s, l, check_vtype(v, unsigned long *), a, h, option_take_number)
/* One of the words in @a, which '|' divides. */
#define OPT_WORD(s, l, v, a, h) \
	OPT_CALL(s, l, check_vtype(v, const char **), a, h, option_take_word)
/* @f takes the argument; it ends if that is wrong, or returns 0. */
#define OPT_CALL(s, l, v, a, h, f) \
	{ .type = OPTION_CALLBACK, .short_name = (s), .long_name = (l), .value = (v), \
	  .argh = (a), .help = (h), .callback = (f), .flags = PARSE_OPT_NONEG }
#define OPT_CALL_HIDDEN(s, l, v, f) \
	{ .type = OPTION_CALLBACK, .short_name = (s), .long_name = (l), .value = (v), \
	  .help = "", .callback = (f), .flags = PARSE_OPT_NONEG | PARSE_OPT_HIDDEN }
/* A word of other tools, or of older versions: @h names the one to type. */
#define OPT_INSTEAD(s, l, h) \
	{ .type = OPTION_CALLBACK, .short_name = (s), .long_name = (l), .help = (h), \
	  .callback = option_instead, \
	  .flags = PARSE_OPT_NONEG | PARSE_OPT_HIDDEN | PARSE_OPT_OPTARG }

parse_opt_cb option_take_number, option_take_word, option_instead;

/* The end of all tables: --help. */
extern const struct option common_options[];

/* Return the command whose options are parsed, for die_usage(). */
const char *option_command(void);

enum {
	OPTIONS_ANYWHERE,
	OPTIONS_FIRST,		/* the first argument ends them: it is a command with its own */
};

/*
 * Parse the options of the command @argv[0] and leave its arguments behind it, ended by NULL.
 * @usage is what follows "mctrace " in the first line of --help, @help are the lines below it.
 * Return the new argc: 1 if there are no arguments. Wrong options end mctrace with EXIT_USAGE.
 */
int options_parse(int argc, char **argv, const struct option *options, const char *usage,
		  const char *help, int where);

#endif /* _MCTRACE_OPTIONS_H */
