// SPDX-License-Identifier: GPL-2.0
/* Select a part of a recording: by function, caller, CPU, task, time, depth and duration. */
#include <ctype.h>
#include <dirent.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "buffer.h"
#include "functions.h"
#include "names.h"
#include "select.h"
#include "util.h"
#include "view.h"
#include "walk.h"

#define COMM	15		/* length of a task's name in the kernel */
#define NAMES	4096		/* most task names that are kept, for suggestions */

enum kind { NAMED, PID, TGID, TID };

/* One element of an option's list, which is separated by commas or given by repeated options. */
struct one {
	const char *text;
	enum kind kind;
	unsigned long number, last;	/* a pid; or a range of CPUs */
	bool met;			/* the recording contains it */
};

struct list {
	struct one *all;
	size_t nr;
};

static struct {
	struct list functions, notrace, within, callers, tasks, cpus;
	uint64_t from, to;		/* ns; 0: no limit */
	uint64_t nr_shown;		/* selected calls in all recordings, if looked */
	bool looked;
	uint64_t least;			/* the least duration of a call, ns */
	unsigned long depth;		/* 0: any depth */
} asked;

/* --- options --- */

static struct one *add(struct list *list, const char *text, size_t length)
{
	list->all = xrealloc(list->all, list->nr + 1, sizeof(*list->all));
	list->all[list->nr] = (struct one) { .text = xasprintf("%.*s", (int)length, text) };
	return &list->all[list->nr++];
}

/* Add each part of @text between commas to the option's list, and call @take with it. */
static void each_part(const struct option *option, const char *text,
		      void (*take)(const struct option *option, struct one *one))
{
	size_t n;

	for (;; text += n + 1) {
		n = strcspn(text, ",");
		if (!n)
			die_usage(option_command(), "--%s: a name is empty", option->long_name);
		take(option, add(option->value, text, n));
		if (!text[n])
			return;
	}
}

static bool is_number(const char *text)
{
	return *text && strspn(text, "0123456789") == strlen(text);
}

static void take_function(const struct option *option, struct one *one)
{
	if (is_number(one->text))
		die_usage(option_command(), "--%s wants functions, not '%s': or --lines %s?",
			  option->long_name, one->text, one->text);
}

static int take_functions(const struct option *option, const char *text, int unset)
{
	(void)unset;
	each_part(option, text, take_function);
	return 0;
}

/* Parse a task's name, which the kernel cuts to 15 characters. */
static void take_name(struct one *one)
{
	one->kind = NAMED;
	if (*one->text == '=')
		one->text++;
	if (!strpbrk(one->text, "*?[") && strlen(one->text) > COMM)
		one->text = xasprintf("%.*s", COMM, one->text);
}

static void take_task(const struct option *option, struct one *one)
{
	static const struct {
		const char *option;
		enum kind kind;
	} kinds[] = { { "task", PID }, { "pid", TGID }, { "process", TGID },
		{ "tid", TID }, { "comm", NAMED } };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(kinds[i].option, option->long_name))
			one->kind = kinds[i].kind;
	if (one->kind == NAMED || (one->kind == PID && !is_number(one->text))) {
		take_name(one);
		return;
	}
	if (!is_number(one->text) || strlen(one->text) > 9)
		die_usage(option_command(), "--%s wants numbers, not '%s'", option->long_name,
			  one->text);
	one->number = strtoul(one->text, NULL, 10);
}

static int take_tasks(const struct option *option, const char *text, int unset)
{
	(void)unset;
	each_part(option, text, take_task);
	return 0;
}

static void take_cpu(const struct option *option, struct one *one)
{
	char *end;

	one->number = strtoul(one->text, &end, 10);
	one->last = one->number;
	if (end != one->text && *end == '-' && isdigit((unsigned char)end[1]))
		one->last = strtoul(end + 1, &end, 10);
	if (!isdigit((unsigned char)*one->text) || *end || one->last < one->number)
		die_usage(option_command(), "--%s wants CPUs, like 0-3,5, not '%s'",
			  option->long_name, one->text);
}

