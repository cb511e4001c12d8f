// SPDX-License-Identifier: GPL-2.0
/* Follow errors from call to call: which calls of each task returned an error, to which callers. */
#include <stdlib.h>
#include <string.h>

#include "errors.h"
#include "failures.h"
#include "util.h"

struct failure_list {
	struct failure *failures;
	uint32_t nr, room;
	uint32_t top;		/* index of the innermost open call, or NO_FAILURE */
	bool executed;		/* exec() succeeded */
};

struct failures {
	struct failures_client client;
	struct failure_list *lists;	/* by task_calls->track - 1 */
	uint32_t nr_lists, room;
	uint64_t nr_marks;
};

struct failures *failures_new(const struct failures_client *client)
{
	struct failures *failures = xcalloc(1, sizeof(*failures));

	failures->client = *client;
	return failures;
}

void failures_free(struct failures *failures)
{
	uint32_t i;

	for (i = 0; i < failures->nr_lists; i++)
		free(failures->lists[i].failures);
	free(failures->lists);
	free(failures);
}

uint64_t failures_marks(const struct failures *failures)
{
	return failures->nr_marks;
}

static struct failure_list *list_of(struct failures *failures, struct task_calls *task)
{
	struct failure_list *list;

	if (task->track)
		return &failures->lists[task->track - 1];
	if (failures->nr_lists == failures->room) {
		failures->room = failures->room ? 2 * failures->room : 64;
		failures->lists = xrealloc(failures->lists, failures->room, sizeof(*list));
	}
	list = &failures->lists[failures->nr_lists++];
	task->track = failures->nr_lists;
	*list = (struct failure_list) { .top = NO_FAILURE };
	return list;
}

static bool name_begins(const char *name, const char * const *beginnings, size_t nr)
{
	while (nr--)
		if (!strncmp(name, beginnings[nr], strlen(beginnings[nr])))
			return true;
	return false;
}

/* Return true for functions of the system call table. */
static bool is_call_of_program(const char *name)
{
	static const char * const beginnings[] = {
		"__x64_sys_", "__ia32_sys_", "__ia32_compat_sys_", "__x64_compat_sys_",
	};

	return name_begins(name, beginnings, ARRAY_SIZE(beginnings));
}

/* Return true for entry code that calls the functions of system calls. */
static bool is_call_entry(const char *name)
{
	static const char * const beginnings[] = {
		"do_syscall_64", "__do_fast_syscall_32", "do_int80_", "do_SYSENTER_32",
		"x64_sys_call", "x32_sys_call", "ia32_sys_call",
	};

	return name_begins(name, beginnings, ARRAY_SIZE(beginnings));
}

static bool is_exception(const struct symbol *symbol)
{
	static const char * const beginnings[] = {
		"exc_", "asm_exc_", "do_user_addr_fault", "asm_sysvec_", "asm_common_interrupt",
	};

	return symbol->is_interrupt ||
	       name_begins(symbol->name, beginnings, ARRAY_SIZE(beginnings));
}

/* Return true if the system call never returns an error. */
static bool cannot_fail(const char *name)
{
	static const char * const names[] = {
		"getpid", "gettid", "getppid", "getpgrp", "getuid", "geteuid", "getgid",
		"getegid", "sync", "sched_yield", "munlockall", "rt_sigreturn", "sigreturn",
	};
	const char *call = strstr(name, "sys_");
	size_t i;

	for (i = 0; call && i < ARRAY_SIZE(names); i++)
		if (!strcmp(call + strlen("sys_"), names[i]))
			return true;
	return false;
}

static bool is_system_call(const struct walker *walker, const struct failure *failure)
{
	const char *name = failure->at->name;

	return is_call_of_program(name) ||
	       (!is_call_entry(name) &&
		is_call_entry(symbol_of(walker->symbols, failure->parent_ip)->name));
}

static bool is_return_of_signal(const struct failure *failure)
{
	const char *call = strstr(failure->at->name, "_sys_");

	return call && strstr(call, "sigreturn");
}

/*
 * Return the first call from @i on, of the calls that @of made, that returned @of's error without
 * having been handed it as an argument; NO_FAILURE if there is none. Only calls by @of that
 * returned an error are visited.
 */
