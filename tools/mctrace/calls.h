/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which calls of each task have not returned: its stack, as far as it is known. A return is of
 * the last call of its function; see kernel/trace/mctracer/opencalls.h.
 */
#ifndef _MCTRACE_CALLS_H
#define _MCTRACE_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "mctracer_decode.h"

struct symbol;

struct call {
	const struct symbol *symbol;	/* the function, at its call site */
	uint32_t parent_ip;
	bool exact;		/* ns was recorded */
	bool implied;		/* it is not traced, but what it has called is */
	uint64_t ns;
	uint64_t below;		/* how long the calls took that it has made and that returned */
	uint64_t off;		/* walk.c: its task's when it was made */
	uint64_t off_below;	/* walk.c: as below, of the time that its task was off the CPU */
	bool shown;		/* walk.c: it is selected */
	/* What who looks at calls remembers of this one. */
	bool open;		/* tree.c: its "{" is printed */
	uint32_t path;		/* paths.c: where in all that was called it is */
	uint32_t failure;	/* failures.c: its index */
	uint64_t nr;		/* tally.c: the how manieth of the function that is asked for */
};

struct task_calls {
	struct task_calls *next;	/* by hash */
	uint32_t pid;
	uint32_t tgid;
	unsigned int cpu;	/* of the idle tasks, which share pid 0; else 0 */
	char comm[MCTRACER_COMM_LEN + 1];
	bool has_name;		/* walk.c: comm and tgid have been recorded */
	char raw[MCTRACER_COMM_LEN];	/* walk.c: and this is how */
	struct call *calls;	/* the outermost first */
	unsigned int nr, room;
	unsigned int oldest;	/* those before it are forgotten */
	struct task_calls *selected;	/* walk.c: its calls that are; NULL: none yet */
	/* walk.c: its last event, if there was one; and how long it was off the CPU so far, ns. */
	uint64_t last_ns;
	unsigned int last_cpu;
	bool has_last;
	bool last_calls;	/* that was a call */
	uint64_t off;
	/* What who looks at tasks remembers of this one. */
	bool waits;		/* tree.c: the last call is not printed yet: is it a leaf? */
	int shown;		/* tree.c: where it is being printed: 1 + CPU; 0: nowhere */
	uint32_t track;		/* export, failures.c: which it is there, from 1 on, ... */
	char named[MCTRACER_COMM_LEN + 1];	/* ... and its name: exec() gives another one */
};

struct calls;

/*
 * At most @depth calls of a task are kept, of more the oldest are forgotten; of more tasks than
 * @tasks all are. 0: any number.
 */
struct calls *calls_new(unsigned int depth, unsigned int tasks);
void calls_free(struct calls *calls);
/* Of all tasks: calls are missing. */
void calls_forget(struct calls *calls);
struct task_calls *calls_of(struct calls *calls, uint32_t pid, unsigned int cpu);
/* The same, but NULL if it has called nothing. */
struct task_calls *calls_find(struct calls *calls, uint32_t pid, unsigned int cpu);
/* Each task; @task NULL: the first. NULL at the end. */
struct task_calls *calls_next_task(const struct calls *calls, const struct task_calls *task);
/* A task has made one. */
struct call *calls_enter(struct calls *calls, struct task_calls *task, const struct call *call);
/*
 * A function returns, or goes on in another one, at a place in @symbol: of which call; NULL
 * if that is not known. It is left as it is.
 */
struct call *calls_which(const struct task_calls *task, const struct symbol *symbol);

#endif /* _MCTRACE_CALLS_H */
