/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which part of a recording a command shows: the options for it, and whether an event or a call
 * is part of it. What is not selected is left out as if it had not been recorded; but times of
 * calls are those of the whole recording.
 */
#ifndef _MCTRACE_SELECT_H
#define _MCTRACE_SELECT_H

#include <stdbool.h>
#include <stdint.h>

#include "options.h"

struct call;
struct event;
struct select;
struct task_calls;
struct view;
struct walker;

/* Tables, of which each begins the next: whose and when; which calls; functions; how deep. */
extern const struct option select_where_options[];
extern const struct option select_call_options[];
extern const struct option select_options[];
extern const struct option select_depth_options[];

/* Return what is selected of @view; NULL if all is. Options that can't be met end mctrace. */
struct select *select_new(const struct view *view);
/* Show calls of @function in any case: the command is about it. */
void select_always(struct select *select, const char *function);
/*
 * Go through the recording once for what a call does not know when it is made: how long it takes.
 * With @events also for what an event does not know: which calls it lies in.
 */
void select_prepare(struct select *select, bool events);
/* Return true if @event's time, CPU and task are selected. @select may be NULL in all of these. */
bool select_where(struct select *select, const struct event *event);
/* Return true if @task is selected by the name that it has now. */
bool select_task(struct select *select, const struct task_calls *task);
/* The same of an event, and its function, its caller, and what it lies in. */
bool select_event(struct select *select, const struct event *event);
/* Is the innermost call of @task, which the current event has made? */
bool select_call(struct select *select, const struct walker *walker,
		 const struct task_calls *task, const struct call *call);
/* Return true if open calls may be asked for once more, since their task's name has changed. */
bool select_may_ask_again(const struct select *select);
/* Is a return of a function whose call is not known? */
bool select_return(struct select *select, const struct event *event);
/* End mctrace if something that was asked for is not in the recording, or nothing is selected. */
void select_check(const struct select *select);
void select_free(struct select *select);

#endif /* _MCTRACE_SELECT_H */
