// SPDX-License-Identifier: GPL-2.0
/*
 * mctrace diff: where two recordings differ. First which ways through functions only one of them
 * went, then which functions only one has, then how long what both have took.
 */
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "json.h"
#include "mctrace.h"
#include "tally.h"
#include "util.h"

static const char usage[] = "diff [OPTION...] A B";
static const char help[] =
"Where two recordings differ: ways through functions that only one of them went ('-' A, '+' B),\n"
"functions that only one of them has, and for those of both how long they took. What interrupts\n"
"do comes by chance, and is left out.\n"
"\n"
"  -I, --interrupts      is not\n"
"  -n, --lines N         of each kind the N greatest differences (20)\n"
VIEW_HELP;

static const struct option options[] = {
	{ "interrupts", no_argument, NULL, 'I' },
	{ "lines", required_argument, NULL, 'n' },
	VIEW_OPTIONS,
	{ }
};

enum { A, B, NR };

/* A function, by name: the two kernels need not be the same. */
struct function {
	const char *name;
	uint64_t calls[NR], total[NR];	/* ns */
};

/* A way that only one of them went, the last function's callers are in both. */
struct way {
	int who;
	uint32_t place;
	uint64_t calls;		/* of it and all below */
};

struct diff {
	struct view views[NR];
	struct tally tallies[NR];
	uint32_t *ids[NR];	/* by the recording's id: which function */
	struct function *functions;
	size_t nr;
	struct way *ways;
	size_t nr_ways;
	unsigned long lines;
	bool times;
};

/* --- the same names --- */

struct name {
	const char *name;
	int who;
	uint32_t id;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct name *)a)->name, ((const struct name *)b)->name);
}

static void join(struct diff *diff)
{
	size_t nr[NR], i, n = 0;
	struct name *names;
	int who;

	for (who = A; who < NR; who++)
		nr[who] = symbols_functions(diff->views[who].symbols);
	names = xcalloc(nr[A] + nr[B], sizeof(*names));
	for (who = A; who < NR; who++) {
		diff->ids[who] = xcalloc(nr[who], sizeof(**diff->ids));
		for (i = 0; i < nr[who]; i++)
			names[n++] = (struct name) {
				symbols_name(diff->views[who].symbols, i), who, i
			};
	}
	qsort(names, n, sizeof(*names), by_name);
	diff->functions = xcalloc(n, sizeof(*diff->functions));
	for (i = 0; i < n; i++) {
		if (!i || strcmp(names[i - 1].name, names[i].name))
			diff->functions[diff->nr++].name = names[i].name;
		diff->ids[names[i].who][names[i].id] = diff->nr - 1;
	}
	free(names);
}

/* What each function has in all; of calls within calls of itself only the outer ones' time. */
static void add_up(struct diff *diff, int who)
{
	const struct path *all = diff->tallies[who].paths.all, *path;
	struct function *function;
	uint32_t place, above;

	for (place = 1; place < diff->tallies[who].paths.nr; place++) {
		path = &all[place];
		function = &diff->functions[diff->ids[who][path->id]];
		function->calls[who] += path->calls;
		for (above = path->parent; above && all[above].id != path->id;)
			above = all[above].parent;
		if (!above)
			function->total[who] += path->total;
	}
}

/* --- ways --- */

static uint32_t same_below(const struct diff *diff, int who, uint32_t place, uint32_t function)
{
	const struct path *all = diff->tallies[who].paths.all;
	uint32_t at;

	for (at = all[place].first; at; at = all[at].next)
		if (diff->ids[who][all[at].id] == function)
			return at;
	return 0;
}

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

