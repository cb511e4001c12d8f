// SPDX-License-Identifier: GPL-2.0
/* mctrace start, stop, reset, show, snapshot: the tracer's switches. */
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "mctrace.h"
#include "session.h"
#include "setup.h"
#include "tracer.h"
#include "util.h"

static const struct option only_help[] = {
	{ "help", no_argument, NULL, 'h' },
	{ }
};

/* No option but --help, and no argument. */
static void parse(int argc, char **argv, const char *help)
{
	int c;

	while ((c = next_option(argc, argv, "h", only_help)) != -1) {
		if (c == 'h')
			show_help(argv[0], help);
	}
	if (optind < argc)
		die_usage(argv[0], "%s takes no argument", argv[0]);
	tracer_find();
}

int cmd_start(int argc, char **argv)
{
	sigset_t before;

	setup_block_signals(&before);	/* none comes between two settings */
	setup_from(argc, argv,
		   "Traces into the kernel's rings, until 'mctrace stop'.\n\n" SETUP_HELP);
	setup_switch_on();
	session_keep();
	return EXIT_SUCCESS;
}

int cmd_stop(int argc, char **argv)
{
	parse(argc, argv, "Ends tracing; what was traced stays, for 'mctrace show'.\n");
	session_lock();
	tracer_write("ctrl", "0");
	return EXIT_SUCCESS;
}

/* As after boot, but for the rings' size. */
int cmd_reset(int argc, char **argv)
{
	static const char * const lists[] = { "filter", "notrace", "pid", "triggers" };
	static const char * const off[] = { "notime", "nocontext", "nomax_stack", "overwrite",
		"nofreeze_on_warning", "nofreeze_on_hung_task",
		"nofreeze_on_soft_lockup", "nofreeze_on_hard_lockup" };
	unsigned int i;

	parse(argc, argv, "Ends tracing, and sets all to what it is after boot, but for\n"
	      "the rings' size and kernel.mcount_enabled.\n");
	session_lock();
	tracer_write("ctrl", "0");
	for (i = 0; i < ARRAY_SIZE(lists); i++)
		tracer_write(lists[i], "");
	for (i = 0; i < ARRAY_SIZE(off); i++)
		tracer_write("options", off[i]);
	if (tracer_has("mode"))
		tracer_write("mode", "function");
	tracer_write("snapshot", "0");
	tracer_write("max_stack", "0");
	tracer_write("trace", "");
	return EXIT_SUCCESS;
}

int cmd_show(int argc, char **argv)
{
	static const struct option options[] = {
		{ "pipe", no_argument, NULL, 'p' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	const char *file = "trace";
	int c;

	while ((c = next_option(argc, argv, "ph", options)) != -1) {
		switch (c) {
		case 'p':
			file = "trace_pipe";
			break;
		case 'h':
			show_help("show [--pipe]",
				  "Shows what is in the kernel's rings.\n\n"
				  "  -p, --pipe            take it away, and wait for more\n");
		}
	}
	if (optind < argc)
		die_usage("show", "show takes no argument");
	tracer_find();
	tracer_show(file, NULL, NULL);
	return EXIT_SUCCESS;
}

int cmd_snapshot(int argc, char **argv)
{
	static const struct option options[] = {
		{ "take", no_argument, NULL, 't' },
		{ "free", no_argument, NULL, 'f' },
		{ "help", no_argument, NULL, 'h' },
		{ }
	};
	int c, take = 0, drop = 0;

	while ((c = next_option(argc, argv, "tfh", options)) != -1) {
		switch (c) {
		case 't':
			take = 1;
			break;
		case 'f':
			drop = 1;
			break;
		case 'h':
			show_help("snapshot [--take | --free]",
				  "Shows the rings as they were when a trigger, or --take, kept them.\n\n"
				  "  -t, --take            keep them as they are now\n"
				  "  -f, --free            forget what was kept\n");
		}
	}
	if (optind < argc || (take && drop))
		die_usage("snapshot", "either --take or --free, and no argument");
	tracer_find();
	if (take || drop) {
		session_lock();		/* who records would lose calls, or what he has kept */
		tracer_write("snapshot", take ? "1" : "0");
	} else {
		tracer_show("snapshot", NULL, NULL);
	}
	return EXIT_SUCCESS;
}
