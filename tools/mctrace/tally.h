/* SPDX-License-Identifier: GPL-2.0 */
/* Sum up a recording by call path. */
#ifndef _MCTRACE_TALLY_H
#define _MCTRACE_TALLY_H

#include "buffer.h"
#include "names.h"
#include "paths.h"
#include "view.h"
#include "walk.h"

/*
 * An id from here on is a CPU, not a function: the place holds its parent's own time on that CPU.
 */
#define TALLY_CPU	0xf0000000U

struct tally {
	struct walker walker;
	struct view *view;
	struct paths paths;	/* ids are of functions; of the roots, of tasks if by_task */
	bool by_task;		/* the roots are names of tasks */
	bool by_cpu;		/* store each place's own time by CPU, in child places */
	const char *function;	/* if not NULL: the roots are this function's calls */
	bool no_interrupts;	/* omit calls by interrupts */
	/* If not NULL: return true if call @nr of the function (from 0 on) is counted. */
	bool (*wants)(struct tally *tally, uint64_t nr);
	void (*ended)(struct tally *tally, uint64_t nr, const struct ending *ending);
	uint64_t nr;		/* calls of the function so far */
	unsigned int nr_cpus;	/* CPUs of the recording that has most */
	bool returns;		/* a recording has returns */
	uint64_t estimated;	/* calls whose times are not exact */
	struct names tasks;	/* by id */
};

void tally_begin(struct tally *tally, struct view *view);
/* Add the calls of the view's recording. */
void tally_walk(struct tally *tally);
/* The same, for view_each(). */
void tally_add(struct view *view, void *tally);
/* Append ,"path":[...]: the functions from the root to @place. */
void tally_json_path(const struct tally *tally, uint32_t place, struct buffer *to);
/* Return the name of a place's function, or of a root's task. */
const char *tally_name(const struct tally *tally, uint32_t place);
void tally_end(struct tally *tally);

#endif /* _MCTRACE_TALLY_H */
