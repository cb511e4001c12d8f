// SPDX-License-Identifier: GPL-2.0
/* mctrace stat: what is set, and what has been counted. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "mctrace.h"
#include "session.h"
#include "tracer.h"
#include "util.h"

static const struct option options[] = {
	{ "help", no_argument, NULL, 'h' },
	{ }
};

/* A file's lines, from one column on; "(all)" and so on if there are none. */
static void put_lines(const char *name, const char *file, const char *none)
{
	char *text, *line, *saved;
	int nr = 0;

	if (!tracer_has(file))
		return;
	text = tracer_read(file);
	for (line = strtok_r(text, "\n", &saved); line; line = strtok_r(NULL, "\n", &saved))
		printf("%-12s %s\n", nr++ ? "" : name, line);
	if (!nr)
		printf("%-12s %s\n", name, none);
	free(text);
}

static bool is_on(const char *file)
{
	char *text = tracer_read(file);
	bool on = atoi(text);

	free(text);
	return on;
}

static const char *state(void)
{
	if (!is_on("ctrl"))
		return "off, or another hook is called";
	if (!is_on("/proc/sys/kernel/mcount_enabled"))
		return "on, but kernel.mcount_enabled is 0: nothing is called";
	if (!is_on("tracing_on"))
		return "paused";
	return "on";
}

int cmd_stat(int argc, char **argv)
{
	int c;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (c == 'h')
			show_help("stat", "Shows what is set, and what was counted on each CPU.\n");
		die_usage("stat", "stat has no such option");
	}
	if (optind < argc)
		die_usage("stat", "stat takes no argument");
	tracer_find();
	printf("%-12s %s\n", "tracer", state());
	session_user();
	put_lines("mode", "mode", "");
	put_lines("options", "options", "");
	put_lines("ring, KB", "buffer_size_kb", "");
	put_lines("filter", "filter", "(all functions)");
	put_lines("notrace", "notrace", "(none)");
	put_lines("pid", "pid", "(all)");
	put_lines("triggers", "triggers", "(none)");
	putchar('\n');
	c = EXIT_SUCCESS;
	fputs(tracer_read("stats"), stdout);
	return c;
}
