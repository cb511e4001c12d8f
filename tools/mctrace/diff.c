// SPDX-License-Identifier: GPL-2.0
/*
 * mctrace diff: compare two recordings. Print the call paths that only one has, the functions that
 * only one has, and the times of the functions that both have.
 */
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "functions.h"
#include "json.h"
#include "mctrace.h"
#include "select.h"
#include "tally.h"
#include "util.h"
#include "walk.h"

static const char usage[] = "diff [OPTION...] A B";
static const char help[] =
"Compares two recordings: shows call paths that only one of them has ('-' A, '+' B), functions\n"
"that only one of them has, and how long the functions of both took. Interrupts come by chance,\n"
"so their calls are omitted.\n";

static struct {
	bool interrupts;
	unsigned long lines;
} asked = { .lines = 20 };

static const struct option options[] = {
	OPT_BOOLEAN('I', "interrupts", &asked.interrupts, "include the calls of interrupts"),
	OPT_COUNT(0, "lines", &asked.lines, "N", "the N greatest differences of each list (20)"),
	OPT_PARENT(select_depth_options)
};

enum { A, B, NR };

struct function {
	const char *name;
	uint64_t calls[NR], total[NR];	/* total: ns */
};

/* The beginning of a call path that only one recording has: both have the callers. */
struct way {
	int who;		/* A or B */
	uint32_t place;
	uint64_t calls;		/* of the place and all places below */
};

struct diff {
	struct view views[NR];
	struct tally tallies[NR];
	struct functions *ids;		/* of both recordings */
	struct function *functions;	/* by id, until they are sorted */
	size_t nr;
	struct way *ways;
	size_t nr_ways;
	unsigned long lines;
	bool times;
};

/* Sum up each function's calls and time. Count the time of recursive calls once: the outermost. */
static void add_up(struct diff *diff, int who)
{
	const struct path *all = diff->tallies[who].paths.all, *path;
	struct function *function;
	uint32_t place, above;

	for (place = 1; place < diff->tallies[who].paths.nr; place++) {
		path = &all[place];
		function = &diff->functions[path->id];
		function->calls[who] += path->calls;
		for (above = path->parent; above && all[above].id != path->id;)
			above = all[above].parent;
		if (!above)
			function->total[who] += path->total;
	}
}

/* --- call paths --- */

static void add_way(struct diff *diff, int who, uint32_t place)
{
	if (!(diff->nr_ways & (diff->nr_ways - 1)))	/* 0 or a power of two */
		diff->ways = xrealloc(diff->ways, diff->nr_ways ? 2 * diff->nr_ways : 1,
				      sizeof(*diff->ways));
	diff->ways[diff->nr_ways++] = (struct way) {
		.who = who,
		.place = place,
		.calls = diff->tallies[who].paths.all[place].sum,
	};
}

/*
 * Add the paths below a common path that only one recording has. @a and @b: its places in A and B.
 */
static void compare(struct diff *diff, uint32_t a, uint32_t b)
{
	const struct paths *in_a = &diff->tallies[A].paths, *in_b = &diff->tallies[B].paths;
	const struct path *of_a = in_a->all, *of_b = in_b->all;
	uint32_t at, other;

	for (at = of_a[a].first; at; at = of_a[at].next) {
		other = paths_find(in_b, b, of_a[at].id);
		if (other)
			compare(diff, at, other);
		else
			add_way(diff, A, at);
	}
	for (at = of_b[b].first; at; at = of_b[at].next)
		if (!paths_find(in_a, a, of_b[at].id))
			add_way(diff, B, at);
}

static int by_calls(const void *a, const void *b)
{
	const struct way *x = a, *y = b;

	if (x->calls != y->calls)
		return x->calls > y->calls ? -1 : 1;
	if (x->who != y->who)
		return x->who - y->who;
	return x->place < y->place ? -1 : x->place > y->place;
}