static int take_cpus(const struct option *option, const char *text, int unset)
{
	(void)unset;
	each_part(option, text, take_cpu);
	return 0;
}

/*
 * Parse digits, at most 9 after a point, and a unit: seconds if there is none. Return false on
 * errors.
 */
static bool read_time(const char **text, uint64_t *ns, bool *unit)
{
	static const struct {
		const char *name;
		uint64_t ns;
	} units[] = { { "ns", 1 }, { "us", 1000 }, { "ms", 1000000 }, { "s", 1000000000 } };
	uint64_t whole = 0, part = 0, of = 1, each = 1000000000;
	const char *c = *text;
	size_t i;

	if (!isdigit((unsigned char)*c))
		return false;
	for (; isdigit((unsigned char)*c); c++)
		if (__builtin_mul_overflow(whole, 10, &whole) ||
		    __builtin_add_overflow(whole, *c - '0', &whole))
			return false;
	if (*c == '.' && isdigit((unsigned char)c[1])) {
		for (c++; isdigit((unsigned char)*c); c++) {
			if (of == 1000000000)
				return false;
			part = part * 10 + (*c - '0');
			of *= 10;
		}
	}
	*unit = false;
	for (i = 0; i < ARRAY_SIZE(units) && !*unit; i++) {
		if (strncmp(c, units[i].name, strlen(units[i].name)))
			continue;
		*unit = true;
		each = units[i].ns;
		c += strlen(units[i].name);
	}
	*text = c;
	*ns = part * each / of;
	return !__builtin_mul_overflow(whole, each, &whole) &&
	       !__builtin_add_overflow(*ns, whole, ns);
}

/* Parse FROM..TO, or FROM,TO as perf does; either may be missing. */
static int take_range(const struct option *option, const char *text, int unset)
{
	const char *c = text;
	bool unit, good = true;

	(void)option;
	(void)unset;
	asked.from = 0;
	asked.to = 0;
	if (*c != '.' && *c != ',')
		good = read_time(&c, &asked.from, &unit);
	if (good && (!strncmp(c, "..", 2) || *c == ',')) {
		c += *c == ',' ? 1 : 2;
		if (*c)
			good = read_time(&c, &asked.to, &unit) && asked.to > asked.from;
	} else {
		good = false;
	}
	if (!good || *c)
		die_usage(option_command(), "--time wants FROM..TO, like 12.5..12.75, not '%s'",
			  text);
	return 0;
}

static int take_duration(const struct option *option, const char *text, int unset)
{
	const char *c = text;
	bool unit;

	(void)unset;
	if (!read_time(&c, &asked.least, &unit) || *c || !unit)
		die_usage(option_command(), "--%s wants a time with its unit, like 10us, not '%s'",
			  option->long_name, text);
	return 0;
}

const struct option select_where_options[] = {
	OPT_GROUP("Which part of the recording; lists have commas, names may have *, ? and [a-z]:"),
	OPT_CALL(0, "task", &asked.tasks, "TASK",
		 "only these tasks: names or pids; =NAME is a name", take_tasks),
	OPT_CALL(0, "comm", &asked.tasks, "TASK", "only tasks with these names", take_tasks),
	OPT_CALL('P', "pid", &asked.tasks, "PID", "only these processes, with all threads",
		 take_tasks),
	OPT_CALL(0, "tid", &asked.tasks, "PID", "only these threads", take_tasks),
	OPT_CALL(0, "cpu", &asked.cpus, "CPUS", "only these CPUs: 0-3,5", take_cpus),
	OPT_CALL(0, "time", NULL, "FROM..TO", "only this time, in seconds or with s, ms or us",
		 take_range),
	OPT_CALL_HIDDEN('p', "process", &asked.tasks, take_tasks),
	OPT_INSTEAD('F', "filter",
		    "-F has several meanings: --within FUNC, with nested calls, or --func FUNC"),
	OPT_INSTEAD('t', "time-filter",
		    "times are printed in full; to select long calls: --min-duration TIME"),
	OPT_INSTEAD('C', "caller-filter",
		    "-C means other things to perf and uftrace: --cpu CPUS, or --called-by FUNC"),
	OPT_INSTEAD('N', "notrace-filter", "-N is -n here: --notrace FUNC"),
	OPT_INSTEAD('r', "time-range", "a range of time is --time FROM..TO"),
	OPT_PARENT(view_options)
};

