// SPDX-License-Identifier: GPL-2.0
/* mctrace list: print which functions can be traced. */
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
"Lists the functions that can be traced: all of them, or those that match a GLOB.\n";

static struct {
	bool prototypes, json;
	const char *btf;
} asked;

static const struct option options[] = {
	OPT_BOOLEAN(0, "prototypes", &asked.prototypes,
		    "with parameters and return types, if the kernel has BTF"),
	OPT_TEXT(0, "btf", &asked.btf, "FILE",
		 "the same, with the types in FILE, not the running kernel's"),
	OPT_BOOLEAN(0, "json", &asked.json, "JSON Lines"),
	OPT_INSTEAD('p', NULL, "-p is --pid in other commands: --prototypes"),
	OPT_PARENT(common_options)
};

/*
 * Return true if the name in @line, "name" or "name [module]", matches a glob, or there are no
 * globs.
 */
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

/* Print a function: as JSON, or as its prototype if @prototypes has it, or as @line. */
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
		die("no function matches: it does not exist, is inlined, or can't be traced");
	return flush_output();
}