static void put_stack(struct buffer *to, const struct diff *diff, int who, uint32_t place)
{
	const struct path *path = &diff->tallies[who].paths.all[place];

	if (path->parent) {
		put_stack(to, diff, who, path->parent);
		buffer_char(to, ';');
	}
	buffer_puts(to, diff->functions[path->id].name);
}

static void json_steps(struct buffer *to, const struct diff *diff, int who, uint32_t place)
{
	const struct path *path = &diff->tallies[who].paths.all[place];

	if (path->parent)
		json_steps(to, diff, who, path->parent);
	json_step(to, diff->functions[path->id].name);
}

static void put_way(const struct diff *diff, const struct way *way)
{
	struct buffer line = { };

	if (diff->views[A].json) {
		buffer_char(&line, '{');
		json_text(&line, "kind", "way");
		json_text(&line, "only_in", way->who == A ? "A" : "B");
		buffer_puts(&line, ",\"path\":[");
		json_steps(&line, diff, way->who, way->place);
		buffer_char(&line, ']');
		json_number(&line, "calls", way->calls);
		buffer_puts(&line, "}\n");
	} else {
		buffer_printf(&line, "%c %10llu  ", way->who == A ? '-' : '+',
			      (unsigned long long)way->calls);
		put_stack(&line, diff, way->who, way->place);
		buffer_char(&line, '\n');
	}
	buffer_write(&line, stdout);
	buffer_free(&line);
}

/* --- functions --- */

static const struct diff *sorted;	/* for by_difference() */

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static int by_difference(const void *a, const void *b)
{
	const struct function *x = a, *y = b;
	uint64_t m = distance(x->total[A], x->total[B]), n = distance(y->total[A], y->total[B]);

	if (sorted->times && m != n)
		return m > n ? -1 : 1;
	m = distance(x->calls[A], x->calls[B]);
	n = distance(y->calls[A], y->calls[B]);
	if (m != n)
		return m > n ? -1 : 1;
	return strcmp(x->name, y->name);
}

static bool is_in_both(const struct function *function)
{
	return function->calls[A] && function->calls[B];
}

static void put_function(const struct diff *diff, const struct function *function)
{
	struct buffer line = { };

	if (diff->views[A].json) {
		buffer_char(&line, '{');
		json_text(&line, "kind", "function");
		json_function(&line, "function", function->name);
		json_number(&line, "calls_a", function->calls[A]);
		json_number(&line, "calls_b", function->calls[B]);
		if (diff->times) {
			json_number(&line, "total_a_ns", function->total[A]);
			json_number(&line, "total_b_ns", function->total[B]);
		}
		buffer_puts(&line, "}\n");
	} else if (is_in_both(function)) {
		if (diff->times) {
			buffer_difference_column(&line,
						 function->total[B] - function->total[A], 11);
			buffer_duration_column(&line, function->total[A], 11);
			buffer_duration_column(&line, function->total[B], 11);
		}
		buffer_printf(&line, " %10llu %10llu  %s\n",
			      (unsigned long long)function->calls[A],
			      (unsigned long long)function->calls[B], function->name);
	} else {
		buffer_printf(&line, "%c %10llu  %s\n", function->calls[A] ? '-' : '+',
			      (unsigned long long)(function->calls[A] + function->calls[B]),
			      function->name);
	}
	buffer_write(&line, stdout);
	buffer_free(&line);
}

/* Print the functions of both recordings, or those of only one. */
static void put_functions(const struct diff *diff, bool both)
{
	unsigned long shown = 0, left = 0;
	size_t i;

	for (i = 0; i < diff->nr; i++) {
		const struct function *function = &diff->functions[i];

		if (is_in_both(function) != both || !(function->calls[A] + function->calls[B]))
			continue;
		if (both && function->calls[A] == function->calls[B] &&
		    (!diff->times || function->total[A] == function->total[B]))
			continue;
		if (shown == diff->lines) {
			left++;
			continue;
		}
		shown++;
		put_function(diff, function);
	}
	if (left && !diff->views[A].json)
		printf("# and %lu more: --lines\n", left);
}

