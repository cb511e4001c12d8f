/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Follow errors from call to call: which calls of a task returned an error, and which callers
 * returned the same error. The recording needs returns, and a mark with the result of each return
 * that is an error.
 *
 * Each task has a list of its open calls, and of ended calls whose error an open call may still
 * return. A function that ends by a jump stays in the list as the caller of the function that it
 * jumps to. If that function is traced, both return the same result. If not, its calls have a
 * caller that is not in the list, and the result of the function that jumped is assumed.
 */
#ifndef _MCTRACE_FAILURES_H
#define _MCTRACE_FAILURES_H

#include <stdbool.h>
#include <stdint.h>

#include "walk.h"

#define NO_FAILURE	UINT32_MAX

/* A call, mostly one that returned an error. */
struct failure {
	const struct symbol *at;	/* where it ended; until then, its beginning */
	const struct symbol *untraced;	/* its caller if that is not traced, or NULL */
	const struct symbol *last;	/* the last function that it called, or NULL */
	const struct symbol *into;	/* the untraced function that it jumped to, or NULL */
	uint64_t ns;			/* when it returned; until then, when it was called */
	uint32_t parent;		/* index of the call that made it, or NO_FAILURE */
	/* Indexes, or NO_FAILURE: */
	uint32_t maker;			/* the nearest of its callers that did not jump */
	uint32_t first_failed;		/* its ended calls that returned an error: the first, */
	uint32_t last_failed;		/* and the last */
	uint32_t next_failed;		/* the next of these calls of the parent */
	uint32_t parent_ip;
	uint32_t calls;			/* number of calls that it made */
	uint32_t nth;			/* its number among the parent's calls, from 1 */
	unsigned int depth;		/* index in struct task_calls */
	int error;			/* 0: none */
	int handed[2];			/* errors among its recorded arguments; 0: none */
	bool known;			/* @error was recorded, or there was none */
	bool jumped;			/* it ended by a jump */
	bool returned;			/* its return was recorded */
	bool apart;			/* callers don't return its error: see is_apart() */
	bool hidden;			/* of mctrace itself, or not selected */
};

/* An error's path: the calls that returned the error, the outermost first. */
struct way {
	const struct task_calls *task;
	const struct failure **calls;
	unsigned int nr;
	const struct failure *also;	/* also returned the error to the same caller, or NULL */
	/* Where the error ended; all NULL if a system call returned it. */
	const struct failure *ended;	/* the call that was given the error but didn't return it */
	const struct failure *root;	/* the outermost caller of @ended, mostly a system call */
	const struct failure *carrier;	/* the call that made @ended, or NULL */
};

struct failures;

struct failures_client {
	/* A system call failed, or an error ended in a call that did not return it. */
	void (*found)(void *arg, const struct way *way);
	/* A system call ended, and no event shows whether it failed. */
	void (*unknown)(void *arg, const struct task_calls *task, const struct failure *call);
	/* A system call ended, in any way: before found() or unknown() of this call. */
	void (*ended)(void *arg, const struct task_calls *task, const struct symbol *symbol);
	/* A signal's handler returned: @error is the result of the system call it interrupted. */
	void (*resumed)(void *arg, const struct task_calls *task, int error);
	void *arg;
	/* The tasks ran before: none of them is a child of mctrace that has yet to call exec(). */
	bool running;
};

struct failures *failures_new(const struct failures_client *client);
/* To be called by the callbacks enter, leave, note and end of struct walker. */
void failures_enter(struct failures *failures, const struct walker *walker,
		    struct task_calls *task, struct call *call);
void failures_leave(struct failures *failures, const struct walker *walker,
		    struct task_calls *task, const struct call *call, const struct ending *ending);
void failures_mark(struct failures *failures, const struct walker *walker,
		   struct task_calls *task, const struct event *event);
void failures_end(struct failures *failures, const struct walker *walker);
/* Return the number of marks with an error. */
uint64_t failures_marks(const struct failures *failures);
void failures_free(struct failures *failures);

#endif /* _MCTRACE_FAILURES_H */
