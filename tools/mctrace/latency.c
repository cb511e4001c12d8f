// SPDX-License-Identifier: GPL-2.0
/* mctrace latency: how long the calls of a function took. */
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "json.h"
#include "mctrace.h"
#include "select.h"
#include "selfrecord.h"
#include "util.h"
#include "view.h"
#include "walk.h"

static const char usage[] = "latency FUNCTION [OPTION...] [FILE | --live [COMMAND...]]";
static const char help[] =
"How long the calls of FUNCTION took, as a histogram: each line covers twice the time of the line\n"
"before. ON CPU counts the calls by the part of that time during which their task was on a CPU;\n"
"--live records too little for ON CPU.\n";

static struct {
	bool hide_empty, live;
} asked;

static const struct option options[] = {
	OPT_BOOLEAN(0, "hide-empty", &asked.hide_empty, "omit lines without calls"),
	OPT_BOOLEAN(0, "live", &asked.live,
		    "record FUNCTION now: while COMMAND runs, or until Ctrl-C"),
	OPT_INSTEAD('l', NULL, "-l is --func in other commands: --live"),
	OPT_PARENT(select_call_options)
};

#define LINES	64
#define BEFORE_BAR	51	/* width of a line before the bar */
#define ON_CPU	13	/* part of it that ON CPU takes */
#define BAR	10	/* least width; else the rest of the terminal */

struct latency {
	struct walker walker;
	struct view view;
	const char *function;
	bool hide_empty;
	bool no_cpu;		/* the time on a CPU is not known */
	uint64_t lines[LINES];	/* calls by the base-2 logarithm of ns */
	uint64_t lines_cpu[LINES];	/* the same by the time on a CPU */
	uint64_t calls, total, min, max, open;
	uint64_t total_cpu, max_cpu;
	bool estimated;
};

static void enter(struct walker *walker, struct task_calls *task, struct call *call)
{
	struct latency *latency = (struct latency *)walker;

	(void)task;
	if (is_named(call->symbol->title, latency->function))
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
	if (!ending->returned || !is_named(call->symbol->title, latency->function))
		return;
	latency->open--;
	if (!latency->calls || ending->took < latency->min)
		latency->min = ending->took;
	if (ending->took > latency->max)
		latency->max = ending->took;
	latency->calls++;
	latency->total += ending->took;
	latency->lines[line_of(ending->took)]++;
	latency->total_cpu += ending->took_cpu;
	if (ending->took_cpu > latency->max_cpu)
		latency->max_cpu = ending->took_cpu;
	latency->lines_cpu[line_of(ending->took_cpu)]++;
	latency->estimated |= !ending->exact;
}

static uint64_t average(const struct latency *latency, uint64_t total)
{
	return latency->calls ? total / latency->calls : 0;
}

static bool is_empty(const struct latency *latency, int line)
{
	return !latency->lines[line] && (latency->no_cpu || !latency->lines_cpu[line]);
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
		if (is_empty(latency, line))
			continue;
		buffer_char(&to, '{');
		json_text(&to, "kind", "bucket");
		json_number(&to, "from_ns", begin_of(line));
		json_number(&to, "to_ns", line < 63 ? 2ULL << line : UINT64_MAX);
		json_number(&to, "count", latency->lines[line]);
		if (!latency->no_cpu)
			json_number(&to, "count_cpu", latency->lines_cpu[line]);
		buffer_puts(&to, "}\n");
	}
	buffer_char(&to, '{');
	json_text(&to, "kind", "summary");
	json_text(&to, "function", latency->function);
	json_number(&to, "calls", latency->calls);
	json_number(&to, "min_ns", latency->min);
	json_number(&to, "avg_ns", average(latency, latency->total));
	json_number(&to, "max_ns", latency->max);
	json_number(&to, "total_ns", latency->total);
	if (!latency->no_cpu) {
		json_number(&to, "avg_cpu_ns", average(latency, latency->total_cpu));
		json_number(&to, "max_cpu_ns", latency->max_cpu);
		json_number(&to, "total_cpu_ns", latency->total_cpu);
	}
	json_number(&to, "open", latency->open);
	json_bool(&to, "estimated", latency->estimated);
	buffer_puts(&to, "}\n");
	buffer_write(&to, stdout);
	buffer_free(&to);
}

/* Print a bound in the unit that needs the fewest digits. All bounds are powers of two. */
static void put_bound(uint64_t ns)
{
	static const char * const units[] = { "ns", "us", "ms", "s " };
	unsigned int unit = 0;
	double value = ns;

	for (; value >= 1000 && unit < 3; unit++)
		value /= 1000;
	printf("%6.*f %s", !unit ? 0 : value < 10 ? 2 : value < 100, value, units[unit]);
}