static void heading(const struct diff *diff, const char *text)
{
	if (!diff->views[A].json)
		view_heading(&diff->views[A], text);
}

static void put_all(struct diff *diff)
{
	size_t i;

	heading(diff, "# call paths that only A (-) or B (+) has: calls, and the path");
	for (i = 0; i < diff->nr_ways && i < diff->lines; i++)
		put_way(diff, &diff->ways[i]);
	if (i < diff->nr_ways && !diff->views[A].json)
		printf("# and %zu more: --lines\n", diff->nr_ways - i);
	sorted = diff;			/* the ids in paths are not used any more */
	qsort(diff->functions, diff->nr, sizeof(*diff->functions), by_difference);
	heading(diff, "\n# functions that only A (-) or B (+) has: calls");
	put_functions(diff, false);
	heading(diff, diff->times ? "\n# functions of both: total time, B - A, A, B; calls, A, B" :
		"\n# functions of both: calls, A, B");
	put_functions(diff, true);
}

/*
 * End mctrace if only one recording has returns, because the paths of the other one differ. A raw
 * file of an idle CPU may have calls alone.
 */
static void check_returns(const struct diff *diff)
{
	const struct recording *a = diff->views[A].from, *b = diff->views[B].from;

	if (has_returns(a) == has_returns(b))
		return;
	if (a->is_raw || b->is_raw)
		warning("%s has no returns: times can't be compared",
			has_returns(a) ? b->path : a->path);
	else
		die("%s has returns and %s has none: they can't be compared",
		    has_returns(a) ? a->path : b->path, has_returns(a) ? b->path : a->path);
}

int cmd_diff(int argc, char **argv)
{
	struct diff diff = { };
	const char *files[NR];
	int who, ret = EXIT_SUCCESS;
	size_t i;

	argc = options_parse(argc, argv, options, usage, help, OPTIONS_ANYWHERE);
	if (argc + !!view_asked.input != NR + 1)
		die_usage("diff", "diff of which two recordings?");
	files[A] = view_asked.input ?: argv[1];
	files[B] = argv[argc - 1];
	view_asked.input = NULL;
	diff.lines = asked.lines;
	diff.views[B].no_pager = true;
	diff.ids = functions_new(true);
	for (who = A; who < NR; who++) {
		diff.views[who].check_later = true;
		diff.views[who].sums = diff.ids;
		view_open(&diff.views[who], files[who]);
	}
	check_returns(&diff);
	for (who = A; who < NR; who++) {
		tally_begin(&diff.tallies[who], &diff.views[who]);
		diff.tallies[who].no_interrupts = !asked.interrupts;
		tally_walk(&diff.tallies[who]);
	}
	for (who = A; who < NR; who++)
		select_check(diff.views[who].select);
	diff.times = diff.tallies[A].walker.returns && diff.tallies[B].walker.returns;
	diff.nr = functions_nr(diff.ids);
	diff.functions = xcalloc(diff.nr, sizeof(*diff.functions));
	for (i = 0; i < diff.nr; i++)
		diff.functions[i].name = functions_title(diff.ids, i);
	for (who = A; who < NR; who++) {
		paths_sum(&diff.tallies[who].paths, path_calls);
		add_up(&diff, who);
	}
	compare(&diff, 0, 0);
	if (diff.nr_ways)
		qsort(diff.ways, diff.nr_ways, sizeof(*diff.ways), by_calls);
	put_all(&diff);
	free(diff.ways);
	free(diff.functions);
	for (who = A; who < NR; who++)
		tally_end(&diff.tallies[who]);
	for (who = B; who >= A; who--)
		ret |= view_close(&diff.views[who]);
	functions_free(diff.ids);
	return ret;
}
