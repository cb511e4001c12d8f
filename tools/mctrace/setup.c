// SPDX-License-Identifier: GPL-2.0
/* Setting the tracer up as the command line says. */
#include <ctype.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "mctrace.h"
#include "setup.h"
#include "tracer.h"
#include "util.h"

/*
 * Enough for 10 ms of a busy CPU, which a follower may sleep. On 32 bit rings can't be so large,
 * nor where there is too little memory.
 */
#define RING_KB	8192

/* One expression a line; commas separate, too. */
static void add(char **list, const char *more)
{
	char *both, *c;

	both = xasprintf("%s%s\n", *list ?: "", more);
	for (c = both; *c; c++)
		if (*c == ',')
			*c = '\n';
	free(*list);
	*list = both;
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
	if (is_on("ctrl"))
		die("the tracer is on already: see 'mctrace stat', or 'mctrace stop' it");
}

static void set_size(const struct setup *setup)
{
	char *now = tracer_read("buffer_size_kb"), kb[16];
	int size;

	if (setup->kb)
		tracer_set("buffer_size_kb", setup->kb);
	for (size = RING_KB; !setup->kb && size > atol(now); size /= 2) {
		snprintf(kb, sizeof(kb), "%d", size);
		if (tracer_try("buffer_size_kb", kb))
			break;
	}
	free(now);
}

void setup_apply(const struct setup *setup)
{
	set_size(setup);
	tracer_set("/proc/sys/kernel/mcount_enabled", "1");
	tracer_set("filter", setup->filter ?: "");
	tracer_set("notrace", setup->notrace ?: "");
	tracer_set("pid", setup->pids ?: "");
	if (tracer_has("mode"))
		tracer_set("mode", setup->graph ? "graph" : "function");
	else if (setup->graph)
		die("this kernel records no returns: it wants CONFIG_MCOUNT_RETURNS=y");
	tracer_set("options", setup->times ? "time" : "notime");
	tracer_set("options", setup->context ? "context" : "nocontext");
	tracer_set("options", "overwrite");
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

	while ((c = getopt_long(argc, argv, SETUP_LETTERS "h", options, NULL)) != -1) {
		if (c == 'h')
			show_help(xasprintf("%s [OPTION...]", argv[0]), help);
		if (!setup_option(&setup, c, optarg))
			die_usage(argv[0], "%s has no such option", argv[0]);
	}
	if (optind < argc)
		die_usage(argv[0], "%s takes no argument: 'mctrace record' runs a command",
			  argv[0]);
	tracer_find();
	tracer_lock();
	setup_check_free();
	setup_apply(&setup);
}

/* The tracer's switch allocates the rings, and so comes first. */
void setup_pause(void)
{
	tracer_set("ctrl", "1");
	tracer_write("tracing_on", "0");
	tracer_write("trace", "");
}