const struct option select_call_options[] = {
	OPT_GROUP("Which calls:"),
	OPT_CALL(0, "within", &asked.within, "FUNC",
		 "only calls of these functions, and their nested calls", take_functions),
	OPT_CALL(0, "called-by", &asked.callers, "FUNC", "only direct calls by these functions",
		 take_functions),
	OPT_CALL(0, "min-duration", NULL, "TIME", "only calls that take at least TIME: 10us, 1.5ms",
		 take_duration),
	OPT_CALL_HIDDEN(0, "duration", NULL, take_duration),
	OPT_PARENT(select_where_options)
};

const struct option select_options[] = {
	OPT_GROUP("Which functions:"),
	OPT_CALL('l', "func", &asked.functions, "FUNC",
		 "only functions of these names; NAME[module] is a module's", take_functions),
	OPT_CALL('n', "notrace", &asked.notrace, "FUNC", "omit functions of these names",
		 take_functions),
	OPT_PARENT(select_call_options)
};

const struct option select_depth_options[] = {
	OPT_COUNT('D', "depth", &asked.depth, "N",
		  "only N levels of nested calls, counted from --within if given"),
	OPT_PARENT(select_options)
};

bool select_has_process(void)
{
	size_t i;

	for (i = 0; i < asked.tasks.nr; i++)
		if (asked.tasks.all[i].kind == TGID)
			return true;
	return false;
}

static bool is_named_as(const struct one *one, const char *comm)
{
	return !strncmp(one->text, comm, COMM) || !fnmatch(one->text, comm, 0);
}

/* Append the pid of each process of this name, but not that of mctrace itself. */
static void put_named(struct buffer *to, const struct one *one)
{
	DIR *folder = opendir("/proc");
	const struct dirent *entry;
	size_t before = to->length;
	char *path, *comm;

	while (folder && (entry = readdir(folder))) {
		if (!is_number(entry->d_name) || strtol(entry->d_name, NULL, 10) == getpid())
			continue;
		path = xasprintf("/proc/%s/comm", entry->d_name);
		comm = read_file(path);
		free(path);
		if (!comm)
			continue;	/* it has exited */
		comm[strcspn(comm, "\n")] = '\0';
		if (is_named_as(one, comm))
			buffer_printf(to, "%s\n", entry->d_name);
		free(comm);
	}
	if (folder)
		closedir(folder);
	if (to->length == before)
		die("no process is called %s", one->text);
}

char *select_take_tasks(void)
{
	struct buffer to = { };
	struct one *one;

	if (!asked.tasks.nr)
		return NULL;
	for (one = asked.tasks.all; one < asked.tasks.all + asked.tasks.nr; one++) {
		if (one->kind == NAMED)
			put_named(&to, one);
		else
			buffer_printf(&to, "%s%s\n", one->kind == TID ? "tid " : "", one->text);
	}
	asked.tasks.nr = 0;
	buffer_char(&to, '\0');
	return to.data;
}

/* --- the selection --- */

/* Flags of a function, by its id. */
enum { KNOWN = 1, WANTED = 2, IS_WITHIN = 4, IS_CALLER = 8 };

