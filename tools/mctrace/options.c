// SPDX-License-Identifier: GPL-2.0
/* Parse and print tables of options, by tools/lib/subcmd, and turn its messages into mctrace's. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options.h"
#include "subcmd/pager.h"
#include "util.h"

#define COLUMN	24	/* column of an option's description */

static struct {
	const char *command, *usage, *help;
	const struct option *options;
	FILE *messages;		/* stderr, while subcmd writes into memory; else NULL */
	char *text;
	size_t size;
} parsing;

const char *option_command(void)
{
	return parsing.command;
}

/* Return the option after @option, continuing in the parent tables; NULL at the end. */
static const struct option *next_option(const struct option *option)
{
	for (option++; option->type == OPTION_END; option = option->parent)
		if (!option->parent)
			return NULL;
	return option;
}

static const struct option *first_option(const struct option *options)
{
	while (options->type == OPTION_END)
		options = options->parent;
	return options;
}

/* --- help --- */

/* Print @text from COLUMN on, wrapped at the terminal's width. */
static void put_words(const char *text)
{
	unsigned int width = terminal_width(), room, n, at = 0;

	room = width > COLUMN + 20 ? width - COLUMN : 20;
	for (; *text; text += n + strspn(text + n, " ")) {
		n = strcspn(text, " ");
		if (at && at + 1 + n > room) {
			printf("\n%*s", COLUMN, "");
			at = 0;
		}
		at += printf("%s%.*s", at ? " " : "", (int)n, text);
	}
	putchar('\n');
}

static void put_option(const struct option *option)
{
	int n = 2;

	if (option->short_name)
		n += printf("  -%c%s", option->short_name, option->long_name ? ", " : "") - 2;
	else
		n += printf("      ") - 2;
	if (option->long_name)
		n += printf("--%s", option->long_name);
	if (option->argh)
		n += printf(" %s", option->argh);
	if (n > COLUMN - 2)
		n = printf("\n") - 1;
	printf("%*s", COLUMN - n, "");
	put_words(option->help);
}

static int show_help(const struct option *help, const char *argument, int unset)
{
	const struct option *option;

	(void)help;
	(void)argument;
	(void)unset;
	printf("usage: mctrace %s\n\n%s\n", parsing.usage, parsing.help);
	for (option = first_option(parsing.options); option; option = next_option(option)) {
		if (option->type == OPTION_GROUP)
			printf("\n%s\n", option->help);
		else if (!(option->flags & PARSE_OPT_HIDDEN))
			put_option(option);
	}
	exit(EXIT_SUCCESS);
}

const struct option common_options[] = {
	OPT_CALLBACK_NOOPT('h', "help", NULL, NULL, "show this", show_help),
	OPT_END()
};

/* --- errors --- */

/* Return the option that @text, "NAME" or "NAME=VALUE", may have been meant for; NULL: none. */
static const char *option_meant(const char *text)
{
	const struct option *option;
	char *name = xstrdup(text);
	struct guess guess = { .typed = name };

	name[strcspn(name, "=")] = '\0';
	for (option = first_option(parsing.options); option; option = next_option(option))
		if (option->long_name && !(option->flags & PARSE_OPT_HIDDEN))
			guess_consider(&guess, option->long_name);
	free(name);
	return guess.meant;
}

/* Print what is wrong with the option @letter, by its long name if it has one. */
static void say_letter(char letter, const char *what)
{
	const struct option *option = first_option(parsing.options);

	while (option && option->short_name != letter)
		option = next_option(option);
	if (option && option->long_name)
		warning("--%s %s", option->long_name, what);
	else
		warning("-%c %s", letter, what);
}

static void say_unknown(const char *name)
{
	const char *meant = option_meant(name);

	warning("%s has no option --%s%s%s", parsing.command, name,
		meant ? ": did you mean --" : "", meant ?: "");
}

