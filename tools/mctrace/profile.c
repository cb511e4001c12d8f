// SPDX-License-Identifier: GPL-2.0
/* mctrace profile: for each function how often it was called, and how long that took. */
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "json.h"
#include "mctrace.h"
#include "paths.h"
#include "util.h"
#include "view.h"
#include "walk.h"

static const char usage[] = "profile [OPTION...] [FILE]";
static const char help[] =
"How often each function was called, and, of a recording with returns, how long it took: in\n"
"all, without what it called, on average and at most.\n"
"\n"
"  -s, --sort COLUMN     total, self, avg, max, calls or name\n"
"  -c, --callers         below each function, who called it\n"
"  -b, --by-task         for each task on its own\n"
VIEW_HELP;

static const struct option options[] = {
	{ "sort", required_argument, NULL, 's' },
	{ "callers", no_argument, NULL, 'c' },
	{ "by-task", no_argument, NULL, 'b' },
	VIEW_OPTIONS,
	{ }
};

/* Of a function, or of one caller of a function. All times in ns. */
struct entry {
	uint32_t id;
	uint32_t place;		/* in paths */
	uint64_t calls, returned;
	uint64_t total;		/* calls of itself within itself count once */
	uint64_t self;
	uint64_t sum;		/* those too: what the average is of */
	uint64_t max;
	bool estimated;		/* not all times were recorded */
};

struct profile {
	struct walker walker;
	struct view view;
	const char *sort;
	bool callers, by_task;
	struct paths paths;	/* [task] / function / caller: places, for entries */
	struct entry *entries;	/* by place */
	uint32_t nr, room;
	char **tasks;		/* names, whose numbers are ids in paths */
	uint32_t nr_tasks;
};

static struct entry *entry_of(struct profile *profile, uint32_t place, uint32_t id)
{
	while (place >= profile->room) {
		profile->room = profile->room ? 2 * profile->room : 4096;
		profile->entries = xrealloc(profile->entries, profile->room,
					    sizeof(*profile->entries));
	}
	for (; profile->nr <= place; profile->nr++)
		profile->entries[profile->nr] = (struct entry) { };
	profile->entries[place].id = id;
	profile->entries[place].place = place;
	return &profile->entries[place];
}

/* The root of a task: by name, since most have the same as others that do the same. */
static uint32_t root_of(struct profile *profile, const struct task_calls *task)
{
	uint32_t i;

	if (!profile->by_task)
		return 0;
	for (i = 0; i < profile->nr_tasks; i++)
		if (!strcmp(profile->tasks[i], task->comm))
			break;
	if (i == profile->nr_tasks) {
		profile->tasks = xrealloc(profile->tasks, i + 1, sizeof(*profile->tasks));
		profile->tasks[i] = xstrdup(task->comm);
		profile->nr_tasks++;
	}
	return paths_below(&profile->paths, 0, i);
}

static struct entry *function_of(struct profile *profile, const struct task_calls *task,
				 const struct call *call)
{
	uint32_t id = call->symbol->id;

	return entry_of(profile, paths_below(&profile->paths, root_of(profile, task), id), id);
}

static struct entry *caller_of(struct profile *profile, const struct task_calls *task,
			       const struct call *call)
{
	uint32_t function = paths_below(&profile->paths, root_of(profile, task), call->symbol->id);
	uint32_t id = symbol_of(profile->view.symbols, call->parent_ip)->id;

	return entry_of(profile, paths_below(&profile->paths, function, id), id);
}

static void enter(struct walker *walker, struct task_calls *task, struct call *call)
{
	struct profile *profile = (struct profile *)walker;

	if (call->implied || !view_shows(&profile->view, task))
		return;
	function_of(profile, task, call)->calls++;
	if (profile->callers)
		caller_of(profile, task, call)->calls++;
}

static bool is_within_itself(const struct task_calls *task, const struct call *call)
{
	const struct call *outer;

	for (outer = task->calls; outer < call; outer++)
		if (outer->symbol->id == call->symbol->id)
			return true;
	return false;
}

static void add(struct entry *entry, const struct ending *ending, bool inner)
{
	entry->returned++;
	entry->sum += ending->took;
	if (!inner)
		entry->total += ending->took;
	entry->self += ending->self;
	if (ending->took > entry->max)
		entry->max = ending->took;
	entry->estimated |= !ending->exact;
}

static void leave(struct walker *walker, struct task_calls *task, struct call *call,
		  const struct ending *ending)
{
	struct profile *profile = (struct profile *)walker;
	bool inner;

	if (!ending->returned || !call->shown)
		return;
	inner = is_within_itself(task, call);
	add(function_of(profile, task, call), ending, inner);
	if (profile->callers)
		add(caller_of(profile, task, call), ending, inner);
}

static uint64_t average(const struct entry *entry)
{
	return entry->returned ? entry->sum / entry->returned : 0;
}

/* --- the order --- */

static const struct profile *sorted;

static uint64_t key_of(const struct entry *entry)
{
	const char *sort = sorted->sort;

	switch (*sort) {
	case 's':
		return entry->self;
	case 'a':
		return average(entry);
	case 'm':
		return entry->max;
	case 'c':
		return entry->calls;
	default:
		return entry->total;
	}
}

static int compare(const void *a, const void *b)
{
	const struct entry *x = *(struct entry * const *)a, *y = *(struct entry * const *)b;

	if (*sorted->sort != 'n' && key_of(x) != key_of(y))
		return key_of(x) > key_of(y) ? -1 : 1;
	return strcmp(symbols_name(sorted->view.symbols, x->id),
		      symbols_name(sorted->view.symbols, y->id));
}