static uint32_t giver(const struct failure_list *list, uint32_t of, uint32_t i)
{
	const struct failure *parent = &list->failures[of], *one;

	for (; i != NO_FAILURE; i = one->next_failed) {
		one = &list->failures[i];
		if (one->error == parent->error && one->handed[0] != one->error &&
		    one->handed[1] != one->error)
			break;
	}
	return i;
}

/*
 * Return the call that gave @of its error, or NO_FAILURE. Of several calls return the first, since
 * the later ones may have been handed the error; but if its function was called again, that was a
 * new attempt: return the last one. Set *@also to a later call of another function that may have
 * decided.
 */
static uint32_t given_by(const struct failure_list *list, uint32_t of, uint32_t *also)
{
	uint32_t first = giver(list, of, list->failures[of].first_failed), next;

	if (first == NO_FAILURE)
		return NO_FAILURE;
	for (next = giver(list, of, list->failures[first].next_failed); next != NO_FAILURE;
	     next = giver(list, of, list->failures[next].next_failed)) {
		if (list->failures[next].at->id == list->failures[first].at->id) {
			first = next;
			*also = NO_FAILURE;
		} else {
			*also = next;
		}
	}
	return first;
}

/* Report an error's path, from the call at @from inwards, to the client. */
static void tell_way(const struct failures *failures, const struct failure_list *list,
		     struct way *way, uint32_t from)
{
	uint32_t also = NO_FAILURE, i;

	if (list->failures[from].hidden)
		return;
	for (i = from; i != NO_FAILURE; i = given_by(list, i, &also)) {
		way->calls = xrealloc(way->calls, way->nr + 1, sizeof(*way->calls));
		way->calls[way->nr++] = &list->failures[i];
	}
	way->also = also == NO_FAILURE ? NULL : &list->failures[also];
	failures->client.found(failures->client.arg, way);
	free(way->calls);
}

/*
 * Return the call that made the call at @nr, not counting functions that jumped to it; or NULL. A
 * kernel that catches returns records no jump, but both functions return to the same place. Only
 * open calls are visited: walk.c keeps a bounded number of them.
 */
static const struct failure *caller_of(const struct failure_list *list, uint32_t nr)
{
	uint32_t i = list->failures[nr].parent;

	while (i != NO_FAILURE && (list->failures[i].jumped ||
				   list->failures[i].parent_ip == list->failures[nr].parent_ip))
		i = list->failures[i].jumped ? list->failures[i].maker : list->failures[i].parent;
	return i == NO_FAILURE ? NULL : &list->failures[i];
}

/*
 * Report the errors that the call at @ended was given and did not return. The outermost call of the
 * task is the first one of the list: when that call ends, the list becomes empty.
 */
static void tell_lost(const struct failures *failures, const struct failure_list *list,
		      const struct task_calls *task, uint32_t ended)
{
	const struct failure *at = &list->failures[ended];
	const struct failure *carrier = NULL;
	struct way way;
	uint32_t i;

	if (at->first_failed != NO_FAILURE)
		carrier = caller_of(list, ended);
	for (i = at->first_failed; i != NO_FAILURE; i = list->failures[i].next_failed) {
		if (list->failures[i].error == at->error)
			continue;
		way = (struct way) {
			.task = task,
			.ended = at,
			.root = &list->failures[0],
			.carrier = carrier,
		};
		tell_way(failures, list, &way, i);
	}
}

/*
 * Find the result of a function that ended by a jump. Entry code returns the result of the
 * function that it calls, so if its return was recorded, take that result. Otherwise assume that
 * the function returned the last error that it was given.
 */
static void assume(struct failure_list *list, uint32_t nr)
{
	struct failure *failure = &list->failures[nr];
	const struct failure *parent;

	if (failure->parent != NO_FAILURE) {
		parent = &list->failures[failure->parent];
		if (parent->returned && is_call_entry(parent->at->name)) {
			failure->error = parent->error;
			failure->known = true;
			return;
		}
	}
	if (failure->last_failed != NO_FAILURE)
		failure->error = list->failures[failure->last_failed].error;
}

/* Return true if a function other than entry code made the call, or jumped to it. */
static bool is_within(const struct failure_list *list, const struct failure *failure)
{
	return failure->parent != NO_FAILURE &&
	       !is_call_entry(list->failures[failure->parent].at->name);
}