/* Append the times of all calls: "1 us on average, 2 us at most, 4 us in all". */
static void put_times(struct buffer *to, const struct latency *latency, uint64_t total,
		      uint64_t most)
{
	buffer_duration(to, average(latency, total));
	buffer_puts(to, " on average, ");
	buffer_duration(to, most);
	buffer_puts(to, " at most, ");
	buffer_duration(to, total);
	buffer_puts(to, " in all");
}

static void put_summary(const struct latency *latency)
{
	struct buffer to = { };

	buffer_printf(&to, "# %llu calls: ", (unsigned long long)latency->calls);
	buffer_duration(&to, latency->min);
	buffer_puts(&to, " at least, ");
	put_times(&to, latency, latency->total, latency->max);
	buffer_puts(&to, latency->estimated ? "; estimated\n" : "\n");
	if (!latency->no_cpu) {
		buffer_puts(&to, "# on a CPU: ");
		put_times(&to, latency, latency->total_cpu, latency->max_cpu);
		buffer_puts(&to, "\n");
	}
	buffer_write(&to, stdout);
	buffer_free(&to);
}

static void put_text(const struct latency *latency)
{
	int first = 0, last = LINES - 1, line, bar, width;
	unsigned int before = BEFORE_BAR;
	uint64_t most = 1;

	for (line = 0; line < LINES; line++)
		if (latency->lines[line] > most)
			most = latency->lines[line];
	while (last > first && is_empty(latency, last))
		last--;
	while (first < last && is_empty(latency, first))
		first++;
	if (latency->no_cpu)
		before -= ON_CPU;
	width = latency->view.width > before + BAR ? latency->view.width - before : BAR;
	view_heading(&latency->view, latency->no_cpu ?
		     "#   DURATION            |      COUNT | GRAPH OF COUNT" :
		     "#   DURATION            |      COUNT |     ON CPU | GRAPH OF COUNT");
	for (line = first; line <= last; line++) {
		if (latency->hide_empty && is_empty(latency, line))
			continue;
		put_bound(begin_of(line));
		fputs(" - ", stdout);
		put_bound(begin_of(line + 1));
		bar = latency->lines[line] * width / most;
		printf("  | %10llu | ", (unsigned long long)latency->lines[line]);
		if (!latency->no_cpu)
			printf("%10llu | ", (unsigned long long)latency->lines_cpu[line]);
		while (bar--)
			putchar('#');
		putchar('\n');
	}
	put_summary(latency);
	if (latency->open)
		printf("# and %llu calls without a recorded end\n",
		       (unsigned long long)latency->open);
}

/*
 * Record only @function, while @command runs. Return the file's name. The recording has no call of
 * schedule() or finish_task_switch(), so it does not show when a task slept: see walk.h.
 */
static char *record_function(const char *function, char **command)
{
	const char * const options[] = { "-g", "-t", "-l", function, NULL };

	return record_now(options, *command ? command : NULL);
}

/*
 * Options may be anywhere, but the COMMAND of --live has options of its own. Return the new argc.
 */
static int parse(struct latency *latency, int argc, char **argv)
{
	if (argc > 1 && *argv[1] != '-')
		goto function;
	argc = options_parse(argc, argv, options, usage, help, OPTIONS_FIRST);
	if (argc < 2)
		die_usage("latency", "latency of which function?");
function:
	latency->function = argv[1];
	memmove(argv + 1, argv + 2, --argc * sizeof(*argv));
	argc = options_parse(argc, argv, options, usage, help, OPTIONS_FIRST);
	if (!asked.live)
		argc = options_parse(argc, argv, options, usage, help, OPTIONS_ANYWHERE);
	if (!asked.live && argc > 2)
		die_usage("latency", "one function, and one recording, at a time");
	if (asked.live && view_asked.input)
		die_usage("latency", "either --live, or a recording");
	latency->hide_empty = asked.hide_empty;
	latency->no_cpu = asked.live;
	return argc;
}

int cmd_latency(int argc, char **argv)
{
	struct latency latency = { .walker = { .enter = enter, .leave = leave } };
	char *recorded = NULL;

	parse(&latency, argc, argv);
	if (asked.live)
		recorded = record_function(latency.function, argv + 1);
	view_open(&latency.view, asked.live ? recorded : argv[1]);
	select_always(latency.view.select, latency.function);
	if (!has_returns(latency.view.from))
		die("%s has no returns: 'mctrace record -g' records them", latency.view.from->path);
	walk(&latency.view, &latency.walker);
	if (asked.live && !latency.calls && !latency.open)
		die("%s was not called", latency.function);
	check_function(&latency.view, latency.function);
	if (!latency.calls && !latency.open)
		die_not_called(&latency.view, latency.function, NULL);
	if (!latency.calls)
		die("no call of %s has returned in %s", latency.function, latency.view.from->path);
	if (latency.view.json)
		put_json(&latency);
	else
		put_text(&latency);
	return view_close(&latency.view);
}
