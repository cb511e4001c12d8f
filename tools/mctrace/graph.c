// SPDX-License-Identifier: GPL-2.0
/* mctrace graph: merge all calls of a function, and print its callees and callers by call path. */
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "json.h"
#include "mctrace.h"
#include "prototypes.h"
#include "select.h"
#include "tally.h"
#include "util.h"

static const char usage[] = "graph FUNCTION [OPTION...] [FILE]";
static const char help[] =
"Merges all calls of FUNCTION: shows the call paths from FUNCTION downwards, and from its callers\n"
"to FUNCTION, with the number of calls. If returns were recorded, shows how long the calls took:\n"
"on a CPU, and in total.\n";

static struct {
	const char *btf;
	unsigned long depth, lines;
} asked;

static const struct option options[] = {
	OPT_COUNT('D', "depth", &asked.depth, "N", "at most N levels below and above FUNCTION"),
	OPT_COUNT(0, "lines", &asked.lines, "N", "the first N lines of each list"),
	OPT_TEXT(0, "btf", &asked.btf, "FILE",
		 "print FUNCTION's prototype, by the types in FILE"),
	OPT_PARENT(select_options)
};

struct graph {
	struct tally tally;		/* the function's nested calls */
	struct walker above;		/* for callers */
	struct paths callers;		/* from the function upwards */
	struct view view;
	unsigned int depth;		/* limit; 0: none */
	unsigned long shown;		/* lines of the list so far */
};

/* Add the stack of a call of the function, from the function upwards, to callers. */
static void enter_above(struct walker *walker, struct task_calls *task, struct call *call)
{
	struct graph *graph = (struct graph *)((char *)walker - offsetof(struct graph, above));
	uint32_t place = 0;
	unsigned int i;

	if (!is_named(call->symbol->title, graph->tally.function) || call->implied)
		return;
	for (i = task->nr; i; i--)
		place = paths_below(&graph->callers, place, task->calls[i - 1].symbol->id);
	/* The caller of the outermost call is known, though its own call is not. */
	if (walker->returns || task->calls[0].parent_ip)
		place = paths_below(&graph->callers, place,
				    symbol_of(graph->view.symbols, task->calls[0].parent_ip)->id);
	graph->callers.all[place].calls++;
	call->path = place;
}

static void leave_above(struct walker *walker, struct task_calls *task, struct call *call,
			const struct ending *ending)
{
	struct graph *graph = (struct graph *)((char *)walker - offsetof(struct graph, above));
	struct path *path = &graph->callers.all[call->path];

	(void)task;
	if (!call->path || !ending->returned)
		return;
	path->returned++;
	path->total += ending->took;
	path->total_cpu += ending->took_cpu;
}

static uint64_t path_total(const struct path *path)
{
	return path->total;
}

static void put_json(const struct graph *graph, const struct paths *paths, uint32_t place,
		     const char *way)
{
	const struct path *path = &paths->all[place];
	struct buffer line = { };
	uint32_t at;

	buffer_char(&line, '{');
	json_text(&line, "way", way);
	if (paths == &graph->tally.paths) {
		tally_json_path(&graph->tally, place, &line);
	} else {
		buffer_puts(&line, ",\"path\":[");
		for (at = place; at; at = paths->all[at].parent)
			json_step(&line, symbols_title(graph->view.symbols, paths->all[at].id));
		buffer_char(&line, ']');
	}
	json_number(&line, "calls", path->calls);
	if (path->returned) {
		json_number(&line, "total_ns", path->total);
		json_number(&line, "total_cpu_ns", path->total_cpu);
		if (paths == &graph->tally.paths) {
			json_number(&line, "self_ns", path->self);
			json_number(&line, "self_cpu_ns", path->self_cpu);
		}
	}
	buffer_puts(&line, "}\n");
	buffer_write(&line, stdout);
	buffer_free(&line);
}

