// SPDX-License-Identifier: GPL-2.0
/* Turn events into calls that begin and end. */
#include <stdlib.h>
#include <string.h>

#include "select.h"
#include "util.h"
#include "walk.h"

/* At most, open calls of a task: a kernel stack has 16 KiB, and a call takes at least 16 bytes. */
#define MOST_OPEN	1024

/*
 * Update the task's time off the CPU at an event of the task. @away: the task was off the CPU since
 * its previous event.
 */
static void pass_time(struct walker *walker, struct task_calls *task, bool away)
{
	const struct event *event = walker->event;
	struct task_calls **running = &walker->running[event->cpu];

	if (task->has_last && (away || *running != task || task->last_cpu != event->cpu) &&
	    event->ns > task->last_ns)
		task->off += event->ns - task->last_ns;
	*running = task;
	task->has_last = true;
	task->last_cpu = event->cpu;
	task->last_ns = event->ns;
	task->last_calls = event->found == FOUND_CALL;
}

/* Return true if nothing was recorded during the call of schedule() that returns in @symbol. */
static bool has_slept(const struct task_calls *task, const struct symbol *symbol)
{
	return symbol->is_schedule && task->last_calls && task->nr &&
	       task->calls[task->nr - 1].symbol->id == symbol->id;
}

static void pop(struct task_calls *task, const struct ending *ending)
{
	const struct call *call = &task->calls[--task->nr];
	struct call *above;

	if (!task->nr)
		return;
	above = &task->calls[task->nr - 1];
	above->below += ending->returned ? ending->took : call->below;
	above->off_below += ending->returned ? ending->took - ending->took_cpu : call->off_below;
}

/* Return the record of a task's selected calls. */
static struct task_calls *selected_of(struct walker *walker, struct task_calls *task)
{
	struct task_calls *selected;

	if (walker->all == walker->calls)
		return task;
	if (!task->selected)
		task->selected = calls_of(walker->calls, task->pid, task->cpu);
	selected = task->selected;
	if (strcmp(selected->comm, task->comm))
		memcpy(selected->comm, task->comm, sizeof(selected->comm));
	selected->tgid = task->tgid;
	if (selected->earlier != task->earlier) {
		selected->earlier = task->earlier;
		selected->track = 0;
	}
	return selected;
}

static void leave_selected(struct walker *walker, struct task_calls *task,
			   const struct ending *ending)
{
	struct task_calls *selected = selected_of(walker, task);
	struct call *call = &selected->calls[selected->nr - 1];
	struct ending its = *ending;
	uint64_t below_cpu;

	its.own = its.took > call->below ? its.took - call->below : 0;
	below_cpu = call->below - call->off_below;
	its.own_cpu = its.took_cpu > below_cpu ? its.took_cpu - below_cpu : 0;
	if (walker->leave)
		walker->leave(walker, selected, call, &its);
	pop(selected, ending);
}

/* End the innermost call. */
static void leave(struct walker *walker, struct task_calls *task, const struct ending *ending)
{
	struct call *call = &task->calls[task->nr - 1];

	if (call->shown)
		leave_selected(walker, task, ending);
	if (!call->shown || walker->all != walker->calls)
		pop(task, ending);
}

/* End all calls deeper than @nr without a return. @cut: they may not have ended. */
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

/*
 * Begin a call. More calls than fit on a kernel stack mean damage: drop them, because commands
 * recurse as deep as calls do.
 */
static void enter(struct walker *walker, struct task_calls *task, const struct call *call)
{
	struct task_calls *selected;
	struct call *entered;

	if (task->nr == MOST_OPEN)
		close_to(walker, task, 0, true);
	entered = calls_enter(walker->all, task, call);
	entered->off = task->off;
	entered->shown = select_call(walker->view->select, walker, task, entered);
	if (!entered->shown)
		return;
	selected = selected_of(walker, task);
	if (selected != task)
		entered = calls_enter(walker->calls, selected, entered);
	if (walker->enter)
		walker->enter(walker, selected, entered);
}

/* Return the depth of the latest open call of the function; 0 if there is none. */
static unsigned int level_of(const struct task_calls *task, const struct symbol *symbol)
{
	unsigned int nr;

	for (nr = task->nr; nr; nr--)
		if (task->calls[nr - 1].symbol->id == symbol->id)
			break;
	return nr;
}

/*
 * Without returns: the next call is made by @caller, so all calls made after @caller have ended. If
 * @caller is not open, it is not traced: begin it as an implied call.
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
	/* Nest it not in the latest call, which may well have ended, but in that one's caller. */
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

	pass_time(walker, task, call.symbol->is_switched_in);
	if (caller->is_entry || (walker->returns && caller->is_syscall))
		close_to(walker, task, level_of(task, caller), false);
	else if (!walker->returns)
		find_caller(walker, task, caller);
	enter(walker, task, &call);
}

/*
 * Return the call that a return in @symbol ends. For a cold part, only the function's id is known,
 * not its beginning.
 */
static const struct call *which(const struct task_calls *task, const struct symbol *symbol)
{
	unsigned int nr = symbol->function ? 0 : level_of(task, symbol);

	return nr ? &task->calls[nr - 1] : calls_which(task, symbol);
}

