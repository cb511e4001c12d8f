/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The open calls of each task, calls that have not returned: the known part of the task's stack. A
 * return ends the latest open call of its function; see kernel/trace/mctracer/ring/open_calls.h.
 */
#ifndef _MCTRACE_CALLS_H
#define _MCTRACE_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "mctracer_decode.h"

struct symbol;

struct call {
	const struct symbol *symbol;	/* of the recorded address in the function */
	uint32_t parent_ip;
	bool exact;		/* ns was recorded, not estimated */
	bool implied;		/* the function is not traced, but it made a call */
	uint64_t ns;		/* when the call began */
	uint64_t below;		/* ns, time of nested calls that returned */
	uint64_t off;		/* walk.c: off of the task when the call began */
	uint64_t off_below;	/* walk.c: as below, time off the CPU only */
	bool shown;		/* walk.c: the call is selected */
	/* Data of commands: */
	bool open;		/* tree.c: the call's "{" is printed */
	unsigned int cpu;	/* tally.c: on which the call began */
	uint32_t path;		/* index of the call's place in a struct paths */
	uint32_t failure;	/* failures.c: index in the task's list */
	uint64_t nr;		/* tally.c: number of the call, among those of tally->function */
};

struct task_calls {
	struct task_calls *next;	/* in the hash bucket */
	uint32_t pid;
	uint32_t tgid;
	unsigned int cpu;	/* of an idle task, since these share pid 0; else 0 */
	char comm[MCTRACER_COMM_LEN + 1];
	bool has_name;		/* walk.c: comm and tgid are known */
	unsigned int earlier;	/* walk.c: how many tasks had the pid before this one */
	char raw[MCTRACER_COMM_LEN];	/* walk.c: comm as recorded */
	struct call *calls;	/* the outermost first */
	unsigned int nr, room;
	unsigned int oldest;	/* index; calls before it are forgotten */
	struct task_calls *selected;	/* walk.c: the selected calls; NULL: none yet */
	/* walk.c: the task's latest event, if has_last, and its time off the CPU so far, ns: */
	uint64_t last_ns;
	unsigned int last_cpu;
	bool has_last;
	bool last_calls;	/* the event was a call */
	uint64_t off;
	/* Data of commands: */
	bool waits;		/* tree.c: the latest call is not printed yet, it may be a leaf */
	int shown;		/* tree.c: 1 + the CPU on which the task is printed; 0: none */
	uint32_t track;		/* export_*.c, failures.c: the task's number, from 1; 0: none yet */
	char named[MCTRACER_COMM_LEN + 1];	/* the name used there: exec() changes comm */
};

struct calls;

/*
 * Keep at most @depth open calls of each task, the latest ones, and at most @tasks tasks: one more
 * task makes all calls forgotten. 0: no limit.
 */
struct calls *calls_new(unsigned int depth, unsigned int tasks);
void calls_free(struct calls *calls);
/* Forget all tasks and their calls, because calls are missing. */
void calls_forget(struct calls *calls);
/* Return the calls of a task, or add the task. @cpu identifies idle tasks, which share pid 0. */
struct task_calls *calls_of(struct calls *calls, uint32_t pid, unsigned int cpu);
/* Return the calls of a task, or NULL if the task is not known. */
struct task_calls *calls_find(struct calls *calls, uint32_t pid, unsigned int cpu);
/* Return the task after @task, or the first if @task is NULL; NULL at the end. */
struct task_calls *calls_next_task(const struct calls *calls, const struct task_calls *task);
/* Add a copy of @call as the innermost call of @task, and return the copy. */
struct call *calls_enter(struct calls *calls, struct task_calls *task, const struct call *call);
/*
 * Return the open call that ends when the function of @symbol returns, or jumps to another
 * function; NULL if it is not known. Do not remove the call.
 */
struct call *calls_which(const struct task_calls *task, const struct symbol *symbol);

#endif /* _MCTRACE_CALLS_H */
