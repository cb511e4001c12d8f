/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tables of command-line options: tools/lib/subcmd parses the tables, and --help prints them. Shell
 * completion reads --help, and a test compares the man pages with --help. A letter means the same
 * in all tables.
 */
#ifndef _MCTRACE_OPTIONS_H
#define _MCTRACE_OPTIONS_H

/* parse-options.h needs these from the kernel's linux/kernel.h, which user space lacks. */
#ifndef BUILD_BUG_ON_ZERO
#define BUILD_BUG_ON_ZERO(e)	((int)sizeof(struct { int:(-!!(e)); }))
#endif
#ifndef __noreturn
#define __noreturn		__attribute__((__noreturn__))
#endif

#include "subcmd/parse-options.h"

/* A text; @v is a const char *. */
#define OPT_TEXT(s, l, v, a, h) \
	{ .type = OPTION_STRING, .short_name = (s), .long_name = (l), \
	  .value = check_vtype(v, const char **), .argh = (a), .help = (h), \
	  .flags = PARSE_OPT_NONEG }
/* A number; @v is an unsigned long. */
#define OPT_NUMBER(s, l, v, a, h) \
	OPT_CALL(s, l, check_vtype(v, unsigned long *), a, h, option_take_number)
/* As OPT_NUMBER(), but at least 1: 0 means that the option was not given. */
#define OPT_COUNT(s, l, v, a, h) \
	OPT_CALL(s, l, check_vtype(v, unsigned long *), a, h, option_take_count)
/* One of the words in @a, which are separated by '|'. */
#define OPT_WORD(s, l, v, a, h) \
	OPT_CALL(s, l, check_vtype(v, const char **), a, h, option_take_word)
/* @f parses the argument. It ends mctrace if the argument is wrong, and else returns 0. */
#define OPT_CALL(s, l, v, a, h, f) \
	{ .type = OPTION_CALLBACK, .short_name = (s), .long_name = (l), .value = (v), \
	  .argh = (a), .help = (h), .callback = (f), .flags = PARSE_OPT_NONEG }
#define OPT_CALL_HIDDEN(s, l, v, f) \
	{ .type = OPTION_CALLBACK, .short_name = (s), .long_name = (l), .value = (v), \
	  .help = "", .callback = (f), .flags = PARSE_OPT_NONEG | PARSE_OPT_HIDDEN }
/* An option of other tools or of older versions: @h names the option to use instead. */
#define OPT_INSTEAD(s, l, h) \
	{ .type = OPTION_CALLBACK, .short_name = (s), .long_name = (l), .help = (h), \
	  .callback = option_instead, \
	  .flags = PARSE_OPT_NONEG | PARSE_OPT_HIDDEN | PARSE_OPT_OPTARG }

parse_opt_cb option_take_number, option_take_count, option_take_word, option_instead;

/* The end of each table of options: --help. */
extern const struct option common_options[];

/* Return the name of the command being parsed, for die_usage(). */
const char *option_command(void);

enum {
	OPTIONS_ANYWHERE,
	OPTIONS_FIRST,		/* stop at the first argument: a command with options of its own */
};

/*
 * options_parse() - Parse the options of the command @argv[0]
 * @usage: what follows "mctrace " in the first line of --help
 * @help: the lines of --help below @usage
 * @where: OPTIONS_ANYWHERE or OPTIONS_FIRST
 *
 * Remove the options from @argv, and end @argv with NULL. Return the new argc: 1 if there are no
 * arguments. Wrong options end mctrace with EXIT_USAGE.
 */
int options_parse(int argc, char **argv, const struct option *options, const char *usage,
		  const char *help, int where);

#endif /* _MCTRACE_OPTIONS_H */