/* Append the call at @nr, which returned an error, to those of its parent. */
static void give_error(struct failure_list *list, uint32_t nr)
{
	struct failure *parent = &list->failures[list->failures[nr].parent];

	if (parent->last_failed == NO_FAILURE)
		parent->first_failed = nr;
	else
		list->failures[parent->last_failed].next_failed = nr;
	parent->last_failed = nr;
}

/*
 * End the innermost open call. Keep it in the list if a caller may return its error, otherwise
 * report its result and drop it.
 */
static void close_top(struct failures *failures, const struct walker *walker,
		      struct task_calls *task, struct failure_list *list)
{
	struct failure *failure = &list->failures[list->top];
	struct way way = { .task = task };
	uint32_t nr = list->top;
	bool is_call;

	if (failure->jumped && !failure->known)
		assume(list, nr);
	if (failure->apart)
		failure->error = 0;
	tell_lost(failures, list, task, nr);
	list->top = failure->parent;
	if (failure->error && is_within(list, failure)) {
		give_error(list, nr);
		return;
	}
	is_call = !is_within(list, failure) && is_system_call(walker, failure);
	if (is_call)
		failures->client.ended(failures->client.arg, task, failure->at);
	if (is_return_of_signal(failure))
		failures->client.resumed(failures->client.arg, task, failure->error);
	else if (failure->error && is_call)
		tell_way(failures, list, &way, nr);
	else if (!failure->known && !failure->error && !failure->hidden && is_call &&
		 !cannot_fail(failure->at->name))
		failures->client.unknown(failures->client.arg, task, failure);
	list->nr = nr;
}

/*
 * Return true if the function to which @top jumped is still running: it makes @call, or is @call's
 * function. An interrupt's calls don't end it either.
 */
static bool continues(const struct walker *walker, const struct task_calls *task,
		      const struct call *call, const struct failure *top)
{
	unsigned int depth = call - task->calls;
	const struct symbol *caller = symbol_of(walker->symbols, call->parent_ip);

	if (is_exception(call->symbol))
		return true;
	if (is_call_entry(call->symbol->name))
		return false;
	if (top->depth != depth)
		return false;
	if (call->parent_ip == top->parent_ip)
		return call->symbol->id != top->at->id && !is_call_of_program(call->symbol->name);
	if (top->apart)		/* if its caller is no interrupt, the interrupt has ended */
		return is_exception(caller);
	if (depth)
		return caller->id != call[-1].symbol->id;
	return !caller->is_entry && !is_call_entry(caller->name);
}

/* Store the recorded arguments that are errors, as many as fit. */
static void find_handed(const struct event *event, struct failure *failure)
{
	unsigned int i, nr = 0;

	for (i = 0; event && i < event->state->nr_args && nr < ARRAY_SIZE(failure->handed); i++) {
		failure->handed[nr] = error_of(event->state->args[i]);
		nr += failure->handed[nr] != 0;
	}
}

/*
 * Return true for calls of mctrace itself, and of its child before exec(). The child's name is
 * "exe" at first, because it begins as /proc/self/exe.
 */
static bool is_own(const struct failures *failures, const struct failure_list *list,
		   const struct task_calls *task)
{
	return !failures->client.running && !list->executed &&
	       (!strcmp(task->comm, "mctrace") || !strcmp(task->comm, "exe"));
}

static uint32_t add_failure(struct failure_list *list, const struct failure *failure)
{
	if (list->nr == list->room) {
		list->room = list->room ? 2 * list->room : 64;
		list->failures = xrealloc(list->failures, list->room, sizeof(*failure));
	}
	list->failures[list->nr] = *failure;
	return list->nr++;
}

/*
 * Return the untraced function that made @call; NULL if the function of @top made it, or jumped to
 * it: then both return to the same place.
 */
static const struct symbol *untraced_caller(const struct walker *walker, const struct call *call,
					    const struct failure *top)
{
	const struct symbol *caller = symbol_of(walker->symbols, call->parent_ip);

	if (caller->id == top->at->id || call->parent_ip == top->parent_ip)
		return NULL;
	return caller;
}

/* Return true if no caller returns the call's error: it is of an interrupt, or of entry code. */
static bool is_apart(const struct walker *walker, const struct call *call)
{
	return is_exception(call->symbol) || is_call_entry(call->symbol->name) ||
	       is_exception(symbol_of(walker->symbols, call->parent_ip));
}