static void put_line(const struct graph *graph, const struct path *path, uint64_t calls,
		     unsigned int depth, bool times)
{
	struct buffer line = { };

	if (times) {
		buffer_duration_column(&line, path->total_cpu, 10);
		buffer_duration_column(&line, path->total, 11);
	}
	buffer_printf(&line, "%10llu  ", (unsigned long long)calls);
	buffer_spaces(&line, 2 * depth);
	buffer_puts(&line, symbols_title(graph->view.symbols, path->id));
	buffer_char(&line, '\n');
	buffer_write(&line, stdout);
	buffer_free(&line);
}

/* Return true if the list already has as many lines as --lines asks for. */
static bool is_full(const struct graph *graph)
{
	return asked.lines && graph->shown == asked.lines;
}

static void put_below(struct graph *graph, uint32_t place, unsigned int depth)
{
	const struct paths *paths = &graph->tally.paths;
	uint32_t at;

	for (at = paths->all[place].first; at && !is_full(graph); at = paths->all[at].next) {
		graph->shown++;
		if (graph->view.json)
			put_json(graph, paths, at, "calls");
		else
			put_line(graph, &paths->all[at], paths->all[at].calls, depth,
				 graph->tally.walker.returns);
		if (!graph->depth || depth < graph->depth)
			put_below(graph, at, depth + 1);
	}
}

/* Print the paths from the function upwards. paths_sum() has set sum to the calls of a path. */
static void put_above(struct graph *graph, uint32_t place, unsigned int depth)
{
	const struct paths *paths = &graph->callers;
	uint32_t at;

	for (at = paths->all[place].first; at && !is_full(graph); at = paths->all[at].next) {
		graph->shown += !graph->view.json || paths->all[at].calls;
		if (!graph->view.json)
			put_line(graph, &paths->all[at], paths->all[at].sum, depth, false);
		else if (paths->all[at].calls)
			put_json(graph, paths, at, "called by");
		if (!graph->depth || depth < graph->depth)
			put_above(graph, at, depth + 1);
	}
}

static void heading(const struct graph *graph, const char *text)
{
	if (!graph->view.json)
		view_heading(&graph->view, text);
}

static void put_graph(struct graph *graph)
{
	paths_sum(&graph->callers, path_calls);
	paths_sort(&graph->tally.paths,
		   graph->tally.walker.returns ? path_total : path_calls);
	heading(graph, "# called by: calls, and the call paths upwards");
	put_above(graph, 0, 0);
	graph->shown = 0;
	heading(graph, graph->tally.walker.returns ?
		"\n# calls: time on a CPU, total time, calls" : "\n# calls: number of calls");
	put_below(graph, 0, 0);
}

static void put_prototype(const struct graph *graph, const char *btf, const char *function)
{
	struct prototypes *prototypes = prototypes_open(btf);
	const char *prototype = prototype_of(prototypes, function, NULL);

	if (prototype && !graph->view.json)
		printf("# %s\n", prototype);
	prototypes_close(prototypes);
}

int cmd_graph(int argc, char **argv)
{
	struct graph graph = { };
	const char *function;

	argc = options_parse(argc, argv, options, usage, help, OPTIONS_ANYWHERE);
	if (argc < 2)
		die_usage("graph", "graph of which function?");
	if (argc > 3)
		die_usage("graph", "one function, and one recording, at a time");
	if (asked.btf && view_asked.json)
		die_usage("graph", "--btf prints a line of text: not with --json");
	function = argv[1];
	graph.depth = asked.depth;
	view_open(&graph.view, argv[2]);
	select_always(graph.view.select, function);
	tally_begin(&graph.tally, &graph.view);
	graph.tally.function = function;
	tally_walk(&graph.tally);
	check_function(&graph.view, function);
	if (graph.tally.paths.nr == 1)
		die_not_called(&graph.view, function, NULL);
	if (asked.btf)
		put_prototype(&graph, asked.btf, function);
	graph.above = (struct walker) { .enter = enter_above, .leave = leave_above };
	paths_begin(&graph.callers);
	walk(&graph.view, &graph.above);
	put_graph(&graph);
	paths_end(&graph.callers);
	tally_end(&graph.tally);
	return view_close(&graph.view);
}
