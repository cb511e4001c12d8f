// SPDX-License-Identifier: GPL-2.0
/* mctrace list: which functions can be traced. */
#include <fnmatch.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mctrace.h"
#include "prototypes.h"
#include "tracer.h"
#include "util.h"

static const char help[] =
"Lists the functions that can be traced; those that match, if asked.\n"
"\n"
"  -p, --prototypes      what they take and return, if the kernel's types are known\n"
"      --btf FILE        by the types in FILE, not by those of the running kernel\n";

enum { BTF = 256 };		/* no letter */

static const struct option options[] = {
	{ "prototypes", no_argument, NULL, 'p' },
	{ "btf", required_argument, NULL, BTF },
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

/* "name" or "name [module]", and what it takes. */
static void put_prototype(struct prototypes *prototypes, const char *line)
{
	char name[512], module[64] = "";
	const char *prototype;

	if (sscanf(line, "%511s [%63[^]]", name, module) < 1)
		return;
	prototype = prototype_of(prototypes, name, *module ? module : NULL);
	if (!prototype)
		fputs(line, stdout);
	else
		printf("%s;%s%s%s\n", prototype, *module ? "\t[" : "", module, *module ? "]" : "");
}

int cmd_list(int argc, char **argv)
{
	struct prototypes *prototypes = NULL;
	bool with_prototypes = false;
	unsigned long shown = 0;
	const char *btf = NULL;
	char *line = NULL;
	size_t room = 0;
	FILE *file;
	int c;

	while ((c = getopt_long(argc, argv, "ph", options, NULL)) != -1) {
		switch (c) {
		case BTF:
			btf = optarg;
			fallthrough;
		case 'p':
			with_prototypes = true;
			break;
		case 'h':
			show_help("list [OPTION...] [GLOB...]", help);
		default:
			die_usage("list", "list has no such option");
		}
	}
	tracer_find();
	if (with_prototypes)
		prototypes = prototypes_open(btf);
	file = fopen(tracer_path("functions"), "r");
	if (!file)
		die_errno("%s", tracer_path("functions"));
	while (getline(&line, &room, file) > 0) {
		if (!matches(line, argv + optind, argc - optind))
			continue;
		if (prototypes)
			put_prototype(prototypes, line);
		else
			fputs(line, stdout);
		shown++;
	}
	free(line);
	fclose(file);
	if (prototypes)
		prototypes_close(prototypes);
	if (!shown)
		die("no function matches: there is none, or it is inlined, or not traced");
	return EXIT_SUCCESS;
}
