// SPDX-License-Identifier: GPL-2.0
/* mctrace graph: what a function calls, all its calls together; and by which ways it is called. */
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "json.h"
#include "mctrace.h"
#include "prototypes.h"
#include "tally.h"
#include "util.h"

static const char usage[] = "graph FUNCTION [OPTION...] [FILE]";
static const char help[] =
"What FUNCTION calls, all its calls taken together, and by which ways it is called; with how\n"
"long that took where returns were recorded, and how often.\n"
"\n"
"  -D, --depth N         not deeper than this\n"
"      --btf FILE        what FUNCTION takes and returns, by the types in FILE\n"
VIEW_HELP;

enum { BTF = VIEW_OPTIONS_END };

static const struct option options[] = {
	{ "btf", required_argument, NULL, BTF },
	{ "depth", required_argument, NULL, 'D' },
	VIEW_OPTIONS,
	{ }
};

struct graph {
	struct tally tally;		/* what it calls */
	struct walker above;
	struct paths callers;		/* the function, its callers, theirs */
	struct view view;
	unsigned int depth;		/* at most; 0: any */
};

/* The stack above a call, from the function on upwards. */
static void enter_above(struct walker *walker, struct task_calls *task, struct call *call)
{
	struct graph *graph = (struct graph *)((char *)walker - offsetof(struct graph, above));
	uint32_t place = 0;
	unsigned int i;

	if (!is_named(call->symbol->name, graph->tally.function) || call->implied ||
	    !view_shows(&graph->view, task))
		return;
	for (i = task->nr; i; i--)
		place = paths_below(&graph->callers, place, task->calls[i - 1].symbol->id);
	/* Who has called the outermost is known, though its call is not. */
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
	buffer_puts(&line, ",\"path\":[");
	for (at = place; at; at = paths->all[at].parent) {	/* the innermost first */
		if (at != place)
			buffer_char(&line, ',');
		json_string(&line, symbols_name(graph->view.symbols, paths->all[at].id));
	}
	buffer_char(&line, ']');
	json_number(&line, "calls", path->calls);
	if (path->returned) {
		json_number(&line, "total_ns", path->total);
		if (paths == &graph->tally.paths)
			json_number(&line, "self_ns", path->self);
	}
	buffer_puts(&line, "}\n");
	buffer_write(&line, stdout);
	buffer_free(&line);
}

static void put_line(const struct graph *graph, const struct path *path, uint64_t calls,
		     uint64_t total, unsigned int depth, bool times)
{
	if (times)
		printf("%10llu.%03llu us", (unsigned long long)(total / 1000),
		       (unsigned long long)(total % 1000));
	printf("%10llu  %*s%s\n", (unsigned long long)calls, 2 * (int)depth, "",
	       symbols_name(graph->view.symbols, path->id));
}

static void put_below(const struct graph *graph, uint32_t place, unsigned int depth)
{
	const struct paths *paths = &graph->tally.paths;
	uint32_t at;

	for (at = paths->all[place].first; at; at = paths->all[at].next) {
		if (graph->view.json)
			put_json(graph, paths, at, "calls");
		else
			put_line(graph, &paths->all[at], paths->all[at].calls,
				 paths->all[at].total, depth, graph->tally.walker.returns);
		if (!graph->depth || depth < graph->depth)
			put_below(graph, at, depth + 1);
	}
}

/* Each way to the function, from it on upwards; sum has been set to its calls. */
static void put_above(const struct graph *graph, uint32_t place, unsigned int depth)
{
	const struct paths *paths = &graph->callers;
	uint32_t at;

	for (at = paths->all[place].first; at; at = paths->all[at].next) {
		if (!graph->view.json)
			put_line(graph, &paths->all[at], paths->all[at].sum, 0, depth, false);
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
	heading(graph, "# called by: calls, and the ways upwards");
	put_above(graph, 0, 0);
	heading(graph, graph->tally.walker.returns ?
		"\n# calls: total time, calls" : "\n# calls: how often");
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
	const char *function, *btf = NULL;
	int c;

	while ((c = next_option(argc, argv, "D:i:h", options)) != -1) {
		if (c == 'D')
			graph.depth = option_number("graph", "--depth", optarg);
		else if (c == BTF)
			btf = optarg;
		else
			view_option(&graph.view, c, optarg, "graph", usage, help);
	}
	if (optind == argc)
		die_usage("graph", "graph of which function?");
	if (argc - optind > 2)
		die_usage("graph", "one function, and one recording, at a time");
	function = argv[optind++];
	view_open(&graph.view, argv[optind]);
	tally_begin(&graph.tally, &graph.view);
	graph.tally.function = function;
	tally_walk(&graph.tally);
	check_function(&graph.view, function);
	if (btf)
		put_prototype(&graph, btf, function);
	graph.above = (struct walker) { .enter = enter_above, .leave = leave_above };
	paths_begin(&graph.callers);
	walk(&graph.view, &graph.above);
	put_graph(&graph);
	paths_end(&graph.callers);
	tally_end(&graph.tally);
	return view_close(&graph.view);
}