struct select {
	const struct view *view;
	const char *always;
	unsigned char *functions;
	size_t nr_functions;
	uint64_t *shown;		/* the selected events, a bit each; NULL: not prepared */
	size_t room;			/* size of @shown, in bits */
	bool preparing, prepared;
	bool *frames;			/* by CPU: the latest call or return is selected */
	struct {			/* the latest task of wants_task() */
		uint32_t pid, tgid;
		char comm[MCTRACER_COMM_LEN + 1];
		bool wanted, known;
	} task;
	struct names names;		/* of tasks */
};

static bool is_deep(void)
{
	return asked.within.nr || asked.callers.nr || asked.depth || asked.least;
}

static void check_cpus(const struct view *view)
{
	size_t i;

	for (i = 0; i < asked.cpus.nr; i++)
		if (asked.cpus.all[i].last >= view->from->nr_cpus)
			die("there is no CPU %lu in %s: 0 to %u", asked.cpus.all[i].last,
			    view->from->path, view->from->nr_cpus - 1);
}

bool select_is_asked(void)
{
	return is_deep() || asked.functions.nr || asked.notrace.nr || asked.tasks.nr ||
	       asked.cpus.nr || asked.from || asked.to;
}

struct select *select_new(const struct view *view)
{
	struct select *select;

	if (!select_is_asked())
		return NULL;
	if (!view->several)
		check_cpus(view);
	if (asked.least && !has_returns(view->from))
		die("%s has no returns, so no durations: 'mctrace record -g' records them",
		    view->from->path);
	select = xcalloc(1, sizeof(*select));
	select->view = view;
	select->frames = xcalloc(view->from->nr_cpus, sizeof(*select->frames));
	return select;
}

void select_always(struct select *select, const char *function)
{
	if (select)
		select->always = function;
}

void select_free(struct select *select)
{
	if (!select)
		return;
	names_free(&select->names);
	free(select->functions);
	free(select->frames);
	free(select->shown);
	free(select);
}

/* --- functions --- */

/*
 * Return true if a list element matches @title. Mark all matching elements, to find those that
 * match nothing.
 */
static bool is_in(struct list *list, const char *title)
{
	bool found = false;
	size_t i;

	for (i = 0; i < list->nr; i++) {
		if (!is_matched(title, list->all[i].text))
			continue;
		list->all[i].met = true;
		found = true;
	}
	return found;
}

static unsigned int function_bits(struct select *select, uint32_t id)
{
	const char *title;
	size_t nr;

	if (id >= select->nr_functions) {
		nr = id < 2048 ? 4096 : 2 * (size_t)id;
		select->functions = xrealloc(select->functions, nr, 1);
		memset(select->functions + select->nr_functions, 0, nr - select->nr_functions);
		select->nr_functions = nr;
	}
	if (select->functions[id])
		return select->functions[id];
	title = symbols_title(select->view->symbols, id);
	select->functions[id] = KNOWN;
	if (!asked.functions.nr || is_in(&asked.functions, title))
		select->functions[id] |= WANTED;
	if (is_in(&asked.notrace, title))
		select->functions[id] &= ~WANTED;
	if (select->always && is_named(title, select->always))
		select->functions[id] |= WANTED;
	if (is_in(&asked.within, title))
		select->functions[id] |= IS_WITHIN;
	if (is_in(&asked.callers, title))
		select->functions[id] |= IS_CALLER;
	return select->functions[id];
}

/* --- tasks --- */

static void remember(struct select *select, const char *comm)
{
	if (select->names.nr < NAMES)
		names_number(&select->names, comm);
}

static bool is_task(const struct one *one, uint32_t pid, uint32_t tgid, const char *comm)
{
	switch (one->kind) {
	case NAMED:
		return is_named_as(one, comm);
	case TID:
		return one->number == pid;
	case TGID:
		return one->number == tgid;
	default:
		return one->number == pid || one->number == tgid;
	}
}

