// SPDX-License-Identifier: GPL-2.0
/* mctrace list: print which functions can be traced. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "mctrace.h"
#include "options.h"
#include "prototypes.h"
#include "symbols.h"
#include "traceable.h"
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

/* Return true if @title, "name" or "name [module]", matches a glob, or there are no globs. */
static bool is_wanted(const char *title, char **globs, int nr)
{
	int i;

	for (i = 0; i < nr; i++)
		if (is_matched(title, globs[i]))
			return true;
	return !nr;
}

/* Print a function: as JSON, or as its prototype if @prototypes has it, or as its line. */
static void put_function(struct prototypes *prototypes, bool json, const struct traceable *one)
{
	const char *prototype = NULL, *module = one->module;
	struct buffer to = { };

	if (prototypes)
		prototype = prototype_of(prototypes, one->name, *module ? module : NULL);
	if (json) {
		buffer_char(&to, '{');
		json_function(&to, "function", one->title);
		if (prototype)
			json_text(&to, "prototype", prototype);
		buffer_char(&to, '}');
	} else if (prototype) {
		buffer_printf(&to, "%s;%s%s%s", prototype, *module ? "\t[" : "", module,
			      *module ? "]" : "");
	} else {
		buffer_puts(&to, one->title);
	}
	buffer_char(&to, '\n');
	buffer_write(&to, stdout);
	buffer_free(&to);
}

int cmd_list(int argc, char **argv)
{
	struct prototypes *prototypes = NULL;
	struct traceable one = { };
	unsigned long shown = 0;
	char *functions;

	argc = options_parse(argc, argv, options, "list [OPTION...] [GLOB...]", help,
			     OPTIONS_ANYWHERE);
	tracer_find();
	if (asked.prototypes || asked.btf)
		prototypes = prototypes_open(asked.btf);
	functions = tracer_read("functions");
	one.rest = functions;
	while (traceable_next(&one)) {
		if (!is_wanted(one.title, argv + 1, argc - 1))
			continue;
		put_function(prototypes, asked.json, &one);
		shown++;
	}
	free(functions);
	if (prototypes)
		prototypes_close(prototypes);
	if (!shown)
		die("no function matches: it does not exist, is inlined, or can't be traced");
	return flush_output();
}
