// SPDX-License-Identifier: GPL-2.0
/* From events to calls that begin and end. */
#include <string.h>

#include "walk.h"

/* The innermost call ends. */
static void leave(struct walker *walker, struct task_calls *task, const struct ending *ending)
{
	struct call *call = &task->calls[task->nr - 1];

	if (walker->leave)
		walker->leave(walker, task, call, ending);
	task->nr--;
	if (task->nr)
		task->calls[task->nr - 1].below += ending->returned ? ending->took : call->below;
}

/* Those that are deeper than so many have ended, though no return says so. */
static void close_to(struct walker *walker, struct task_calls *task, unsigned int nr, bool cut)
{
	struct ending ending = { .cut = cut };

	if (walker->event)
		ending.ns = walker->event->ns;
	else
		ending.ns = walker->last_ns;
	while (task->nr > nr)
		leave(walker, task, &ending);
}

static void enter(struct walker *walker, struct task_calls *task, const struct call *call)
{
	struct call *entered = calls_enter(walker->calls, task, call);

	entered->shown = view_shows(walker->view, task);
	if (walker->enter)
		walker->enter(walker, task, entered);
}

/* How many calls are open up to the last one of that function; 0 if there is none. */
static unsigned int level_of(const struct task_calls *task, const struct symbol *symbol)
{
	unsigned int nr;

	for (nr = task->nr; nr; nr--)
		if (task->calls[nr - 1].symbol->id == symbol->id)
			break;
	return nr;
}

/*
 * Without returns: the next call is made by @caller, so what was called after that has returned.
 * If it is none of those that are known, it is not traced; where it is found out it is known all
 * the same.
 */
static void find_caller(struct walker *walker, struct task_calls *task,
			const struct symbol *caller)
{
	struct call call = {
		.symbol = caller,
		.ns = walker->event->ns,
		.exact = walker->event->exact,
		.implied = true,
	};
	unsigned int nr = level_of(task, caller);

	if (nr) {
		close_to(walker, task, nr, false);
		return;
	}
	/* Not within the last call, which may well have ended; but within what has called that. */
	close_to(walker, task, walker->chosen || !task->nr ? 0 : task->nr - 1, false);
	enter(walker, task, &call);
}

static void take_call(struct walker *walker, struct task_calls *task, const struct event *event)
{
	const struct symbol *caller = symbol_of(walker->symbols, event->state->parent_ip);
	struct call call = {
		.symbol = symbol_of(walker->symbols, event->state->ip),
		.parent_ip = event->state->parent_ip,
		.ns = event->ns,
		.exact = event->exact,
	};

	if (caller->is_entry)
		close_to(walker, task, level_of(task, caller), false);
	else if (!walker->returns)
		find_caller(walker, task, caller);
	enter(walker, task, &call);
}

/* Of a cold part it is not known where its function begins, but which that is. */
static const struct call *which(const struct task_calls *task, const struct symbol *symbol)
{
	unsigned int nr = symbol->function ? 0 : level_of(task, symbol);

	return nr ? &task->calls[nr - 1] : calls_which(task, symbol);
}

/*
 * A function returns whose call is not known: which open call it has made, with all that is deeper.
 * If it is none, its call was just not recorded, and its caller goes on.
 */
static unsigned int made_by(struct walker *walker, const struct task_calls *task,
			    const struct symbol *symbol)
{
	unsigned int i;

	for (i = 0; i < task->nr; i++)
		if (symbol_of(walker->symbols, task->calls[i].parent_ip)->id == symbol->id)
			break;
	return i;
}

static void take_return(struct walker *walker, struct task_calls *task, const struct event *event)
{
	const struct symbol *symbol = symbol_of(walker->symbols, event->state->ip);
	struct ending ending = {
		.returned = true,
		.tail = event->state->value & MCTRACER_RETURN_TAIL,
		.ns = event->ns,
	};
	const struct call *call = which(task, symbol);

	if (!call && !walker->returns)
		return;		/* few are recorded, by triggers */
	if (!call) {
		close_to(walker, task, made_by(walker, task, symbol), false);
		if (walker->before)
			walker->before(walker, task, symbol, event);
		return;
	}
	close_to(walker, task, call - task->calls + 1, false);
	ending.took = event->ns > call->ns ? event->ns - call->ns : 0;
	ending.self = ending.took > call->below ? ending.took - call->below : 0;
	ending.exact = event->exact && call->exact;
	leave(walker, task, &ending);
}

/* Nothing is known any more, of no task. */
static void forget(struct walker *walker)
{
	struct task_calls *task;

	for (task = calls_next_task(walker->calls, NULL); task;
	     task = calls_next_task(walker->calls, task))
		close_to(walker, task, 0, true);
	if (walker->event && walker->lost)
		walker->lost(walker, walker->event);
}

static struct task_calls *task_of(struct walker *walker, const struct event *event)
{
	const struct mctracer_state *state = event->state;
	struct task_calls *task = calls_of(walker->calls, state->pid, event->cpu);

	if (state->known & MCTRACER_KNOWS_TASK &&
	    (strncmp(task->comm, state->comm, MCTRACER_COMM_LEN) || task->tgid != state->tgid)) {
		event_comm(event, task->comm);
		task->tgid = state->tgid;
	}
	return task;
}

static void take_mark(struct walker *walker, struct task_calls *task, const struct event *event)
{
	uint64_t which = event->state->value;

	if (walker->note)
		walker->note(walker, task, event);
	if (which != MCTRACER_MARK_MARK && which != MCTRACER_MARK_SNAPSHOT)
		forget(walker);		/* what was not recorded is not known */
}

static void take(struct walker *walker, const struct event *event)
{
	walker->event = event;
	walker->last_ns = event->ns;
	symbols_at(walker->symbols, event->nr_symbols);
	switch (event->found) {
	case FOUND_CALL:
		take_call(walker, task_of(walker, event), event);
		break;
	case FOUND_RETURN:
		take_return(walker, task_of(walker, event), event);
		break;
	case FOUND_MARK:
		take_mark(walker, task_of(walker, event), event);
		break;
	case FOUND_FRAME:
		if (walker->note)
			walker->note(walker, task_of(walker, event), event);
		break;
	default:
		forget(walker);
		break;
	}
}

bool has_returns(const struct recording *from)
{
	const char *mode = recording_info(from, "mode");

	return mode && !strcmp(mode, "graph");
}

void walk(const struct view *view, struct walker *walker)
{
	const struct recording *from = view->from;
	struct events events;
	struct event event;
	uint64_t nr = 0;

	walker->view = view;
	walker->symbols = view->symbols;
	walker->calls = calls_new(0, 0);
	walker->returns = has_returns(from);
	walker->chosen = recording_number(from, "chosen");
	events_begin(&events, from);
	while (!walker->enough && events_next(&events, &event)) {
		take(walker, &event);
		if (!(++nr % EVENTS_PROGRESS))
			view_progress(view, events_done(&events));
	}
	walker->event = NULL;
	forget(walker);
	if (walker->end)
		walker->end(walker);
	events_end(&events);
	calls_free(walker->calls);
}