static bool wants_task(struct select *select, uint32_t pid, uint32_t tgid, const char *comm)
{
	struct one *one;
	size_t i;

	if (!asked.tasks.nr)
		return true;
	if (select->task.known && select->task.pid == pid && select->task.tgid == tgid &&
	    !strcmp(select->task.comm, comm))
		return select->task.wanted;
	remember(select, comm);
	select->task.known = true;
	select->task.pid = pid;
	select->task.tgid = tgid;
	snprintf(select->task.comm, sizeof(select->task.comm), "%s", comm);
	select->task.wanted = false;
	for (i = 0; i < asked.tasks.nr; i++) {
		one = &asked.tasks.all[i];
		if (!is_task(one, pid, tgid, comm))
			continue;
		one->met = true;
		select->task.wanted = true;
	}
	return select->task.wanted;
}

/* --- events and calls --- */

static bool wants_cpu(unsigned int cpu)
{
	size_t i;

	for (i = 0; i < asked.cpus.nr; i++)
		if (asked.cpus.all[i].number <= cpu && cpu <= asked.cpus.all[i].last)
			return true;
	return !asked.cpus.nr;
}

bool select_where(struct select *select, const struct event *event)
{
	char comm[MCTRACER_COMM_LEN + 1];

	if (!select)
		return true;
	event_comm(event, comm);
	if (!wants_task(select, event->state->pid, event->state->tgid, comm))
		return false;
	return wants_cpu(event->cpu) && event->ns >= asked.from &&
	       (!asked.to || event->ns < asked.to);
}

bool select_task(struct select *select, const struct task_calls *task)
{
	return !select || wants_task(select, task->pid, task->tgid, task->comm);
}

static bool is_marked(const struct select *select, uint64_t event)
{
	return event < select->room && select->shown[event / 64] >> event % 64 & 1;
}

static bool wants_event(struct select *select, const struct event *event)
{
	const struct symbol *symbol;

	if (!select_where(select, event))
		return false;
	symbol = symbol_of(select->view->symbols, event->state->ip);
	if (event->found == FOUND_MARK)
		return function_bits(select, symbol->id) & WANTED;
	if (is_deep())
		return is_marked(select, event->number);
	return function_bits(select, symbol->id) & WANTED;
}

bool select_event(struct select *select, const struct event *event)
{
	bool wanted;

	if (!select || event->found == FOUND_GAP)
		return true;
	asked.looked = true;
	symbols_at(select->view->symbols, event->symbols_at);
	if (event->found == FOUND_FRAME)
		return select->frames[event->cpu];
	wanted = wants_event(select, event);
	select->frames[event->cpu] = wanted;
	asked.nr_shown += wanted;
	return wanted;
}

bool select_return(struct select *select, const struct event *event)
{
	const struct symbol *symbol;

	if (!select)
		return true;
	if (is_deep() || !select_where(select, event))
		return false;
	symbol = symbol_of(select->view->symbols, event->state->ip);
	return function_bits(select, symbol->id) & WANTED;
}

/*
 * Return true if the innermost call of @task is within --within, if given, and not deeper than
 * --depth below the outermost --within call.
 */
static bool is_deep_enough(struct select *select, const struct task_calls *task)
{
	unsigned int i, first = 0;

	if (asked.within.nr) {
		for (; first < task->nr; first++)
			if (function_bits(select, task->calls[first].symbol->id) & IS_WITHIN)
				break;
		if (first == task->nr)
			return false;
	}
	i = task->nr - first;
	return !asked.depth || i <= asked.depth;
}

static bool wants_call(struct select *select, const struct walker *walker,
		       const struct task_calls *task, const struct call *call)
{
	const struct symbol *caller;

	if (!select_where(select, walker->event) ||
	    !(function_bits(select, call->symbol->id) & WANTED) ||
	    !is_deep_enough(select, task))
		return false;
	if (asked.callers.nr) {
		caller = symbol_of(walker->symbols, call->parent_ip);
		if (call->implied || !(function_bits(select, caller->id) & IS_CALLER))
			return false;
	}
	return !asked.least || select->preparing || is_marked(select, walker->event->number);
}