void failures_enter(struct failures *failures, const struct walker *walker,
		    struct task_calls *task, struct call *call)
{
	struct failure_list *list = list_of(failures, task);
	struct failure failure = {
		.at = call->symbol,
		.ns = call->ns,
		.parent_ip = call->parent_ip,
		.depth = call - task->calls,
		.maker = NO_FAILURE,
		.first_failed = NO_FAILURE,
		.last_failed = NO_FAILURE,
		.next_failed = NO_FAILURE,
		.known = true,
		.apart = is_apart(walker, call),
		.hidden = !call->shown || is_own(failures, list, task),
	}, *top;

	while (list->top != NO_FAILURE && list->failures[list->top].jumped &&
	       !continues(walker, task, call, &list->failures[list->top]))
		close_top(failures, walker, task, list);
	failure.parent = list->top;
	if (list->top != NO_FAILURE) {
		top = &list->failures[list->top];
		failure.maker = top->jumped ? top->maker : list->top;
		failure.hidden |= top->hidden;
		failure.nth = ++top->calls;
		if (!failure.apart) {
			failure.untraced = untraced_caller(walker, call, top);
			top->last = call->symbol;
			if (top->jumped && !top->into)
				top->into = failure.untraced;
		}
	}
	find_handed(walker->event, &failure);
	call->failure = add_failure(list, &failure);
	list->top = call->failure;
}

static void close_to(struct failures *failures, const struct walker *walker,
		     struct task_calls *task, struct failure_list *list, uint32_t nr)
{
	while (list->top != nr && list->top != NO_FAILURE)
		close_top(failures, walker, task, list);
}

void failures_leave(struct failures *failures, const struct walker *walker,
		    struct task_calls *task, const struct call *call, const struct ending *ending)
{
	struct failure_list *list = list_of(failures, task);
	struct failure ended, *top;

	if (ending->cut) {		/* neither its result nor the calls before are known */
		list->nr = 0;
		list->top = NO_FAILURE;
		return;
	}
	if (call->failure < list->nr)
		list->failures[call->failure].returned = ending->returned && !ending->tail;
	close_to(failures, walker, task, list, call->failure);
	if (list->top == NO_FAILURE)
		return;
	list->failures[list->top].jumped = ending->tail;
	if (ending->tail) {
		list->failures[list->top].at = symbol_of(walker->symbols, walker->event->state->ip);
		list->failures[list->top].known = false;
		return;
	}
	list->failures[list->top].known = ending->returned;
	ended = list->failures[list->top];
	if (!strcmp(call->symbol->name, "begin_new_exec") && ending->returned && !ended.error)
		list->executed = true;
	close_top(failures, walker, task, list);
	/* Functions that jumped to this one return its result. */
	while (list->top != NO_FAILURE && !ended.apart) {
		top = &list->failures[list->top];
		if (!top->jumped || top->parent_ip != ended.parent_ip || top->depth != ended.depth)
			break;
		top->known = ended.known;
		top->error = ended.error;
		top->ns = ended.ns;
		close_top(failures, walker, task, list);
	}
}

void failures_mark(struct failures *failures, const struct walker *walker,
		   struct task_calls *task, const struct event *event)
{
	const struct mctracer_state *state = event->state;
	const struct symbol *at;
	const struct call *call;
	struct failure *failure;

	if (event->found != FOUND_MARK || state->value != MCTRACER_MARK_MARK ||
	    !(state->has & MCTRACER_HAS_RESULT) || !error_of(state->result))
		return;
	failures->nr_marks++;
	at = symbol_of(walker->symbols, state->ip);
	call = calls_which(task, at);
	if (!call)
		return;
	failure = &list_of(failures, task)->failures[call->failure];
	failure->error = error_of(state->result);
	failure->at = at;
	failure->ns = event->ns;
}

/* End the functions that ended by a jump, and after which nothing was recorded. */
void failures_end(struct failures *failures, const struct walker *walker)
{
	struct task_calls *task;

	for (task = calls_next_task(walker->calls, NULL); task;
	     task = calls_next_task(walker->calls, task))
		close_to(failures, walker, task, list_of(failures, task), NO_FAILURE);
}
