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
	struct paths callers;		/* from the outermost caller down to the function */
	struct view view;
	unsigned int depth;		/* limit; 0: none */
	unsigned long shown;		/* lines of the list so far */
};

/*
 * A call path from the function upwards: @from is the place of the function in graph->callers, and
 * @at the caller that put_above() has reached. Different paths may have the same callers at first,
 * so a tree of paths from the function upwards would have as many places as there are calls, times
 * the depth of the stack. The tree from the outermost caller down has no more places than there are
 * calls, because each call adds at most one.
 */
struct upward {
	uint32_t from, at;
	uint32_t id;		/* of the function at @at */
	uint64_t sum;		/* calls of all paths with the same callers up to @at */
};

static bool is_counted(const struct graph *graph, const struct call *call)
{
	return !call->implied && is_named(call->symbol->title, graph->tally.function);
}

/* Give the open calls of @task places in callers. Most of the outer calls have theirs. */
static void find_places(struct graph *graph, struct task_calls *task)
{
	struct call *calls = task->calls;
	unsigned int i = task->nr;
	uint32_t place = 0;

	while (i && !calls[i - 1].path)
		i--;
	if (i)
		place = calls[i - 1].path;
	else if (graph->above.returns || calls[0].parent_ip)
		/* The caller of the outermost call is known, though its own call is not. */
		place = paths_below(&graph->callers, 0,
				    symbol_of(graph->view.symbols, calls[0].parent_ip)->id);
	for (; i < task->nr; i++) {
		place = paths_below(&graph->callers, place, calls[i].symbol->id);
		calls[i].path = place;
	}
}

static void enter_above(struct walker *walker, struct task_calls *task, struct call *call)
{
	struct graph *graph = (struct graph *)((char *)walker - offsetof(struct graph, above));

	if (!is_counted(graph, call))
		return;
	find_places(graph, task);
	graph->callers.all[call->path].calls++;
}

static void leave_above(struct walker *walker, struct task_calls *task, struct call *call,
			const struct ending *ending)
{
	struct graph *graph = (struct graph *)((char *)walker - offsetof(struct graph, above));
	struct path *path = &graph->callers.all[call->path];

	(void)task;
	if (!call->path || !ending->returned || !is_counted(graph, call))
		return;
	path->returned++;
	path->total += ending->took;
	path->total_cpu += ending->took_cpu;
}

static uint64_t path_total(const struct path *path)
{
	return path->total;
}

/*
 * Append the functions from the outermost caller down to @place. A path is at most as deep as the
 * calls that walk.c keeps open.
 */
static void json_steps(const struct graph *graph, uint32_t place, struct buffer *to)
{
	const struct path *path = &graph->callers.all[place];

	if (path->parent)
		json_steps(graph, path->parent, to);
	json_step(to, symbols_title(graph->view.symbols, path->id));
}

