// SPDX-License-Identifier: GPL-2.0
/* mctrace report: a recording as text, as the kernel prints it, or as a tree. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "events.h"
#include "mctrace.h"
#include "symbols.h"
#include "text.h"
#include "tree.h"
#include "util.h"

static const char help[] =
"Prints a recording (" RECORDING_DEFAULT "), one event a line, as the kernel's own trace has it.\n"
"\n"
"  --tree                nested, by task; with durations where returns were recorded\n";

static const struct option options[] = {
	{ "tree", no_argument, NULL, 'T' },
	{ "help", no_argument, NULL, 'h' },
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

static void put_text(const struct recording *from, struct symbols *symbols)
{
	struct text *text = text_new(from, symbols);
	struct events events;
	struct event event;

	put_header(from, events_count(from));
	events_begin(&events, from);
	while (events_next(&events, &event))
		text_event(text, &event, stdout);
	events_end(&events);
	text_free(text);
}

int cmd_report(int argc, char **argv)
{
	struct recording *from;
	struct symbols *symbols;
	bool tree = false;
	int c, ret = EXIT_SUCCESS;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (c) {
		case 'T':
			tree = true;
			break;
		case 'h':
			show_help("report [OPTION...] [FILE]", help);
		default:
			die_usage("report", "report has no such option");
		}
	}
	if (argc - optind > 1)
		die_usage("report", "one recording at a time");
	from = recording_open(argv[optind]);
	symbols = symbols_of(from);
	setvbuf(stdout, NULL, _IOFBF, 1 << 16);
	if (tree)
		tree_print(from, symbols, stdout);
	else
		put_text(from, symbols);
	if (fflush(stdout) && errno != EPIPE)
		die_errno("standard output");
	if (from->damage) {
		warning("%s; what is before was shown", from->damage);
		ret = EXIT_FAILURE;
	}
	symbols_free(symbols);
	recording_close(from);
	return ret;
}
