// SPDX-License-Identifier: GPL-2.0
/* mctrace export: convert a recording to the format of another program. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "export.h"
#include "mctrace.h"
#include "select.h"
#include "unfinished.h"
#include "util.h"
#include "walk.h"

static const char usage[] = "export --to FORM [OPTION...] [FILE...]";
static const char help[] =
"Writes a recording in the format of another program. folded and pprof take several recordings,\n"
"and sum them up.\n"
"\n"
"  trace.dat             trace-cmd, KernelShark\n"
"  uftrace               uftrace (a directory)\n"
"  perfetto              ui.perfetto.dev (a protobuf file)\n"
"  speedscope            speedscope.app (JSON)\n"
"  folded                flamegraph.pl and others: stacks with own time in ns, or calls\n"
"  pprof                 pprof, Pyroscope, Parca, speedscope (a protobuf file)\n"
"  ctf                   babeltrace2, Trace Compass (a directory)\n"
"  json                  Chrome's trace events, which most viewers read\n"
"  mctrace               mctrace: from the kernel's raw files, with the functions' names\n";

static struct {
	const char *to, *output;
} asked;

static const struct option options[] = {
	OPT_TEXT(0, "to", &asked.to, "FORM", "one of the formats above"),
	OPT_TEXT('o', "output", &asked.output, "NAME",
		 "the file or directory; without it a file goes to standard output"),
	OPT_PARENT(select_depth_options)
};

static const struct form {
	const char *name;
	void (*export)(struct view *view, const char *output);
	void (*sum_up)(struct view *view, char **files, const char *output);
	bool binary;		/* not for a terminal */
	bool directory;
	bool returns;		/* needs a recording with returns */
} forms[] = {
	{ "trace.dat",	export_trace_dat,	.binary = true },
	{ "uftrace",	export_uftrace,		.directory = true,	.returns = true },
	{ "perfetto",	export_perfetto,	.binary = true },
	{ "speedscope",	export_speedscope,	.returns = true },
	{ "folded",	.sum_up = export_folded },
	{ "pprof",	.sum_up = export_pprof,	.binary = true },
	{ "ctf",	export_ctf,		.directory = true },
	{ "json",	export_json,		.binary = false },
	{ "mctrace",	export_recording,	.binary = true },
};

void export_directory(const char *output)
{
	if (!unfinished_folder(output))
		die_errno("%s", output);
}

FILE *export_in(const char *name)
{
	const char *path = unfinished_in(name);
	FILE *to = fopen(path, "w");

	if (!to)
		die_errno("%s", path);
	return to;
}

void export_close(FILE *to, const char *path)
{
	bool failed = fflush(to) || ferror(to);

	if (fclose(to) || failed)
		die_errno("%s", path);
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
	const char *output;
	const struct form *form;

	argc = options_parse(argc, argv, options, usage, help, OPTIONS_ANYWHERE);
	output = asked.output;
	form = form_of(asked.to);
	if (view_asked.json)
		die_usage("export",
			  "export prints no JSON Lines: --to json writes Chrome's trace events");
	if (argc > 2 && !form->sum_up)
		die_usage("export", "%s takes one recording", form->name);
	if (form->directory && (!output || !strcmp(output, "-")))
		die_usage("export", "%s is a directory: -o NAME", form->name);
	if (form->binary && !output && isatty(STDOUT_FILENO))
		die_usage("export", "%s is not text: -o NAME", form->name);
	if (form->sum_up) {
		form->sum_up(&view, argv + 1, output);
		return view_close(&view);
	}
	view_open(&view, argv[1]);
	if (form->returns && !has_returns(view.from))
		die("%s has no returns, which %s needs: 'mctrace record -g' records them",
		    view.from->path, form->name);
	form->export(&view, output);
	if (form->directory && !unfinished_name(output))
		die_errno("%s", output);
	return view_close(&view);
}
