/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How errors go from call to call: which calls of a task returned an error, and which calls
 * returned the same error to their callers. The recording needs returns, and a mark with the result
 * of each return that is an error.
 *
 * Each task has a list of its open calls, and of ended calls that an open one may still be given
 * the error of. A function that ends by a jump stays in the list as the caller of the function that
 * it jumps to: if that one is traced, both return the same; if not, calls come from a function that
 * is no call in the list, and the jumping function's result is assumed.
 */
#ifndef _MCTRACE_FAILURES_H
#define _MCTRACE_FAILURES_H

#include <stdbool.h>
#include <stdint.h>

#include "walk.h"

#define NO_FAILURE	UINT32_MAX

/* A call, mostly one that returned an error. */
struct failure {
	const struct symbol *at;	/* where it ended; before, where it was called */
	const struct symbol *untraced;	/* the function without a call that it came from, or NULL */
	const struct symbol *last;	/* the function that it called last, or NULL */
	const struct symbol *into;	/* the untraced function that it jumped to, or NULL */
	uint64_t ns;			/* when it returned, or was called */
	uint32_t parent;		/* the call that it was made in: an index, or NO_FAILURE */
	uint32_t parent_ip;
	uint32_t calls;			/* how many it has made, */
	uint32_t nth;			/* and which of its parent's it is, from 1 on */
	unsigned int depth;		/* in struct task_calls */
	int error;			/* 0: none */
	int handed[2];			/* errors among its arguments, if these were recorded */
	bool known;			/* @error was recorded, or there was none */
	bool jumped;			/* it ended by a jump */
	bool returned;			/* its return was recorded */
	bool apart;			/* its caller does not return its error: an interrupt's */
	bool hidden;			/* mctrace's, or of a task that was not asked for */
};

/* An error's way, from the outermost call that returned it inwards. */
struct way {
	const struct task_calls *task;
	const struct failure **calls;
	unsigned int nr;
	const struct failure *also;	/* has returned the same to the same caller, or NULL */
	/* Where the error ended; of one that a system call returned both are NULL. */
	const struct failure *ended;	/* the call that had it and returned something else */
	const struct failure *root;	/* the outermost call of that, a system call's mostly */
	const struct failure *carrier;	/* the call in which @ended was made, or NULL */
};

struct failures;

struct failures_client {
	/* A system call has failed, or an error has ended elsewhere. */
	void (*found)(void *arg, const struct way *way);
	/* A system call has ended, and no event shows whether it failed. */
	void (*unknown)(void *arg, const struct task_calls *task, const struct failure *call);
	/* A signal's handler has ended, which the call that it has interrupted returns. */
	void (*resumed)(void *arg, const struct task_calls *task, int error);
	void *arg;
};

struct failures *failures_new(const struct failures_client *client);
/* For the functions of struct walker that are called so. */
void failures_enter(struct failures *failures, const struct walker *walker,
		    struct task_calls *task, struct call *call);
void failures_leave(struct failures *failures, const struct walker *walker,
		    struct task_calls *task, const struct call *call, const struct ending *ending);
void failures_mark(struct failures *failures, const struct walker *walker,
		   struct task_calls *task, const struct event *event);
void failures_end(struct failures *failures, const struct walker *walker);
/* How many marks of errors there were. */
uint64_t failures_marks(const struct failures *failures);
void failures_free(struct failures *failures);

#endif /* _MCTRACE_FAILURES_H */
