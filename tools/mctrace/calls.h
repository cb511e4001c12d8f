/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which calls of each task have not returned: its stack, as far as it is known.
 *
 * Where returns were recorded, they take calls away: as the kernel does it, see
 * kernel/trace/mctracer/opencalls.h. Where not, the place in the caller tells whose call the
 * next one is: what was called after that caller has returned.
 */
#ifndef _MCTRACE_CALLS_H
#define _MCTRACE_CALLS_H

#include <stdbool.h>
#include <stdint.h>

struct symbol;

struct call {
	const struct symbol *symbol;	/* the function, at its call site */
	uint32_t parent_ip;
	uint64_t ns;
	bool exact;
	bool open;		/* for who prints a tree: its "{" is printed */
};

struct task_calls {
	struct task_calls *next;	/* by hash */
	uint32_t pid;
	unsigned int cpu;	/* of the idle tasks, which share pid 0; else 0 */
	struct call *calls;	/* the outermost first */
	unsigned int nr, room;
};

struct calls;

struct calls *calls_new(void);
void calls_free(struct calls *calls);
/* Of all tasks: calls are missing. */
void calls_forget(struct calls *calls);
struct task_calls *calls_of(struct calls *calls, uint32_t pid, unsigned int cpu);
/* A task has made one. */
struct call *calls_enter(struct task_calls *task, const struct call *call);
/*
 * A function returns, or goes on in another one, at a place in @symbol: of which call; NULL
 * if that is not known. What has been called after that never returns, and is taken away.
 */
const struct call *calls_leave(struct task_calls *task, const struct symbol *symbol);

#endif /* _MCTRACE_CALLS_H */