static void put_json(const struct graph *graph, const struct paths *paths, uint32_t place,
		     const char *way)
{
	const struct path *path = &paths->all[place];
	struct buffer line = { };

	buffer_char(&line, '{');
	json_text(&line, "way", way);
	if (paths == &graph->tally.paths) {
		tally_json_path(&graph->tally, place, &line);
	} else {
		buffer_puts(&line, ",\"path\":[");
		json_steps(graph, place, &line);
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

/* Print a line. @path: the place with the times of the calls; NULL: no times. */
static void put_line(const struct graph *graph, uint32_t id, uint64_t calls, unsigned int depth,
		     const struct path *path)
{
	struct buffer line = { };

	if (path) {
		buffer_duration_column(&line, path->total_cpu, 10);
		buffer_duration_column(&line, path->total, 11);
	}
	buffer_printf(&line, "%10llu  ", (unsigned long long)calls);
	buffer_spaces(&line, 2 * depth);
	buffer_puts(&line, symbols_title(graph->view.symbols, id));
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
			put_line(graph, paths->all[at].id, paths->all[at].calls, depth,
				 graph->tally.walker.returns ? &paths->all[at] : NULL);
		if (!graph->depth || depth < graph->depth)
			put_below(graph, at, depth + 1);
	}
}

static int by_id(const void *a, const void *b)
{
	const struct upward *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static int by_sum(const void *a, const void *b)
{
	const struct upward *x = a, *y = b;

	if (x->sum != y->sum)
		return x->sum > y->sum ? -1 : 1;
	return by_id(a, b);
}

/* Return how many paths from @ways on have the same function at @at; @end ends the array. */
static size_t with_same_id(const struct upward *ways, const struct upward *end)
{
	const struct upward *way = ways;

	while (way < end && way->id == ways->id)
		way++;
	return way - ways;
}

/* Sort paths by the function at @at, the one with most calls first. */
static void sort_ways(const struct graph *graph, struct upward *ways, struct upward *end)
{
	const struct path *all = graph->callers.all;
	struct upward *way, *same;
	uint64_t sum;

	for (way = ways; way < end; way++)
		way->id = all[way->at].id;
	qsort(ways, end - ways, sizeof(*ways), by_id);
	for (way = ways; way < end; way = same) {
		for (sum = 0, same = way; same < end && same->id == way->id; same++)
			sum += all[same->from].calls;
		for (same = way; same < end && same->id == way->id; same++)
			same->sum = sum;
	}
	qsort(ways, end - ways, sizeof(*ways), by_sum);
}

/*
 * Go up by one caller in @nr paths. Move the paths that have no more callers to the end: at most
 * one, since paths with the same callers have the same place. Return the number of the others.
 */
static size_t go_up(const struct graph *graph, struct upward *ways, size_t nr)
{
	struct upward ended;
	size_t i, left = 0;

	for (i = 0; i < nr; i++) {
		ways[i].at = graph->callers.all[ways[i].at].parent;
		if (ways[i].at) {
			ended = ways[left];
			ways[left++] = ways[i];
			ways[i] = ended;
		}
	}
	return left;
}

/*
 * Print paths from the function upwards, grouped by the function at @at; @end ends the array. The
 * recursion is at most as deep as the calls that walk.c keeps open.
 */
static void put_above(struct graph *graph, struct upward *ways, struct upward *end,
		      unsigned int depth)
{
	size_t nr, left;

	sort_ways(graph, ways, end);
	for (; ways < end && !is_full(graph); ways += nr) {
		nr = with_same_id(ways, end);
		if (!graph->view.json) {
			graph->shown++;
			put_line(graph, ways->id, ways->sum, depth, NULL);
		}
		left = go_up(graph, ways, nr);
		if (graph->view.json && left < nr) {
			graph->shown++;
			put_json(graph, &graph->callers, ways[left].from, "called by");
		}
		if (!graph->depth || depth < graph->depth)
			put_above(graph, ways, ways + left, depth + 1);
	}
}

/* Print all paths from the function upwards. */
static void put_callers(struct graph *graph)
{
	const struct path *all = graph->callers.all;
	struct upward *ways;
	size_t nr = 0;
	uint32_t i;

	for (i = 1; i < graph->callers.nr; i++)
		nr += !!all[i].calls;
	ways = xcalloc(nr + 1, sizeof(*ways));
	for (i = 1, nr = 0; i < graph->callers.nr; i++)
		if (all[i].calls)
			ways[nr++] = (struct upward) { .from = i, .at = i };
	put_above(graph, ways, ways + nr, 0);
	free(ways);
}

static void heading(const struct graph *graph, const char *text)
{
	if (!graph->view.json)
		view_heading(&graph->view, text);
}

static void put_graph(struct graph *graph)
{
	paths_sort(&graph->tally.paths,
		   graph->tally.walker.returns ? path_total : path_calls);
	heading(graph, "# called by: calls, and the call paths upwards");
	put_callers(graph);
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
