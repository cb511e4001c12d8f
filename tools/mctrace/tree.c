// SPDX-License-Identifier: GPL-2.0
/*
 * Calls within calls, in the form that ftrace's function_graph has:
 *
 *	CPU 0: cat:65
 *	              |  alloc_fd() {
 *	    0.691 us  |    _raw_spin_lock();
 *	 + 22.664 us  |  } alloc_fd
 *
 * Where returns were recorded they close what their calls have opened. Where not, a call is
 * within the last one of the function that its parent_ip is in; if that is not known, that
 * function is not traced, and shown beside the last call. But what the entry code from user
 * space calls, or begins a thread, is within nothing; and so is every such function if only some
 * were chosen, since then most are.
 */
#include <string.h>

#include "calls.h"
#include "events.h"
#include "text.h"
#include "tree.h"
#include "util.h"

struct tree {
	struct symbols *symbols;
	struct calls *calls;
	struct task_calls *task;	/* whose events are being printed */
	int cpu;			/* where; -1: none yet */
	bool returns;			/* are recorded */
	bool chosen;			/* not all functions are */
	bool waits;			/* the task's last call is not printed yet: is it a leaf? */
	FILE *to;
};

/* As function_graph marks what took long. */
static char mark_of(uint64_t ns)
{
	static const struct {
		uint64_t more_than;
		char mark;
	} marks[] = {
		{ 1000000000, '$' }, { 100000000, '@' }, { 10000000, '*' },
		{ 1000000, '#' }, { 100000, '!' }, { 10000, '+' },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(marks); i++)
		if (ns > marks[i].more_than)
			return marks[i].mark;
	return ' ';
}

/* The column before "|", and the place of a call so deep. */
static void put_column(struct tree *tree, bool timed, uint64_t ns, bool exact, unsigned int depth)
{
	char took[32] = "";

	if (timed)
		snprintf(took, sizeof(took), "%s%llu.%03llu us", exact ? "" : "~",
			 (unsigned long long)(ns / 1000), (unsigned long long)(ns % 1000));
	fprintf(tree->to, "%c%14s  |  %*s", timed ? mark_of(ns) : ' ', took, 2 * depth, "");
}

/* The call that waits: it has calls in it, or not, as far as is known. */
static void put_waiting(struct tree *tree, bool open)
{
	struct call *call;

	if (!tree->waits)
		return;
	tree->waits = false;
	call = &tree->task->calls[tree->task->nr - 1];
	call->open = open;
	put_column(tree, false, 0, true, tree->task->nr - 1);
	fprintf(tree->to, "%s()%s\n", call->symbol->name, open ? " {" : ";");
}

/* Those that are deeper than so many have ended, though no return says so. */
static void close_to(struct tree *tree, unsigned int nr)
{
	struct task_calls *task = tree->task;

	for (; task->nr > nr; task->nr--) {
		if (!task->calls[task->nr - 1].open)
			continue;
		put_column(tree, false, 0, true, task->nr - 1);
		fprintf(tree->to, "} %s\n", task->calls[task->nr - 1].symbol->name);
	}
}

/* Who is called by entry code. */
static bool begins_anew(const struct symbol *caller)
{
	static const char * const names[] = {
		"do_syscall_64", "__do_fast_syscall_32", "do_int80_emulation", "ret_from_fork",
		"ret_from_fork_asm",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(caller->name, names[i]))
			return true;
	return false;
}

/*
 * Without returns: the next call is made by @caller, so what was called after that has returned.
 * If it is none of those that are known, it is not traced: then it is shown all the same.
 */
static void find_caller(struct tree *tree, const struct symbol *caller)
{
	struct call call = { .symbol = caller, .open = true };
	struct task_calls *task = tree->task;
	unsigned int nr;

	for (nr = task->nr; nr; nr--)
		if (task->calls[nr - 1].symbol->id == caller->id)
			break;
	if (!nr && !tree->chosen && !begins_anew(caller))
		nr = task->nr - tree->waits;
	else if (nr)
		call.symbol = NULL;
	put_waiting(tree, nr == task->nr && !call.symbol);
	close_to(tree, nr);
	if (!call.symbol)
		return;
	put_column(tree, false, 0, true, nr);
	fprintf(tree->to, "%s() { /* not traced */\n", caller->name);
	calls_enter(task, &call);
}

