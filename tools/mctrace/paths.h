/* SPDX-License-Identifier: GPL-2.0 */
/*
 * All ways through functions that a recording has, as a tree: a function called by the same
 * chain of callers is one place in it, however often. What it needs of memory depends on how
 * many such ways there are, not on how often they were gone.
 */
#ifndef _MCTRACE_PATHS_H
#define _MCTRACE_PATHS_H

#include <stddef.h>
#include <stdint.h>

struct path {
	uint32_t id;		/* the function's, or what the root was made with */
	uint32_t parent;	/* places are numbers: 0 is none */
	uint32_t first, next;	/* the first place below, and the next one beside */
	uint64_t calls;
	uint64_t returned;	/* of these */
	uint64_t total;		/* ns, of those that have returned */
	uint64_t self;		/* the same, without what is below */
	uint64_t total_cpu;	/* of total and self, what the tasks were on a CPU */
	uint64_t self_cpu;
	uint64_t sum;		/* for paths_sum() */
};

struct paths {
	struct path *all;
	uint32_t nr, room;
	uint32_t *slots;	/* by hash of parent and id */
	uint32_t nr_slots;	/* a power of two */
};

void paths_begin(struct paths *paths);
void paths_end(struct paths *paths);
/* Below @parent (0: a root) that of @id, which there is from then on. */
uint32_t paths_below(struct paths *paths, uint32_t parent, uint32_t id);
/* The same, or 0 if there is none. */
uint32_t paths_find(const struct paths *paths, uint32_t parent, uint32_t id);
/*
 * In sum of each place the value that @value gives for it and for all below it, and what is beside
 * each other by that, the largest first. Returns that of all roots.
 */
uint64_t paths_sum(struct paths *paths, uint64_t (*value)(const struct path *path));
/* The same, but each is sorted by what is its own, without those below it. */
void paths_sort(struct paths *paths, uint64_t (*value)(const struct path *path));
uint64_t path_self(const struct path *path);
uint64_t path_calls(const struct path *path);

#endif /* _MCTRACE_PATHS_H */
