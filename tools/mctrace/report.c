// SPDX-License-Identifier: GPL-2.0
/* mctrace report: a recording as text, as the kernel prints it, or as a tree. */
#include <stdlib.h>
#include <string.h>

#include "events.h"
#include "mctrace.h"
#include "prototypes.h"
#include "text.h"
#include "tree.h"
#include "util.h"
#include "view.h"

static const char usage[] = "report [OPTION...] [FILE]";
static const char help[] =
"Prints a recording (" RECORDING_DEFAULT "), one event a line, as the kernel's own trace has it.\n"
"\n"
"  --tree                nested, by task; with durations where returns were recorded\n"
"  --btf FILE            arguments that were recorded by name and type, as FILE has them\n"
"  --vmlinux FILE        each address with its line of source; FILE has debug information\n"
VIEW_HELP;

enum { TREE = VIEW_OPTIONS_END, VMLINUX, BTF };

static const struct option options[] = {
	{ "tree", no_argument, NULL, TREE },
	{ "btf", required_argument, NULL, BTF },
	{ "vmlinux", required_argument, NULL, VMLINUX },
	VIEW_OPTIONS,
	{ }
};

static void put_header(const struct recording *from, uint64_t entries)
{
	uint64_t written = recording_number(from, "written");
	uint64_t lost = recording_number(from, "lost");
	const char *mode = recording_info(from, "mode");

	if (written < entries + lost)	/* nobody has counted to the end */
		written = entries + lost;
	printf("# mode: %s\n# entries: %llu\n# written: %llu\n# overwritten: %llu\n# lost: %llu\n",
	       mode ?: "function", (unsigned long long)entries, (unsigned long long)written,
	       (unsigned long long)(written - lost - entries), (unsigned long long)lost);
}

static void put_text(struct view *view, struct prototypes *prototypes)
{
	struct text *text = text_new(view->from, view->symbols);
	struct events events;
	struct event event;
	uint64_t nr = 0;

	text_name_arguments(text, prototypes);
	if (!view->json && !view->task) {
		put_header(view->from, events_count(view->from));
		view->counted = true;
	}
	events_begin(&events, view->from);
	while (events_next(&events, &event) && !ferror(stdout)) {
		text_event(text, &event, view, stdout);
		if (!(++nr % EVENTS_PROGRESS))
			view_progress(view, events_done(&events));
	}
	events_end(&events);
	text_free(text);
}

int cmd_report(int argc, char **argv)
{
	struct view view = { };
	const char *vmlinux = NULL, *btf = NULL;
	struct prototypes *prototypes = NULL;
	bool tree = false;
	int c;

	while ((c = next_option(argc, argv, "i:h", options)) != -1) {
		if (c == TREE)
			tree = true;
		else if (c == VMLINUX)
			vmlinux = optarg;
		else if (c == BTF)
			btf = optarg;
		else
			view_option(&view, c, optarg, "report", usage, help);
	}
	if (argc - optind > 1)
		die_usage("report", "one recording at a time");
	view_open(&view, argv[optind]);
	if (vmlinux)
		symbols_show_lines(view.symbols, vmlinux,
				   recording_info(view.from, "build_id"));
	if (btf)
		prototypes = prototypes_open(btf);
	if (tree)
		tree_print(&view, stdout);
	else
		put_text(&view, prototypes);
	if (prototypes)
		prototypes_close(prototypes);
	return view_close(&view);
}