static void put_call(struct tree *tree, const struct event *event)
{
	const struct symbol *caller = symbol_of(tree->symbols, event->state->parent_ip);
	struct task_calls *task = tree->task;
	struct call call = {
		.symbol = symbol_of(tree->symbols, event->state->ip),
		.parent_ip = event->state->parent_ip,
		.ns = event->ns,
		.exact = event->exact,
	};

	if (tree->returns) {
		put_waiting(tree, true);
		if (!task->nr) {
			put_column(tree, false, 0, true, 0);
			fprintf(tree->to, "/* by %s */\n", caller->text);
		}
	} else {
		find_caller(tree, caller);
	}
	calls_enter(task, &call);
	tree->waits = true;
}

static void put_return(struct tree *tree, const struct event *event)
{
	const struct symbol *symbol = symbol_of(tree->symbols, event->state->ip);
	const char *how = event->state->value & MCTRACER_RETURN_TAIL ? " goes on" : "";
	struct task_calls *task = tree->task;
	const struct call *call;
	unsigned int before = task->nr;
	uint64_t took;
	bool leaf;

	call = calls_leave(task, symbol);
	leaf = call && tree->waits && task->nr + 1 == before;
	if (call) {		/* as it was, until what was called in it is closed */
		unsigned int nr = task->nr;

		task->nr = before;
		if (!leaf)
			put_waiting(tree, false);
		close_to(tree, nr + 1);
		task->nr = nr;
	} else {
		put_waiting(tree, false);
		close_to(tree, 0);
	}
	tree->waits = false;
	took = call && event->ns > call->ns ? event->ns - call->ns : 0;
	put_column(tree, call, took, call && event->exact && call->exact, task->nr);
	if (leaf)
		fprintf(tree->to, "%s();%s%s%s\n", symbol->name, *how ? " /*" : "", how,
			*how ? " */" : "");
	else
		fprintf(tree->to, "} %s%s%s\n", symbol->name, how, call ? "" : ", called before");
}

/* Another task, or the same elsewhere. */
static void put_task(struct tree *tree, const struct event *event)
{
	struct task_calls *task = calls_of(tree->calls, event->state->pid, event->cpu);
	size_t length;
	const char *who;

	if (tree->task == task && tree->cpu == (int)event->cpu)
		return;
	put_waiting(tree, tree->returns);
	tree->task = task;
	tree->cpu = event->cpu;
	who = text_who(event->state, event->cpu, &length);
	fprintf(tree->to, "%.*s\n", (int)length - 1, who);
}

static void put_event(struct tree *tree, const struct event *event)
{
	switch (event->found) {
	case FOUND_CALL:
		put_task(tree, event);
		put_call(tree, event);
		break;
	case FOUND_RETURN:
		put_task(tree, event);
		put_return(tree, event);
		break;
	case FOUND_FRAME:
		break;		/* the tree shows it */
	case FOUND_MARK:
		put_task(tree, event);
		put_waiting(tree, tree->returns);
		put_column(tree, false, 0, true, tree->task->nr);
		fprintf(tree->to, "/* mark at %s */\n",
			symbol_of(tree->symbols, event->state->ip)->text);
		break;
	default:
		put_waiting(tree, tree->returns);
		calls_forget(tree->calls);
		tree->task = NULL;
		fprintf(tree->to, "# lost %llu\n", (unsigned long long)event->missing);
		break;
	}
}

void tree_print(const struct recording *from, struct symbols *symbols, FILE *to)
{
	struct tree tree = {
		.symbols = symbols,
		.calls = calls_new(),
		.cpu = -1,
		.to = to,
	};
	const char *mode = recording_info(from, "mode");
	struct events events;
	struct event event;

	tree.returns = mode && !strcmp(mode, "graph");
	tree.chosen = recording_number(from, "chosen");
	events_begin(&events, from);
	while (events_next_of_task(&events, &event))
		put_event(&tree, &event);
	put_waiting(&tree, false);
	events_end(&events);
	calls_free(tree.calls);
}
