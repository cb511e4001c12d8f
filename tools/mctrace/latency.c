// SPDX-License-Identifier: GPL-2.0
/* mctrace latency: how long the calls of a function took. */
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "json.h"
#include "mctrace.h"
#include "selfrecord.h"
#include "util.h"
#include "view.h"
#include "walk.h"

static const char usage[] = "latency FUNCTION [OPTION...] [FILE | --live [COMMAND...]]";
static const char help[] =
"How long the calls of FUNCTION took, as a histogram: each line twice as long as that before.\n"
"\n"
"  --hide-empty          no lines without calls\n"
"  -l, --live            record FUNCTION now: while COMMAND runs, or until Ctrl-C\n"
VIEW_HELP;

enum { HIDE_EMPTY = VIEW_OPTIONS_END };

static const struct option options[] = {
	{ "hide-empty", no_argument, NULL, HIDE_EMPTY },
	{ "live", no_argument, NULL, 'l' },
	VIEW_OPTIONS,
	{ }
};

#define LINES	64
#define BAR	46

struct latency {
	struct walker walker;
	struct view view;
	const char *function;
	bool hide_empty;
	uint64_t lines[LINES];	/* of the logarithm to base 2 of ns */
	uint64_t calls, total, min, max, open;
	bool estimated;
};

static void enter(struct walker *walker, struct task_calls *task, struct call *call)
{
	struct latency *latency = (struct latency *)walker;

	if (view_shows(&latency->view, task) && is_named(call->symbol->name, latency->function))
		latency->open++;
}

static unsigned int line_of(uint64_t ns)
{
	return ns < 2 ? 0 : 63 - __builtin_clzll(ns);
}

static void leave(struct walker *walker, struct task_calls *task, struct call *call,
		  const struct ending *ending)
{
	struct latency *latency = (struct latency *)walker;

	(void)task;
	if (!ending->returned || !is_named(call->symbol->name, latency->function) ||
	    !call->shown)
		return;
	latency->open--;
	if (!latency->calls || ending->took < latency->min)
		latency->min = ending->took;
	if (ending->took > latency->max)
		latency->max = ending->took;
	latency->calls++;
	latency->total += ending->took;
	latency->lines[line_of(ending->took)]++;
	latency->estimated |= !ending->exact;
}

static uint64_t average(const struct latency *latency)
{
	return latency->calls ? latency->total / latency->calls : 0;
}

static uint64_t begin_of(int line)
{
	return line ? 1ULL << line : 0;
}

static void put_json(const struct latency *latency)
{
	struct buffer to = { };
	int line;

	for (line = 0; line < LINES; line++) {
		if (!latency->lines[line])
			continue;
		buffer_char(&to, '{');
		json_number(&to, "from_ns", begin_of(line));
		json_number(&to, "to_ns", line < 63 ? 2ULL << line : UINT64_MAX);
		json_number(&to, "count", latency->lines[line]);
		buffer_puts(&to, "}\n");
	}
	buffer_char(&to, '{');
	json_text(&to, "function", latency->function);
	json_number(&to, "calls", latency->calls);
	json_number(&to, "min_ns", latency->min);
	json_number(&to, "avg_ns", average(latency));
	json_number(&to, "max_ns", latency->max);
	json_number(&to, "total_ns", latency->total);
	if (latency->estimated)
		json_bool(&to, "estimated", true);
	buffer_puts(&to, "}\n");
	buffer_write(&to, stdout);
	buffer_free(&to);
}

/* In the unit in which it has the fewest digits: all bounds are powers of two. */
static void put_bound(uint64_t ns)
{
	static const char * const units[] = { "ns", "us", "ms", "s " };
	unsigned int unit = 0;
	double value = ns;

	for (; value >= 1000 && unit < 3; unit++)
		value /= 1000;
	printf("%6.*f %s", !unit ? 0 : value < 10 ? 2 : value < 100, value, units[unit]);
}

static void put_text(const struct latency *latency)
{
	int first = 0, last = LINES - 1, line, bar;
	uint64_t most = 1;

	for (line = 0; line < LINES; line++)
		if (latency->lines[line] > most)
			most = latency->lines[line];
	while (last > first && !latency->lines[last])
		last--;
	while (first < last && !latency->lines[first])
		first++;
	view_heading(&latency->view, "#   DURATION            |      COUNT | GRAPH");
	for (line = first; line <= last; line++) {
		if (latency->hide_empty && !latency->lines[line])
			continue;
		put_bound(begin_of(line));
		fputs(" - ", stdout);
		put_bound(begin_of(line + 1));
		bar = latency->lines[line] * BAR / most;
		printf("  | %10llu | ", (unsigned long long)latency->lines[line]);
		while (bar--)
			putchar('#');
		putchar('\n');
	}
	printf("# %llu calls: %llu ns at least, %llu on average, %llu at most, %llu in all%s\n",
	       (unsigned long long)latency->calls, (unsigned long long)latency->min,
	       (unsigned long long)average(latency), (unsigned long long)latency->max,
	       (unsigned long long)latency->total,
	       latency->estimated ? "; estimated" : "");
	if (latency->open)
		printf("# and %llu whose end is not recorded\n",
		       (unsigned long long)latency->open);
}

/* Nothing else need be recorded. */
static char *record_function(const char *function, char **command)
{
	const char * const options[] = { "-g", "-t", "-l", function, NULL };

	return record_now(options, *command ? command : NULL);
}

int cmd_latency(int argc, char **argv)
{
	struct latency latency = { .walker = { .enter = enter, .leave = leave } };
	char *recorded = NULL;
	bool live = false;
	int c;

	if (argc > 1 && *argv[1] != '-') {	/* options may follow it, and COMMAND has its own */
		latency.function = argv[1];
		argv[1] = argv[0];
		argc--;
		argv++;
	}
	while ((c = next_option(argc, argv, "+li:h", options)) != -1) {
		if (c == HIDE_EMPTY)
			latency.hide_empty = true;
		else if (c == 'l')
			live = true;
		else
			view_option(&latency.view, c, optarg, "latency", usage, help);
	}
	if (!latency.function && optind == argc)
		die_usage("latency", "latency of which function?");
	if (!latency.function)
		latency.function = argv[optind++];
	if (!live && argc - optind > 1)
		die_usage("latency", "one function, and one recording, at a time");
	if (live)
		recorded = record_function(latency.function, argv + optind);
	view_open(&latency.view, live ? recorded : argv[optind]);
	if (recorded)
		unlink_recorded(recorded);
	if (!has_returns(latency.view.from))
		die("%s has no returns: 'mctrace record -g' records them", latency.view.from->path);
	walk(&latency.view, &latency.walker);
	check_function(&latency.view, latency.function);
	if (latency.view.json)
		put_json(&latency);
	else
		put_text(&latency);
	return view_close(&latency.view);
}
