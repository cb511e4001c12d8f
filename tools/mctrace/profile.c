// SPDX-License-Identifier: GPL-2.0
/* mctrace profile: print for each function how often it was called, and how long that took. */
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "functions.h"
#include "json.h"
#include "mctrace.h"
#include "names.h"
#include "paths.h"
#include "select.h"
#include "util.h"
#include "view.h"
#include "walk.h"

static const char usage[] = "profile [OPTION...] [FILE...]";
static const char help[] =
"How often each function was called, and, if returns were recorded, how long that took: in total\n"
"and on a CPU; both without the functions that it called; on average and at most. Several\n"
"recordings are summed up.\n";

static struct {
	const char *sort;
	unsigned long lines;
	bool callers, by_task;
} asked;

static const struct option options[] = {
	OPT_WORD('s', "sort", &asked.sort, "total|cpu|self|self-cpu|avg|max|calls|name",
		 "sort by this column"),
	OPT_BOOLEAN(0, "callers", &asked.callers, "below each function, its callers"),
	OPT_BOOLEAN(0, "by-task", &asked.by_task, "a table for each task name"),
	OPT_COUNT(0, "lines", &asked.lines, "N", "the first N functions"),
	OPT_INSTEAD('c', NULL, "-c is --context in other commands: --callers"),
	OPT_INSTEAD('b', NULL, "-b is --buffer-size in other commands: --by-task"),
	OPT_PARENT(select_depth_options)
};

#define WIDTH	10		/* of a column of times, in characters */

/* A line of the table: a function, or one caller of a function. All times are in ns. */
struct entry {
	uint32_t id;
	uint32_t place;		/* in paths */
	uint64_t calls, returned;
	uint64_t total;		/* a recursive call counts once */
	uint64_t self;
	uint64_t cpu, self_cpu;	/* parts of total and self on a CPU */
	uint64_t sum;		/* total of all calls, also recursive ones, for avg */
	uint64_t max;
	bool estimated;		/* some times are not exact */
};

enum column { CPU, TOTAL, SELF_CPU, SELF, AVG, MAX, CALLS, NAME, NR_COLUMNS };

static const char * const columns[NR_COLUMNS] = {
	"cpu", "total", "self-cpu", "self", "avg", "max", "calls", "name",
};

struct profile {
	struct walker walker;
	struct view view;
	enum column sort;
	bool callers, by_task;
	bool returns;		/* a recording has returns */
	struct paths paths;	/* [task] / function / caller */
	struct entry *entries;	/* indexed by place in paths */
	uint32_t nr, room;
	struct names tasks;	/* their numbers are ids in paths */
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

/* Return the root of a task. Tasks of one name share a root, because they usually do the same. */
static uint32_t root_of(struct profile *profile, const struct task_calls *task)
{
	if (!profile->by_task)
		return 0;
	return paths_below(&profile->paths, 0, names_number(&profile->tasks, task->comm));
}

static struct entry *function_of(struct profile *profile, uint32_t root, const struct call *call)
{
	uint32_t id = call->symbol->sum_id;

	return entry_of(profile, paths_below(&profile->paths, root, id), id);
}

static struct entry *caller_of(struct profile *profile, uint32_t root, const struct call *call)
{
	uint32_t function = paths_below(&profile->paths, root, call->symbol->sum_id);
	uint32_t id = symbol_of(profile->view.symbols, call->parent_ip)->sum_id;

