// SPDX-License-Identifier: GPL-2.0
/*
 * mctrace slow: print what the slowest calls of a function did that its usual calls did not. The
 * first walk of the recording measures each call. Two more walks sum up what the slow calls did,
 * and what the usual calls did: those from the 40th to the 60th percentile.
 */
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "json.h"
#include "mctrace.h"
#include "select.h"
#include "tally.h"
#include "util.h"

static const char usage[] = "slow FUNCTION [OPTION...] [FILE]";
static const char help[] =
"What the slowest 1 % of FUNCTION's calls did that its usual calls did not: for each call path\n"
"below FUNCTION, the time that it took in a slow call and in a usual call.\n";

static struct {
	unsigned long percent, lines;
} asked = { .percent = 1, .lines = 20 };

static const struct option options[] = {
	OPT_NUMBER(0, "percent", &asked.percent, "N", "the slowest N % (1)"),
	OPT_COUNT(0, "lines", &asked.lines, "N", "show the N greatest differences (20)"),
	OPT_INSTEAD('p', NULL, "-p is --pid in other commands: --percent N"),
	OPT_PARENT(select_options)
};

enum group { NEITHER, SLOW, USUAL };

/* A call of the function, unless nested in another call of it. */
struct one {
	uint64_t took;		/* ns */
	bool returned;
	enum group group;
};

struct slow {
	struct view view;
	struct one *calls;	/* in the order of their beginnings */
	uint64_t nr, room;
	unsigned long percent, lines;
};

/* What a group of calls did. */
struct done {
	struct tally tally;
	struct slow *slow;
	enum group group;
	uint64_t calls, total, total_cpu, least, most;
};

static bool wants(struct tally *tally, uint64_t nr)
{
	struct done *done = (struct done *)tally;
	struct slow *slow = done->slow;

	if (done->group != NEITHER)
		return slow->calls[nr].group == done->group;
	if (nr == slow->room) {
		slow->room = slow->room ? 2 * slow->room : 1024;
		slow->calls = xrealloc(slow->calls, slow->room, sizeof(*slow->calls));
	}
	slow->calls[nr] = (struct one) { };
	slow->nr = nr + 1;
	return true;
}

static void ended(struct tally *tally, uint64_t nr, const struct ending *ending)
{
	struct done *done = (struct done *)tally;
	struct one *call = &done->slow->calls[nr];

	call->took = ending->took;
	call->returned = true;
	if (!done->calls || ending->took < done->least)
		done->least = ending->took;
	if (ending->took > done->most)
		done->most = ending->took;
	done->calls++;
	done->total += ending->took;
	done->total_cpu += ending->took_cpu;
}

static void begin(struct slow *slow, struct done *done, const char *function,
		  enum group group)
{
	*done = (struct done) { .slow = slow, .group = group };
	tally_begin(&done->tally, &slow->view);
	done->tally.function = function;
	done->tally.wants = wants;
	done->tally.ended = ended;
}