bool select_call(struct select *select, const struct walker *walker,
		 const struct task_calls *task, const struct call *call)
{
	bool wanted = !select || wants_call(select, walker, task, call);

	if (select && !select->preparing) {
		asked.looked = true;
		asked.nr_shown += wanted;
	}
	return wanted;
}

bool select_may_ask_again(const struct select *select)
{
	return select && !select->preparing && !select->prepared && !is_deep() &&
	       asked.tasks.nr && !asked.cpus.nr && !asked.from && !asked.to;
}

/* --- the first walk --- */

struct preparation {
	struct walker walker;
	struct select *select;
};

static void mark(struct select *select, uint64_t event)
{
	size_t room = select->room;

	if (event >= room) {
		room = event < 32768 ? 65536 : 2 * event / 64 * 64;
		select->shown = xrealloc(select->shown, room / 64, sizeof(*select->shown));
		memset(select->shown + select->room / 64, 0, (room - select->room) / 8);
		select->room = room;
	}
	select->shown[event / 64] |= 1ULL << event % 64;
}

static void enter(struct walker *walker, struct task_calls *task, struct call *call)
{
	struct select *select = ((struct preparation *)walker)->select;

	(void)task;
	call->nr = walker->event->number;
	if (!asked.least && !call->implied)
		mark(select, call->nr);
}

static void leave(struct walker *walker, struct task_calls *task, struct call *call,
		  const struct ending *ending)
{
	struct select *select = ((struct preparation *)walker)->select;

	(void)task;
	if (!ending->returned || ending->took < asked.least)
		return;
	mark(select, call->nr);
	mark(select, walker->event->number);
}

void select_prepare(struct select *select, bool events)
{
	struct preparation preparation = {
		.walker = { .enter = enter, .leave = leave },
		.select = select,
	};

	if (!select || select->prepared || select->preparing ||
	    !(asked.least || (events && is_deep())))
		return;
	select->prepared = true;
	select->preparing = true;
	walk(select->view, &preparation.walker);
	select->preparing = false;
}

/* --- what the recording lacks --- */

/* Return the name of a task that @text may have been meant for; NULL: none. */
static const char *task_meant(const struct select *select, const char *text)
{
	struct guess guess = { .typed = text };
	uint32_t i;

	for (i = 0; i < select->names.nr; i++)
		guess_consider(&guess, select->names.all[i]);
	return guess.meant;
}

static void check_tasks(const struct select *select)
{
	const char *title = select->view->title, *meant;
	const struct one *one;
	size_t i;

	for (i = 0; i < asked.tasks.nr; i++) {
		one = &asked.tasks.all[i];
		if (one->met)
			continue;
		if (one->kind != NAMED)
			die("no task in %s has the pid %lu%s", title, one->number,
			    one->kind == PID ? "; if that is a name: =NAME" : "");
		meant = task_meant(select, one->text);
		die("no task in %s is called %s%s%s", title, one->text,
		    meant ? ": did you mean " : "", meant ?: "");
	}
}

/*
 * End mctrace if an element of @list matches no function. Functions that were met but never tested
 * count, too.
 */
static void check_functions(const struct select *select, struct list *list)
{
	const struct functions *met = symbols_sums(select->view->symbols);
	size_t i, id;

	for (id = 0; id < functions_nr(met); id++)
		is_in(list, functions_title(met, id));
	for (i = 0; i < list->nr; i++) {
		if (list->all[i].met)
			continue;
		if (!strpbrk(list->all[i].text, "*?[:"))
			check_function(select->view, list->all[i].text);
		die("no function that was called in %s matches %s", select->view->title,
		    list->all[i].text);
	}
}

void select_check(const struct select *select)
{
	if (!select)
		return;
	check_tasks(select);
	check_functions(select, &asked.functions);
	check_functions(select, &asked.notrace);
	check_functions(select, &asked.within);
	check_functions(select, &asked.callers);
	if (asked.looked && !asked.nr_shown)
		die("no call in %s is selected by all of these options", select->view->title);
}
