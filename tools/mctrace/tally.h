/* SPDX-License-Identifier: GPL-2.0 */
/* A recording summed up by the ways through functions that were gone. */
#ifndef _MCTRACE_TALLY_H
#define _MCTRACE_TALLY_H

#include "buffer.h"
#include "paths.h"
#include "view.h"
#include "walk.h"

/* A place below that of a function with this id and more is of a CPU, and no function's. */
#define TALLY_CPU	0xf0000000U

struct tally {
	struct walker walker;
	struct view *view;
	struct paths paths;	/* ids are those of functions, or of tasks: */
	bool by_task;		/* the roots are tasks, by name */
	bool by_cpu;		/* what a place has of its own is below it, by CPU: TALLY_CPU */
	const char *function;	/* not NULL: the roots are this function's calls */
	bool no_interrupts;	/* what interrupts do is left out */
	/* If not NULL: is this call of the function, from 0 on, to be looked at? And its end. */
	bool (*wants)(struct tally *tally, uint64_t nr);
	void (*ended)(struct tally *tally, uint64_t nr, const struct ending *ending);
	uint64_t nr;		/* calls of the function that were met so far */
	uint64_t estimated;	/* endings that were not recorded to the nanosecond */
	char **tasks;		/* names, by id */
	uint32_t nr_tasks;
};

void tally_begin(struct tally *tally, struct view *view);
void tally_walk(struct tally *tally);
/* Put ,"path":[...]: the functions from the root to the place, the outermost first. */
void tally_json_path(const struct tally *tally, uint32_t place, struct buffer *to);
/* The name of a place: a function's, or of a task's root, the task's. */
const char *tally_name(const struct tally *tally, uint32_t place);
void tally_end(struct tally *tally);

#endif /* _MCTRACE_TALLY_H */
