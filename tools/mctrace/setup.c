// SPDX-License-Identifier: GPL-2.0
/* Setting the tracer up as the command line says. */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "mctrace.h"
#include "prototypes.h"
#include "rules.h"
#include "session.h"
#include "setup.h"
#include "strings.h"
#include "tracer.h"
#include "util.h"

/*
 * Enough for 10 ms of a busy CPU, which a follower may sleep. On 32 bit rings can't be so large,
 * nor where there is too little memory.
 */
#define RING_KB		8192
#define SMALLEST_KB	64

static bool chosen_kb;	/* the rings are to be as large as was asked for */

static void add_line(char **list, const char *more)
{
	char *both = xasprintf("%s%s\n", *list ?: "", more);

	free(*list);
	*list = both;
}

/* One expression a line; commas separate, too. */
static void add(char **list, const char *more)
{
	char *c;

	if (!*more)
		die_usage(NULL, "a name is empty; '*' is for all");
	add_line(list, more);
	for (c = *list; *c; c++)
		if (*c == ',')
			*c = '\n';
}

static bool is_number(const char *text)
{
	return *text && strspn(text, "0123456789") == strlen(text);
}

bool setup_option(struct setup *setup, int letter, const char *argument)
{
	switch (letter) {
	case 'l':
		add(&setup->filter, argument);
		break;
	case 'n':
		add(&setup->notrace, argument);
		break;
	case 'g':
		setup->graph = true;
		break;
	case 't':
		setup->times = true;
		break;
	case 'T':
		setup->no_times = true;
		break;
	case 'R':
		add_line(&setup->triggers, argument);
		break;
	case SETUP_RULES:
		setup->rules = argument;
		break;
	case SETUP_BTF:
		setup->btf = argument;
		break;
	case 'c':
		setup->context = true;
		break;
	case 'p':
	case 'P':
		if (!isdigit((unsigned char)*argument))
			die_usage("record", "'%s' is no process", argument);
		add(&setup->pids, argument);
		break;
	case 'b':
		if (!is_number(argument))
			die_usage("record", "'%s' is no number of kilobytes", argument);
		setup->kb = argument;
		chosen_kb = true;
		break;
	default:
		return false;
	}
	return true;
}

bool setup_has_pids(const struct setup *setup)
{
	return setup->pids;
}

static bool is_on(const char *file)
{
	char *text = tracer_read(file);
	bool on = atoi(text);

	free(text);
	return on;
}

void setup_check_free(void)
{
	char *hook = tracer_others_hook();

	if (is_on("ctrl"))
		die("the tracer is on already: see 'mctrace stat', or 'mctrace stop' it");
	if (hook)
		die("all functions call %s, which would be taken away: end what has set it", hook);
}

static void set_size(const struct setup *setup)
{
	char *now = tracer_read("buffer_size_kb"), kb[16];
	int size;

	if (setup->kb)
		session_set("buffer_size_kb", setup->kb);
	for (size = RING_KB; !setup->kb && size > atol(now); size /= 2) {
		snprintf(kb, sizeof(kb), "%d", size);
		if (session_try("buffer_size_kb", kb))
			break;
	}
	free(now);
}

/* What somebody else follows would not be told from what these rules do. */
static void check_no_triggers(void)
{
	char *now = tracer_read("triggers"), *line, *saved;

	for (line = strtok_r(now, "\n", &saved); line; line = strtok_r(NULL, "\n", &saved))
		if (*line != '#')
			die("there are other triggers ('%s'): 'mctrace reset' ends them", line);
	free(now);
}

/* Where arguments are to be recorded: with the strings that they point to, if types are known. */
static char *with_strings(struct setup *setup)
{
	const char *triggers = setup->triggers ?: "";
	struct prototypes *types = NULL;
	char *functions, *lines, *all;

	if (strstr(triggers, ":args"))
		types = setup->btf ? prototypes_open(setup->btf) : prototypes_try(NULL);
	if (!types)
		return xstrdup(triggers);
	functions = tracer_read("functions");
	lines = strings_triggers(triggers, functions, types);
	setup->strings = *lines;
	all = xasprintf("%s%s", triggers, lines);
	free(lines);
	free(functions);
	prototypes_close(types);
	return all;
}

/* By rules and by lines of their own. */
static char *all_triggers(struct setup *setup)
{
	char *functions, *lines, *all;
	struct rules *rules;

	if (!setup->rules)
		return with_strings(setup);
	check_no_triggers();
	rules = rules_open(setup->rules);
	functions = tracer_read("functions");
	lines = rules_triggers(rules, functions, setup->btf);
	all = xasprintf("%s%s", lines, setup->triggers ?: "");
	free(lines);
	free(functions);
	rules_free(rules);
	return all;
}

void setup_apply(struct setup *setup)
{
	char *triggers = all_triggers(setup);
	bool times;

	set_size(setup);
	session_set("/proc/sys/kernel/mcount_enabled", "1");
	session_set("filter", setup->filter ?: "");
	session_set("notrace", setup->notrace ?: "");
	session_set("pid", setup->pids ?: "");
	if (tracer_has("mode"))
		session_set("mode", setup->graph ? "graph" : "function");
	else if (setup->graph)
		die("this kernel records no returns: it wants CONFIG_MCOUNT_RETURNS=y");
	session_set("triggers", triggers);
	free(triggers);
	times = setup->times || (setup->graph && !setup->no_times);
	session_set("options", times ? "time" : "notime");
	session_set("options", setup->context ? "context" : "nocontext");
	session_set("options", "overwrite");
}

void setup_from(int argc, char **argv, const char *help)
{
	static const struct option options[] = {
		SETUP_OPTIONS,
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	struct setup setup = { };
	int c;

	while ((c = next_option(argc, argv, SETUP_LETTERS "h", options)) != -1) {
		if (c == 'h')
			show_help(xasprintf("%s [OPTION...]", argv[0]), help);
		setup_option(&setup, c, optarg);
	}
	if (optind < argc)
		die_usage(argv[0], "%s takes no argument: 'mctrace record' runs a command",
			  argv[0]);
	tracer_find();
	session_lock();
	setup_check_free();
	setup_apply(&setup);
}

void setup_block_signals(sigset_t *before)
{
	struct sigaction hup;
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGQUIT);
	if (sigaction(SIGHUP, NULL, &hup) || hup.sa_handler != SIG_IGN)
		sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, before);
}

void setup_switch_on(void)
{
	char kb[16], *now;
	int size;

	while (!session_try("ctrl", "1")) {
		now = tracer_read("buffer_size_kb");
		size = atoi(now) / 2;
		free(now);
		snprintf(kb, sizeof(kb), "%d", size);
		if (errno != ENOMEM || size < SMALLEST_KB || chosen_kb ||
		    !session_try("buffer_size_kb", kb))
			tracer_write("ctrl", "1");	/* which says why */
	}
}

void setup_pause(void)
{
	setup_switch_on();
	tracer_write("tracing_on", "0");
	tracer_write("trace", "");
}
