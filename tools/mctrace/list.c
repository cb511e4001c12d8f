// SPDX-License-Identifier: GPL-2.0
/* mctrace list: which functions can be traced. */
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "mctrace.h"
#include "options.h"
#include "prototypes.h"
#include "tracer.h"
#include "util.h"

static const char help[] =
"Lists the functions that can be traced; those that match, if asked.\n";

static struct {
	bool prototypes, json;
	const char *btf;
} asked;

static const struct option options[] = {
	OPT_BOOLEAN(0, "prototypes", &asked.prototypes,
		    "what they take and return, if the kernel's types are known"),
	OPT_TEXT(0, "btf", &asked.btf, "FILE",
		 "the same, by the types in FILE, not by those of the running kernel"),
	OPT_BOOLEAN(0, "json", &asked.json, "JSON Lines"),
	OPT_INSTEAD('p', NULL, "-p is --pid where it is known: --prototypes"),
	OPT_PARENT(common_options)
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

/* As JSON, or with what it takes if that is asked for and known; else as it is. */
static void put_function(struct prototypes *prototypes, bool json, const char *line)
{
	const char *prototype = NULL;
	char name[512], module[64] = "";
	struct buffer to = { };

	if (sscanf(line, "%511s [%63[^]]", name, module) < 1)
		return;
	if (prototypes)
		prototype = prototype_of(prototypes, name, *module ? module : NULL);
	if (json) {
		buffer_char(&to, '{');
		json_text(&to, "function", name);
		json_text(&to, "name", name);
		if (*module)
			json_text(&to, "module", module);
		if (prototype)
			json_text(&to, "prototype", prototype);
		buffer_puts(&to, "}\n");
	} else if (prototype) {
		buffer_printf(&to, "%s;%s%s%s\n", prototype, *module ? "\t[" : "", module,
			      *module ? "]" : "");
	} else {
		buffer_puts(&to, line);
	}
	buffer_write(&to, stdout);
	buffer_free(&to);
}

int cmd_list(int argc, char **argv)
{
	struct prototypes *prototypes = NULL;
	unsigned long shown = 0;
	char *line = NULL;
	size_t room = 0;
	FILE *file;

	argc = options_parse(argc, argv, options, "list [OPTION...] [GLOB...]", help,
			     OPTIONS_ANYWHERE);
	tracer_find();
	if (asked.prototypes || asked.btf)
		prototypes = prototypes_open(asked.btf);
	file = fopen(tracer_path("functions"), "r");
	if (!file)
		tracer_die("functions");
	while (getline(&line, &room, file) > 0) {
		if (!matches(line, argv + 1, argc - 1))
			continue;
		put_function(prototypes, asked.json, line);
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
