/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A tree of all call paths of a recording: a function that is called by the same chain of callers
 * is one place in the tree, however often. Memory depends on the number of different paths, not on
 * the number of calls.
 */
#ifndef _MCTRACE_PATHS_H
#define _MCTRACE_PATHS_H

#include <stddef.h>
#include <stdint.h>

struct path {
	uint32_t id;		/* of the function; of a root: chosen by the user */
	uint32_t parent;	/* a place is an index; 0: none */
	uint32_t first, next;	/* the first child, and the next sibling */
	uint64_t calls;
	uint64_t returned;	/* calls that returned */
	uint64_t total;		/* ns, of the calls that returned */
	uint64_t self;		/* total without nested calls */
	uint64_t total_cpu;	/* total and self while on a CPU */
	uint64_t self_cpu;
	uint64_t sum;		/* set by paths_sum() and paths_sort() */
};

struct paths {
	struct path *all;
	uint32_t nr, room;
	uint32_t *slots;	/* by hash of parent and id */
	uint32_t nr_slots;	/* a power of two */
};

void paths_begin(struct paths *paths);
void paths_end(struct paths *paths);
/* Return the child @id of @parent (0: a root). Add the child if it is missing. */
uint32_t paths_below(struct paths *paths, uint32_t parent, uint32_t id);
/* Return the child @id of @parent, or 0 if there is none. */
uint32_t paths_find(const struct paths *paths, uint32_t parent, uint32_t id);
/*
 * Set sum of each place to @value of the place and all its descendants, and sort siblings by sum,
 * the largest first. Return the sum of all roots.
 */
uint64_t paths_sum(struct paths *paths, uint64_t (*value)(const struct path *path));
/* Set sum of each place to @value of the place alone, and sort siblings by it. */
void paths_sort(struct paths *paths, uint64_t (*value)(const struct path *path));
uint64_t path_self(const struct path *path);
uint64_t path_calls(const struct path *path);

#endif /* _MCTRACE_PATHS_H */