/* Below two places that are the same. */
static void compare(struct diff *diff, uint32_t a, uint32_t b)
{
	const struct path *of_a = diff->tallies[A].paths.all, *of_b = diff->tallies[B].paths.all;
	uint32_t at, other;

	for (at = of_a[a].first; at; at = of_a[at].next) {
		other = same_below(diff, B, b, diff->ids[A][of_a[at].id]);
		if (other)
			compare(diff, at, other);
		else
			add_way(diff, A, at);
	}
	for (at = of_b[b].first; at; at = of_b[at].next)
		if (!same_below(diff, A, a, diff->ids[B][of_b[at].id]))
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

static void put_stack(struct buffer *to, const struct tally *tally, uint32_t place)
{
	uint32_t above = tally->paths.all[place].parent;

	if (above) {
		put_stack(to, tally, above);
		buffer_char(to, ';');
	}
	buffer_puts(to, tally_name(tally, place));
}

static void put_way(const struct diff *diff, const struct way *way)
{
	struct buffer line = { }, stack = { };

	put_stack(&stack, &diff->tallies[way->who], way->place);
	buffer_char(&stack, '\0');
	if (diff->views[A].json) {
		buffer_char(&line, '{');
		json_text(&line, "only_in", way->who == A ? "A" : "B");
		json_text(&line, "path", stack.data);
		json_number(&line, "calls", way->calls);
		buffer_puts(&line, "}\n");
	} else {
		buffer_printf(&line, "%c %10llu  %s\n", way->who == A ? '-' : '+',
			      (unsigned long long)way->calls, stack.data);
	}
	buffer_write(&line, stdout);
	buffer_free(&line);
	buffer_free(&stack);
}

/* --- functions --- */

static const struct diff *sorted;

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
		json_text(&line, "function", function->name);
		json_number(&line, "calls_a", function->calls[A]);
		json_number(&line, "calls_b", function->calls[B]);
		if (diff->times) {
			json_number(&line, "total_a_ns", function->total[A]);
			json_number(&line, "total_b_ns", function->total[B]);
		}
		buffer_puts(&line, "}\n");
	} else if (is_in_both(function)) {
		if (diff->times)
			buffer_printf(&line, "%+14.3f %14.3f %14.3f ",
				      function->total[B] / 1e3 - function->total[A] / 1e3,
				      function->total[A] / 1e3, function->total[B] / 1e3);
		buffer_printf(&line, "%10llu %10llu  %s\n",
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

/* Those of both, or those of one alone. */
static void put_functions(const struct diff *diff, bool both)
{
	unsigned long shown = 0, left = 0;
	size_t i;

	for (i = 0; i < diff->nr; i++) {
		const struct function *function = &diff->functions[i];

		if (is_in_both(function) != both || !(function->calls[A] + function->calls[B]))
			continue;
		if (both && function->calls[A] == function->calls[B] &&
		    function->total[A] == function->total[B])
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

	heading(diff, "# ways that only A (-) or B (+) went: calls, and the way");
	for (i = 0; i < diff->nr_ways && i < diff->lines; i++)
		put_way(diff, &diff->ways[i]);
	if (i < diff->nr_ways && !diff->views[A].json)
		printf("# and %zu more: --lines\n", diff->nr_ways - i);
	heading(diff, "\n# functions that only A (-) or B (+) has: calls");
	put_functions(diff, false);
	heading(diff, diff->times ? "\n# functions of both: us in all, B - A, A, B; calls, A, B" :
		"\n# functions of both: calls, A, B");
	put_functions(diff, true);
}

int cmd_diff(int argc, char **argv)
{
	struct diff diff = { .lines = 20 };
	bool interrupts = false;
	struct view *a = &diff.views[A];
	int c, who, ret = EXIT_SUCCESS;

	while ((c = next_option(argc, argv, "In:i:h", options)) != -1) {
		if (c == 'I')
			interrupts = true;
		else if (c == 'n')
			diff.lines = option_number("diff", "--lines", optarg);
		else
			view_option(a, c, optarg, "diff", usage, help);
	}
	if (argc - optind != 2)
		die_usage("diff", "diff of which two recordings?");
	diff.views[B] = *a;
	diff.views[B].no_pager = true;
	for (who = A; who < NR; who++) {
		view_open(&diff.views[who], argv[optind + who]);
		tally_begin(&diff.tallies[who], &diff.views[who]);
		diff.tallies[who].no_interrupts = !interrupts;
		tally_walk(&diff.tallies[who]);
	}
	diff.times = diff.tallies[A].walker.returns && diff.tallies[B].walker.returns;
	join(&diff);
	for (who = A; who < NR; who++) {
		add_up(&diff, who);
		paths_sum(&diff.tallies[who].paths, path_calls);
	}
	compare(&diff, 0, 0);
	if (diff.nr_ways)
		qsort(diff.ways, diff.nr_ways, sizeof(*diff.ways), by_calls);
	sorted = &diff;
	qsort(diff.functions, diff.nr, sizeof(*diff.functions), by_difference);
	put_all(&diff);
	free(diff.ways);
	free(diff.functions);
	for (who = A; who < NR; who++) {
		free(diff.ids[who]);
		tally_end(&diff.tallies[who]);
	}
	for (who = B; who >= A; who--)
		ret |= view_close(&diff.views[who]);
	return ret;
}