	return entry_of(profile, paths_below(&profile->paths, function, id), id);
}

static void count(struct profile *profile, const struct call *call, int calls)
{
	function_of(profile, call->path, call)->calls += calls;
	if (profile->callers)
		caller_of(profile, call->path, call)->calls += calls;
}

static void enter(struct walker *walker, struct task_calls *task, struct call *call)
{
	struct profile *profile = (struct profile *)walker;

	call->path = root_of(profile, task);
	if (!call->implied)
		count(profile, call, 1);
}

/* Move an open call to the task's new name, for example after exec(). */
static void rename_call(struct profile *profile, const struct task_calls *task, struct call *call)
{
	uint32_t root = root_of(profile, task);

	if (root == call->path || call->implied)
		return;
	count(profile, call, -1);
	call->path = root;
	count(profile, call, 1);
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
	if (!inner) {
		entry->total += ending->took;
		entry->cpu += ending->took_cpu;
	}
	entry->self += ending->self;
	entry->self_cpu += ending->self_cpu;
	if (ending->took > entry->max)
		entry->max = ending->took;
	entry->estimated |= !ending->exact;
}

static void leave(struct walker *walker, struct task_calls *task, struct call *call,
		  const struct ending *ending)
{
	struct profile *profile = (struct profile *)walker;
	bool inner;

	if (!ending->returned)
		return;
	inner = is_within_itself(task, call);
	rename_call(profile, task, call);
	add(function_of(profile, call->path, call), ending, inner);
	if (profile->callers)
		add(caller_of(profile, call->path, call), ending, inner);
}

static void add_recording(struct view *view, void *arg)
{
	struct profile *profile = arg;

	walk(view, &profile->walker);
	profile->returns |= profile->walker.returns;
}

static uint64_t average(const struct entry *entry)
{
	return entry->returned ? entry->sum / entry->returned : 0;
}

/* --- sorting --- */

static const struct profile *sorted;

static uint64_t key_of(const struct entry *entry)
{
	switch (sorted->sort) {
	case CPU:
		return entry->cpu;
	case SELF_CPU:
		return entry->self_cpu;
	case SELF:
		return entry->self;
	case AVG:
		return average(entry);
	case MAX:
		return entry->max;
	case CALLS:
		return entry->calls;
	default:
		return entry->total;
	}
}

static const char *title_of(const struct profile *profile, const struct entry *entry)
{
	return functions_title(symbols_sums(profile->view.symbols), entry->id);
}

static int compare(const void *a, const void *b)
{
	const struct entry *x = *(struct entry * const *)a, *y = *(struct entry * const *)b;

	if (sorted->sort != NAME && key_of(x) != key_of(y))
		return key_of(x) > key_of(y) ? -1 : 1;
	return strcmp(title_of(sorted, x), title_of(sorted, y));
}

/* Return the entries below @place, sorted; the caller frees the list. */
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

/* --- output --- */

static void put_values(struct buffer *to, const struct entry *entry, bool times)
{
	if (times) {
		json_number(to, "total_ns", entry->total);
		json_number(to, "self_ns", entry->self);
		json_number(to, "total_cpu_ns", entry->cpu);
		json_number(to, "self_cpu_ns", entry->self_cpu);
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
		json_comm(&line, "task", task);
	json_function(&line, "function", title_of(profile, entry));
	put_values(&line, entry, profile->returns);
	if (profile->callers) {
		callers = entries_below(profile, entry->place, &nr);
		buffer_puts(&line, ",\"callers\":[");
		for (i = 0; i < nr; i++) {
			buffer_puts(&line, i ? ",{" : "{");
			json_function(&line, "function", title_of(profile, callers[i]));
			put_values(&line, callers[i], profile->returns);
			buffer_char(&line, '}');
		}
		buffer_char(&line, ']');
		free(callers);
	}
	buffer_puts(&line, "}\n");
	buffer_write(&line, stdout);
	buffer_free(&line);
}

static void put_text(const struct profile *profile, const struct entry *entry, const char *before)
{
	struct buffer line = { };

	if (profile->returns) {
		buffer_duration_column(&line, entry->cpu, WIDTH);
		buffer_duration_column(&line, entry->total, WIDTH);
		buffer_duration_column(&line, entry->self_cpu, WIDTH);
		buffer_duration_column(&line, entry->self, WIDTH);
		buffer_duration_column(&line, average(entry), WIDTH);
		buffer_duration_column(&line, entry->max, WIDTH);
	}
	buffer_printf(&line, " %10llu  %s%s%s\n", (unsigned long long)entry->calls, before,
		      title_of(profile, entry),
		      entry->estimated ? " ~" : "");
	buffer_write(&line, stdout);
	buffer_free(&line);
}

static void put_header(const struct profile *profile)
{
	if (profile->view.color)
		fputs("\033[1m", stdout);
	if (profile->returns)
		printf("%*s%*s%*s%*s%*s%*s", WIDTH, "CPU", WIDTH, "Total", WIDTH, "Self CPU", WIDTH,
		       "Self", WIDTH, "Avg", WIDTH, "Max");
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
	for (i = 0; i < nr && (!asked.lines || i < asked.lines); i++) {
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
	for (i = 0; i < profile->tasks.nr; i++) {
		if (i && !profile->view.json)
			putchar('\n');
		put_table(profile, paths_find(&profile->paths, 0, i),
			  profile->tasks.all[i]);
	}
	if (!profile->returns && !profile->view.json)
		puts("# without returns: 'mctrace record -g' records how long calls take");
}

/* Return the column @name. OPT_WORD has checked that @columns has it. */
static enum column column_of(const char *name)
{
	size_t i;

	for (i = 0; i < NR_COLUMNS; i++)
		if (!strcmp(name, columns[i]))
			break;
	return i;
}

int cmd_profile(int argc, char **argv)
{
	struct profile profile = { .walker = { .enter = enter, .leave = leave } };

	options_parse(argc, argv, options, usage, help, OPTIONS_ANYWHERE);
	profile.sort = asked.sort ? column_of(asked.sort) : CPU;
	profile.callers = asked.callers;
	profile.by_task = asked.by_task;
	paths_begin(&profile.paths);
	view_each(&profile.view, argv + 1, add_recording, &profile);
	if (!profile.returns && profile.sort != NAME)
		profile.sort = CALLS;
	put_all(&profile);
	names_free(&profile.tasks);
	free(profile.entries);
	paths_end(&profile.paths);
	return view_close(&profile.view);
}
