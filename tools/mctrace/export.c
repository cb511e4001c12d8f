// SPDX-License-Identifier: GPL-2.0
/* mctrace export: a recording in the form of another program. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "export.h"
#include "mctrace.h"
#include "util.h"
#include "walk.h"

static const char usage[] = "export --to FORM [OPTION...] [FILE]";
static const char help[] =
"Writes a recording in the form of another program:\n"
"\n"
"  trace.dat             trace-cmd, KernelShark\n"
"  uftrace               uftrace (a directory)\n"
"  perfetto              ui.perfetto.dev (a protobuf file)\n"
"  speedscope            speedscope.app (JSON)\n"
"  folded                flamegraph.pl and others: stacks and their own ns, or calls\n"
"  ctf                   babeltrace2, Trace Compass (a directory)\n"
"  json                  Chrome's trace events, which most viewers read\n"
"\n"
"  --to FORM             one of these\n"
"  -o, --output NAME     where to; what goes into one file goes to standard output else\n"
"  --task NAME|PID       only what this task does\n";

enum { TO = VIEW_OPTIONS_END };

static const struct option options[] = {
	{ "to", required_argument, NULL, TO },
	{ "output", required_argument, NULL, 'o' },
	VIEW_OPTIONS,
	{ }
};

static const struct form {
	const char *name;
	void (*export)(struct view *view, const char *output);
	bool binary;		/* nothing for a terminal */
	bool directory;
	bool returns;		/* says nothing without them */
} forms[] = {
	{ "trace.dat",	export_trace_dat,	.binary = true },
	{ "uftrace",	export_uftrace,		.directory = true,	.returns = true },
	{ "perfetto",	export_perfetto,	.binary = true },
	{ "speedscope",	export_speedscope,	.returns = true },
	{ "folded",	export_folded,		.binary = false },
	{ "ctf",	export_ctf,		.directory = true },
	{ "json",	export_json,		.binary = false },
};

FILE *export_open(const char *output)
{
	FILE *to;

	if (!output || !strcmp(output, "-"))
		return stdout;
	to = fopen(output, "w");
	if (!to)
		die_errno("%s", output);
	return to;
}

void export_close(FILE *to, const char *output)
{
	bool failed = fflush(to) || ferror(to);

	if (to != stdout && (fclose(to) || failed))
		die_errno("%s", output);
}

void export_directory(const char *output)
{
	if (mkdir(output, 0777))
		die_errno("%s", output);
}

FILE *export_in(const char *output, const char *name)
{
	char *path = xasprintf("%s/%s", output, name);
	FILE *to = fopen(path, "w");

	if (!to)
		die_errno("%s", path);
	free(path);
	return to;
}

static const struct form *form_of(const char *name)
{
	size_t i;

	for (i = 0; name && i < ARRAY_SIZE(forms); i++)
		if (!strcmp(forms[i].name, name))
			return &forms[i];
	if (name)
		die_usage("export", "there is no form '%s'", name);
	die_usage("export", "in which form? --to FORM");
}

int cmd_export(int argc, char **argv)
{
	struct view view = { .no_pager = true };
	const char *to = NULL, *output = NULL;
	const struct form *form;
	int c;

	while ((c = next_option(argc, argv, "o:i:h", options)) != -1) {
		if (c == TO)
			to = optarg;
		else if (c == 'o')
			output = optarg;
		else
			view_option(&view, c, optarg, "export", usage, help);
	}
	if (argc - optind > 1)
		die_usage("export", "one recording at a time");
	form = form_of(to);
	if (form->directory && (!output || !strcmp(output, "-")))
		die_usage("export", "%s is a directory: -o NAME", form->name);
	if (form->binary && !output && isatty(STDOUT_FILENO))
		die_usage("export", "%s is no text: -o NAME", form->name);
	view_open(&view, argv[optind]);
	if (form->returns && !has_returns(view.from))
		die("%s has no returns, which %s is about: 'mctrace record -g' records them",
		    view.from->path, form->name);
	form->export(&view, output);
	return view_close(&view);
}
