// SPDX-License-Identifier: GPL-2.0
/* mctrace list: which functions can be traced. */
#include <fnmatch.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "mctrace.h"
#include "tracer.h"
#include "util.h"

static const struct option options[] = {
	{ "help", no_argument, NULL, 'h' },
	{ }
};

/* "name" or "name [module]" */
static bool matches(const char *line, char **globs, int nr)
{
	char name[512];
	int i;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(line, "\n "), line);
	for (i = 0; i < nr; i++)
		if (!fnmatch(globs[i], name, 0))
			return true;
	return !nr;
}

int cmd_list(int argc, char **argv)
{
	unsigned long shown = 0;
	char *line = NULL;
	size_t room = 0;
	FILE *file;
	int c;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (c == 'h')
			show_help("list [GLOB...]",
				  "Lists the functions that can be traced; those that match, if asked.\n");
		die_usage("list", "list has no such option");
	}
	tracer_find();
	file = fopen(tracer_path("functions"), "r");
	if (!file)
		die_errno("%s", tracer_path("functions"));
	while (getline(&line, &room, file) > 0) {
		if (!matches(line, argv + optind, argc - optind))
			continue;
		fputs(line, stdout);
		shown++;
	}
	free(line);
	fclose(file);
	if (!shown)
		die("no function matches: there is none, or it is inlined, or not traced");
	return EXIT_SUCCESS;
}
