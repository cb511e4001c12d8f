/* SPDX-License-Identifier: GPL-2.0 */
/* A recording summed up by the ways through functions that were gone. */
#ifndef _MCTRACE_TALLY_H
#define _MCTRACE_TALLY_H

#include "paths.h"
#include "view.h"
#include "walk.h"

struct tally {
	struct walker walker;
	struct view *view;
	struct paths paths;	/* ids are those of functions, or of tasks: */
	bool by_task;		/* the roots are tasks, by name */
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
/* The name of a place: a function's, or of a task's root, the task's. */
const char *tally_name(const struct tally *tally, uint32_t place);
/* The unit of what paths are weighed by: path_self or path_calls, as the recording has times. */
uint64_t (*tally_value(const struct tally *tally))(const struct path *path);
void tally_end(struct tally *tally);

#endif /* _MCTRACE_TALLY_H */