static int by_time(const void *a, const void *b)
{
	const struct one *x = *(struct one * const *)a, *y = *(struct one * const *)b;

	if (x->took != y->took)
		return x->took < y->took ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Put the slowest calls, at least one, and the usual calls into their groups. */
static void divide(struct slow *slow, uint64_t returned)
{
	struct one **order = xcalloc(returned, sizeof(*order));
	uint64_t i, nr = 0, nr_slow;

	for (i = 0; i < slow->nr; i++)
		if (slow->calls[i].returned)
			order[nr++] = &slow->calls[i];
	qsort(order, nr, sizeof(*order), by_time);
	nr_slow = nr * slow->percent / 100 ?: 1;
	for (i = nr * 2 / 5; i <= nr * 3 / 5 && i < nr; i++)
		order[i]->group = USUAL;
	for (i = nr - nr_slow; i < nr; i++)
		order[i]->group = SLOW;
	free(order);
}

/* --- differences --- */

struct difference {
	uint32_t slow, usual;	/* places; 0: none */
	int64_t more;		/* own ns of a slow call minus a usual call */
};

static int by_difference(const void *a, const void *b)
{
	const struct difference *x = a, *y = b;
	uint64_t m = x->more < 0 ? -x->more : x->more, n = y->more < 0 ? -y->more : y->more;

	if (m != n)
		return m > n ? -1 : 1;
	return x->slow < y->slow ? -1 : x->slow > y->slow;
}

static uint64_t each(uint64_t total, const struct done *done)
{
	return done->calls ? total / done->calls : 0;
}

/*
 * Add the differences of places @s and @u and all places below them. One of both may be 0: that
 * group has no such place. If both are 0 they are the roots.
 */
static void compare(const struct done *slow, const struct done *usual, uint32_t s, uint32_t u,
		    struct difference *list, size_t *nr)
{
	const struct path *all = slow->tally.paths.all, *others = usual->tally.paths.all;
	uint32_t at;

	if (s || u)
		list[(*nr)++] = (struct difference) {
			.slow = s,
			.usual = u,
			.more = each(s ? all[s].self : 0, slow) -
				each(u ? others[u].self : 0, usual),
		};
	for (at = s || !u ? all[s].first : 0; at; at = all[at].next)
		compare(slow, usual, at, u || !s ?
			paths_find(&usual->tally.paths, u, all[at].id) : 0, list, nr);
	for (at = u || !s ? others[u].first : 0; at; at = others[at].next)
		if ((!s && u) || !paths_find(&slow->tally.paths, s, others[at].id))
			compare(slow, usual, 0, at, list, nr);
}

static void put_way(struct buffer *to, const struct tally *tally, uint32_t place)
{
	uint32_t above = tally->paths.all[place].parent;

	if (above) {
		put_way(to, tally, above);
		buffer_char(to, ';');
	}
	buffer_puts(to, tally_name(tally, place));
}

static void put_difference(const struct slow *slow, const struct done *done,
			   const struct done *usual, const struct difference *difference)
{
	const struct path *s = &done->tally.paths.all[difference->slow];
	const struct path *u = &usual->tally.paths.all[difference->usual];
	const struct tally *of = difference->slow ? &done->tally : &usual->tally;
	uint32_t place = difference->slow ?: difference->usual;
	struct buffer to = { }, way = { };

	if (slow->view.json) {
		buffer_puts(&to, "{\"kind\":\"way\"");
		tally_json_path(of, place, &to);
		json_number(&to, "slow_self_ns", each(s->self, done));
		json_number(&to, "usual_self_ns", each(u->self, usual));
		json_number(&to, "slow_self_cpu_ns", each(s->self_cpu, done));
		json_number(&to, "usual_self_cpu_ns", each(u->self_cpu, usual));
		json_number(&to, "slow_calls", difference->slow ? s->calls : 0);
		json_number(&to, "usual_calls", difference->usual ? u->calls : 0);
		buffer_puts(&to, "}\n");
	} else {
		put_way(&way, of, place);
		buffer_char(&way, '\0');
		buffer_difference_column(&to, difference->more, 12);
		buffer_duration_column(&to, each(s->self, done), 11);
		buffer_duration_column(&to, each(s->self_cpu, done), 11);
		buffer_duration_column(&to, each(u->self, usual), 11);
		buffer_duration_column(&to, each(u->self_cpu, usual), 11);
		buffer_printf(&to, " %9.2f %9.2f  %s\n",
			      difference->slow ? (double)s->calls / done->calls : 0,
			      difference->usual ? (double)u->calls / usual->calls : 0, way.data);
	}
	buffer_write(&to, stdout);
	buffer_free(&to);
	buffer_free(&way);
}

static void put_group_json(const char *name, const struct done *done)
{
	struct buffer to = { };

	buffer_char(&to, '{');
	json_text(&to, "kind", "group");
	json_text(&to, "group", name);
	json_number(&to, "calls", done->calls);
	json_number(&to, "least_ns", done->least);
	json_number(&to, "most_ns", done->most);
	json_number(&to, "avg_ns", each(done->total, done));
	json_number(&to, "avg_cpu_ns", each(done->total_cpu, done));
	buffer_puts(&to, "}\n");
	buffer_write(&to, stdout);
	buffer_free(&to);
}

static void put_group_text(const char *name, const struct done *done)
{
	struct buffer to = { };

	buffer_printf(&to, "# %s: %llu calls, ", name, (unsigned long long)done->calls);
	buffer_duration(&to, done->least);
	buffer_puts(&to, " to ");
	buffer_duration(&to, done->most);
	buffer_puts(&to, ", ");
	buffer_duration(&to, each(done->total, done));
	buffer_puts(&to, " on average, ");
	buffer_duration(&to, each(done->total_cpu, done));
	buffer_puts(&to, " of it on a CPU\n");
	buffer_write(&to, stdout);
	buffer_free(&to);
}

static void put_group(const struct slow *slow, const char *name, const struct done *done)
{
	if (slow->view.json)
		put_group_json(name, done);
	else
		put_group_text(name, done);
}

static void put_all(const struct slow *slow, const struct done *done, const struct done *usual)
{
	struct difference *list;
	size_t nr = 0, i;

	list = xcalloc(done->tally.paths.nr + usual->tally.paths.nr, sizeof(*list));
	compare(done, usual, 0, 0, list, &nr);
	qsort(list, nr, sizeof(*list), by_difference);
	put_group(slow, "slow", done);
	put_group(slow, "usual", usual);
	if (!slow->view.json)
		printf("#%11s%11s%11s%11s%11s %9s %9s  %s\n", "slow-usual", "slow",
		       "on CPU", "usual", "on CPU", "calls", "calls", "own time per call");
	for (i = 0; i < nr && i < slow->lines && list[i].more; i++)
		put_difference(slow, done, usual, &list[i]);
	free(list);
}

int cmd_slow(int argc, char **argv)
{
	struct slow slow = { };
	struct done all, done, usual;
	const char *function;

	argc = options_parse(argc, argv, options, usage, help, OPTIONS_ANYWHERE);
	if (argc < 2)
		die_usage("slow", "slow calls of which function?");
	if (argc > 3)
		die_usage("slow", "one function, and one recording, at a time");
	if (!asked.percent || asked.percent > 50)
		die_usage("slow", "--percent is from 1 to 50");
	function = argv[1];
	slow.percent = asked.percent;
	slow.lines = asked.lines;
	view_open(&slow.view, argv[2]);
	select_always(slow.view.select, function);
	if (!has_returns(slow.view.from))
		die("%s has no returns: 'mctrace record -g' records them", slow.view.from->path);

	begin(&slow, &all, function, NEITHER);
	begin(&slow, &done, function, SLOW);
	begin(&slow, &usual, function, USUAL);
	tally_walk(&all.tally);
	check_function(&slow.view, function);
	if (!slow.nr)
		die_not_called(&slow.view, function, NULL);
	if (!all.calls)
		die("no call of %s has returned in %s", function, slow.view.from->path);
	divide(&slow, all.calls);
	tally_walk(&done.tally);
	tally_walk(&usual.tally);
	put_all(&slow, &done, &usual);
	tally_end(&all.tally);
	tally_end(&done.tally);
	tally_end(&usual.tally);
	free(slow.calls);
	return view_close(&slow.view);
}