/* Print an error message of subcmd in mctrace's words; an unknown message as it is. */
static void say_error(char *text)
{
	static const struct {
		const char *subcmd, *mctrace;
	} reasons[] = {
		{ "requires a value",	"wants an argument" },
		{ "takes no value",	"takes no argument" },
		{ "isn't available",	"can't be negated" },
	};
	char *error = strstr(text, "Error: "), *quoted, *end, *found;
	const char *what = NULL;
	size_t i;

	error = error ? error + strlen("Error: ") : text;
	error[strcspn(error, "\n")] = '\0';
	for (i = 0; i < ARRAY_SIZE(reasons) && !what; i++) {
		found = strstr(error, reasons[i].subcmd);
		if (!found)
			continue;
		*found = '\0';
		what = reasons[i].mctrace;
	}
	quoted = strchr(error, '`');
	end = strrchr(error, '\'');
	if (!quoted || !end || end < quoted) {
		warning("%s", error);
		return;
	}
	*quoted++ = '\0';
	*end++ = '\0';
	if (!what)
		what = end + strspn(end, " ");
	if (!strcmp(error, "unknown option "))
		say_unknown(quoted);
	else if (!strcmp(error, "unknown switch "))
		warning("%s has no option -%s", parsing.command, quoted);
	else if (!strcmp(error, "switch "))
		say_letter(*quoted, what);
	else
		warning("--%s %s", quoted, what);
}

/* --- parsing --- */

static void take_messages(void)
{
	parsing.messages = stderr;
	stderr = open_memstream(&parsing.text, &parsing.size);
	if (!stderr) {
		stderr = parsing.messages;
		die_errno("memory");
	}
}

static void give_messages(void)
{
	fclose(stderr);
	stderr = parsing.messages;
	parsing.messages = NULL;
}

/*
 * Print the captured messages at exit. subcmd reports errors and calls exit(129): translate its
 * message. A callback calls die_usage(), whose message is mctrace's already.
 */
static void end_parsing(void)
{
	if (!parsing.messages)
		return;
	give_messages();
	if (!parsing.size)
		return;
	if (!strncmp(parsing.text, "mctrace: ", strlen("mctrace: "))) {
		fputs(parsing.text, stderr);
		return;
	}
	say_error(parsing.text);
	say_try(parsing.command);
	fflush(NULL);
	_exit(EXIT_USAGE);
}

int options_parse(int argc, char **argv, const struct option *options, const char *usage,
		  const char *help, int where)
{
	static const char * const usages[] = { "", NULL };
	int flags = PARSE_OPT_NO_INTERNAL_HELP | PARSE_OPT_KEEP_ARGV0;

	if (where == OPTIONS_FIRST)
		flags |= PARSE_OPT_STOP_AT_NON_OPTION;
	if (!parsing.command)
		atexit(end_parsing);
	parsing.command = argv[0];
	parsing.usage = usage;
	parsing.help = help;
	parsing.options = options;
	force_pager("cat");		/* subcmd needs no pager: its help is not printed */
	take_messages();
	argc = parse_options(argc, (const char **)argv, options, usages, flags);
	give_messages();
	free(parsing.text);
	return argc;
}

/* --- values --- */

int option_take_number(const struct option *option, const char *argument, int unset)
{
	char *end;

	(void)unset;
	*(unsigned long *)option->value = strtoul(argument, &end, 10);
	if (end == argument || *end || *argument == '-')
		die_usage(parsing.command, "--%s wants a number, not '%s'", option->long_name,
			  argument);
	return 0;
}

int option_take_count(const struct option *option, const char *argument, int unset)
{
	int ret = option_take_number(option, argument, unset);

	if (!*(unsigned long *)option->value)
		die_usage(parsing.command, "--%s wants 1 at least", option->long_name);
	return ret;
}

/* Return "A, B or C" of "A|B|C"; the caller frees it. */
static char *words_of(const char *argh)
{
	char *text = xstrdup(""), *more;
	size_t n;

	for (; *argh; argh += n + (argh[n] == '|')) {
		n = strcspn(argh, "|");
		more = xasprintf("%s%s%.*s", text, !*text ? "" : argh[n] ? ", " : " or ", (int)n,
				 argh);
		free(text);
		text = more;
	}
	return text;
}

int option_take_word(const struct option *option, const char *argument, int unset)
{
	const char *word = option->argh;
	size_t n;

	(void)unset;
	*(const char **)option->value = argument;
	for (; *word; word += n + (word[n] == '|')) {
		n = strcspn(word, "|");
		if (n == strlen(argument) && !strncmp(word, argument, n))
			return 0;
	}
	die_usage(parsing.command, "--%s is %s", option->long_name, words_of(option->argh));
}

int option_instead(const struct option *option, const char *argument, int unset)
{
	(void)argument;
	(void)unset;
	die_usage(parsing.command, "%s", option->help);
}