/*
 * A function without a known call returns: return the depth of the open call that it made, which
 * must end with all deeper calls. If it made none, only its own call was not recorded, and its
 * caller continues: return all.
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

static uint64_t rest_of(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
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
	uint64_t off, off_self;

	pass_time(walker, task, has_slept(task, symbol));
	if (!call && !walker->returns)
		return;		/* only triggers record some returns */
	if (!call) {
		close_to(walker, task, made_by(walker, task, symbol), false);
		if (walker->before && select_return(walker->view->select, event))
			walker->before(walker, selected_of(walker, task), symbol, event);
		return;
	}
	close_to(walker, task, call - task->calls + 1, false);
	ending.took = rest_of(event->ns, call->ns);
	ending.self = rest_of(ending.took, call->below);
	off = task->off - call->off;
	off_self = rest_of(off, call->off_below);
	ending.took_cpu = rest_of(ending.took, off);
	ending.self_cpu = rest_of(ending.self, off_self);
	ending.exact = event->exact && call->exact;
	leave(walker, task, &ending);
}

/* End all open calls of all tasks. */
static void end_all(struct walker *walker)
{
	struct task_calls *task;

	for (task = calls_next_task(walker->all, NULL); task;
	     task = calls_next_task(walker->all, task))
		close_to(walker, task, 0, true);
}

/* End all open calls of all tasks, and report that calls are missing. */
static void forget(struct walker *walker)
{
	end_all(walker);
	if (walker->event && walker->lost)
		walker->lost(walker, walker->event);
}

/* Return true if a function is open that never returns, because its task ends in it. */
static bool ends(const struct task_calls *task)
{
	unsigned int i;

	for (i = 0; i < task->nr; i++)
		if (task->calls[i].symbol->is_last)
			return true;
	return false;
}

/* Select open calls by the task's new name, if none was selected by the old name. */
static void select_open(struct walker *walker, struct task_calls *task)
{
	struct task_calls *selected = selected_of(walker, task);
	struct call *call;
	unsigned int i;

	if (selected == task || selected->nr || !select_may_ask_again(walker->view->select))
		return;
	for (i = 0; i < task->nr; i++) {
		call = &task->calls[i];
		call->shown = select_call(walker->view->select, walker, task, call);
		if (!call->shown)
			continue;
		call = calls_enter(walker->calls, selected, call);
		if (walker->enter)
			walker->enter(walker, selected, call);
	}
}

/*
 * take_name() - Handle a name that is new for the pid of @event
 *
 * Either the task changed its own name, for example by exec(), or another task got the pid after
 * the first one ended. A task never changes its tgid, and a task that is ending never changes its
 * name.
 */
static void take_name(struct walker *walker, struct task_calls *task, const struct event *event)
{
	const struct mctracer_state *state = event->state;

	if (task->has_name && (task->tgid != state->tgid || ends(task))) {
		close_to(walker, task, 0, true);
		task->has_last = false;
		task->earlier++;
		task->track = 0;
	}
	task->has_name = true;
	task->tgid = state->tgid;
	memcpy(task->raw, state->comm, sizeof(task->raw));
	event_name(event, task->comm);
	if (walker->view->select)
		select_open(walker, task);
}

static struct task_calls *task_of(struct walker *walker, const struct event *event)
{
	const struct mctracer_state *state = event->state;
	struct task_calls *task = calls_of(walker->all, state->pid, event->cpu);

	if (state->known & MCTRACER_KNOWS_TASK &&
	    (!task->has_name || task->tgid != state->tgid ||
	     strncmp(task->raw, state->comm, sizeof(task->raw))))
		take_name(walker, task, event);
	return task;
}

static void take_mark(struct walker *walker, struct task_calls *task, const struct event *event)
{
	uint64_t which = event->state->value;

	pass_time(walker, task, false);
	if (walker->note && select_where(walker->view->select, event))
		walker->note(walker, selected_of(walker, task), event);
	if (which != MCTRACER_MARK_MARK && which != MCTRACER_MARK_SNAPSHOT)
		forget(walker);		/* calls may be missing */
}

static void take(struct walker *walker, const struct event *event)
{
	walker->event = event;
	walker->last_ns = event->ns;
	if (!walker->first_ns)
		walker->first_ns = event->ns;
	symbols_at(walker->symbols, event->symbols_at);
	if (event->cut)
		end_all(walker);
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
		if (walker->note && select_where(walker->view->select, event))
			walker->note(walker, selected_of(walker, task_of(walker, event)), event);
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

	if (view->select)
		select_prepare(view->select, false);
	walker->view = view;
	walker->first_ns = 0;
	walker->symbols = view->symbols;
	walker->calls = calls_new(0, 0);
	walker->running = xcalloc(from->nr_cpus, sizeof(*walker->running));
	walker->all = view->select ? calls_new(0, 0) : walker->calls;
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
	if (!walker->enough && !view->check_later)
		select_check(view->select);
	events_end(&events);
	free(walker->running);
	if (walker->all != walker->calls)
		calls_free(walker->all);
	calls_free(walker->calls);
}