/* What is below @place, sorted; the caller frees it. */
static struct entry **entries_below(const struct profile *profile, uint32_t place, size_t *nr)
{
	const struct path *all = profile->paths.all;
	struct entry **list;
	uint32_t i;

	*nr = 0;
	for (i = all[place].first; i; i = all[i].next)
		++*nr;
	list = xcalloc(*nr, sizeof(*list));
	*nr = 0;
	for (i = all[place].first; i; i = all[i].next)
		if (i < profile->nr && profile->entries[i].calls)
			list[(*nr)++] = &profile->entries[i];
	sorted = profile;
	qsort(list, *nr, sizeof(*list), compare);
	return list;
}

/* --- as JSON and as text --- */

static void put_values(struct buffer *to, const struct entry *entry, bool times)
{
	if (times) {
		json_number(to, "total_ns", entry->total);
		json_number(to, "self_ns", entry->self);
		json_number(to, "avg_ns", average(entry));
		json_number(to, "max_ns", entry->max);
		if (entry->estimated)
			json_bool(to, "estimated", true);
	}
	json_number(to, "calls", entry->calls);
}

static void put_json(const struct profile *profile, const struct entry *entry, const char *task)
{
	struct buffer line = { };
	struct entry **callers;
	size_t nr = 0, i;

	buffer_char(&line, '{');
	if (task)
		json_text(&line, "task", task);
	json_text(&line, "function", symbols_name(profile->view.symbols, entry->id));
	put_values(&line, entry, profile->walker.returns);
	if (profile->callers) {
		callers = entries_below(profile, entry->place, &nr);
		buffer_puts(&line, ",\"callers\":[");
		for (i = 0; i < nr; i++) {
			buffer_puts(&line, i ? ",{" : "{");
			json_text(&line, "function",
				  symbols_name(profile->view.symbols, callers[i]->id));
			put_values(&line, callers[i], profile->walker.returns);
			buffer_char(&line, '}');
		}
		buffer_char(&line, ']');
		free(callers);
	}
	buffer_puts(&line, "}\n");
	buffer_write(&line, stdout);
	buffer_free(&line);
}

static void put_time(uint64_t ns)
{
	printf("%10llu.%03llu", (unsigned long long)(ns / 1000), (unsigned long long)(ns % 1000));
}

static void put_text(const struct profile *profile, const struct entry *entry, const char *before)
{
	if (profile->walker.returns) {
		put_time(entry->total);
		put_time(entry->self);
		put_time(average(entry));
		put_time(entry->max);
	}
	printf(" %10llu  %s%s%s\n", (unsigned long long)entry->calls, before,
	       symbols_name(profile->view.symbols, entry->id), entry->estimated ? " ~" : "");
}

static void put_header(const struct profile *profile)
{
	if (profile->view.color)
		fputs("\033[1m", stdout);
	if (profile->walker.returns)
		printf("%14s%14s%14s%14s", "Total us", "Self us", "Avg us", "Max us");
	printf(" %10s  Function", "Calls");
	puts(profile->view.color ? "\033[m" : "");
}

static void put_table(const struct profile *profile, uint32_t root, const char *task)
{
	struct entry **list, **callers;
	size_t nr, i, n, j;

	list = entries_below(profile, root, &nr);
	if (!profile->view.json) {
		if (task)
			printf("# %s\n", task);
		put_header(profile);
	}
	for (i = 0; i < nr; i++) {
		if (profile->view.json) {
			put_json(profile, list[i], task);
			continue;
		}
		put_text(profile, list[i], "");
		if (!profile->callers)
			continue;
		callers = entries_below(profile, list[i]->place, &n);
		for (j = 0; j < n; j++)
			put_text(profile, callers[j], "    <- ");
		free(callers);
	}
	free(list);
}

static void put_all(const struct profile *profile)
{
	uint32_t i;

	if (!profile->by_task)
		put_table(profile, 0, NULL);
	for (i = 0; i < profile->nr_tasks; i++) {
		if (i && !profile->view.json)
			putchar('\n');
		put_table(profile, paths_find(&profile->paths, 0, i), profile->tasks[i]);
	}
	if (!profile->walker.returns && !profile->view.json)
		puts("# without returns: 'mctrace record -g' records how long calls take");
}

static const char *check_sort(const char *sort)
{
	static const char * const columns[] = { "total", "self", "avg", "max", "calls", "name" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(columns); i++)
		if (*sort && !strncmp(sort, columns[i], strlen(sort)))
			return columns[i];
	die_usage("profile", "'%s' is no column: total, self, avg, max, calls, name", sort);
}

int cmd_profile(int argc, char **argv)
{
	struct profile profile = { .walker = { .enter = enter, .leave = leave } };
	uint32_t i;
	int c;

	while ((c = next_option(argc, argv, "s:cbi:h", options)) != -1) {
		switch (c) {
		case 's':
			profile.sort = check_sort(optarg);
			break;
		case 'c':
			profile.callers = true;
			break;
		case 'b':
			profile.by_task = true;
			break;
		default:
			view_option(&profile.view, c, optarg, "profile", usage, help);
		}
	}
	if (argc - optind > 1)
		die_usage("profile", "one recording at a time");
	view_open(&profile.view, argv[optind]);
	paths_begin(&profile.paths);
	walk(&profile.view, &profile.walker);
	if (!profile.sort)
		profile.sort = profile.walker.returns ? "total" : "calls";
	put_all(&profile);
	for (i = 0; i < profile.nr_tasks; i++)
		free(profile.tasks[i]);
	free(profile.tasks);
	free(profile.entries);
	paths_end(&profile.paths);
	return view_close(&profile.view);
}
