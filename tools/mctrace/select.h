/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Select the part of a recording that a command shows: the options, and whether an event or a call
 * is selected. What is not selected is omitted as if it had not been recorded, but durations of
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

/*
 * Tables of options. Each table ends with the previous one: tasks, CPUs and time; calls; functions;
 * depth.
 */
extern const struct option select_where_options[];
extern const struct option select_call_options[];
extern const struct option select_options[];
extern const struct option select_depth_options[];

/* Return true if --pid selects a process. */
bool select_has_process(void);
/*
 * Remove all tasks from the selection, and return the tracer's expressions for those that run now,
 * one a line; NULL if no task was selected. End mctrace if a name is not that of a process. For a
 * command that records these tasks. The caller frees the text.
 */
char *select_take_tasks(void);
/* Return true if an option selects a part of the recording. */
bool select_is_asked(void);
/*
 * Return the selection for @view; NULL if everything is selected. End mctrace if an option can't be
 * met.
 */
struct select *select_new(const struct view *view);
/* Select calls of @function in any case, because the command needs them. */
void select_always(struct select *select, const char *function);
/*
 * Walk the recording once to find which calls are selected, if that depends on a call's duration,
 * which is not known at its beginning. With @events also find which events are within selected
 * calls.
 */
void select_prepare(struct select *select, bool events);
/*
 * Return true if @event's time, CPU and task are selected. Like the functions below, accept NULL as
 * @select.
 */
bool select_where(struct select *select, const struct event *event);
/* Return true if @task is selected by the name that it has now. */
bool select_task(struct select *select, const struct task_calls *task);
/*
 * Return true if @event is selected, including its function, its caller, and the calls around it.
 */
bool select_event(struct select *select, const struct event *event);
/* Return true if @call, the innermost of @task, which the current event made, is selected. */
bool select_call(struct select *select, const struct walker *walker,
		 const struct task_calls *task, const struct call *call);
/*
 * Return true if select_call() may decide again on open calls after their task's name has changed.
 */
bool select_may_ask_again(const struct select *select);
/* Return true if a return without a known call is selected. */
bool select_return(struct select *select, const struct event *event);
/* End mctrace if the recording lacks something that was asked for, or if nothing is selected. */
void select_check(const struct select *select);
void select_free(struct select *select);

#endif /* _MCTRACE_SELECT_H */
