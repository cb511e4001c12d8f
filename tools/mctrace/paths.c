// SPDX-License-Identifier: GPL-2.0
/* The tree of call paths: add, find, sum up and sort places. */
#include <stdlib.h>
#include <string.h>

#include "paths.h"
#include "util.h"

void paths_begin(struct paths *paths)
{
	*paths = (struct paths) { .nr = 1, .room = 1024, .nr_slots = 4096 };
	paths->all = xcalloc(paths->room, sizeof(*paths->all));
	paths->slots = xcalloc(paths->nr_slots, sizeof(*paths->slots));
}

void paths_end(struct paths *paths)
{
	free(paths->all);
	free(paths->slots);
}

static uint32_t *slot_of(const struct paths *paths, uint32_t parent, uint32_t id)
{
	uint64_t hash = ((uint64_t)parent << 32 | id) * 0x9e3779b97f4a7c15ULL;
	uint32_t mask = paths->nr_slots - 1, i = hash >> 32 & mask;
	const struct path *path;

	for (; paths->slots[i]; i = (i + 1) & mask) {
		path = &paths->all[paths->slots[i]];
		if (path->parent == parent && path->id == id)
			break;
	}
	return &paths->slots[i];
}

static void grow(struct paths *paths)
{
	uint32_t i;

	paths->room *= 2;
	paths->all = xrealloc(paths->all, paths->room, sizeof(*paths->all));
	free(paths->slots);
	paths->nr_slots *= 2;
	paths->slots = xcalloc(paths->nr_slots, sizeof(*paths->slots));
	for (i = 1; i < paths->nr; i++)
		*slot_of(paths, paths->all[i].parent, paths->all[i].id) = i;
}

uint32_t paths_find(const struct paths *paths, uint32_t parent, uint32_t id)
{
	return *slot_of(paths, parent, id);
}

uint32_t paths_below(struct paths *paths, uint32_t parent, uint32_t id)
{
	uint32_t place = paths_find(paths, parent, id);

	if (place)
		return place;
	if (paths->nr == paths->room)
		grow(paths);
	place = paths->nr++;
	paths->all[place] = (struct path) {
		.id = id,
		.parent = parent,
		.next = paths->all[parent].first,
	};
	paths->all[parent].first = place;
	*slot_of(paths, parent, id) = place;
	return place;
}

uint64_t path_self(const struct path *path)
{
	return path->self;
}

uint64_t path_calls(const struct path *path)
{
	return path->calls;
}

static const struct path *sorted;

static int by_sum(const void *a, const void *b)
{
	const struct path *x = &sorted[*(const uint32_t *)a], *y = &sorted[*(const uint32_t *)b];

	if (x->sum != y->sum)
		return x->sum > y->sum ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static void sort_below(struct paths *paths, uint32_t parent)
{
	struct path *all = paths->all;
	uint32_t nr = 0, i, place, *places;

	for (place = all[parent].first; place; place = all[place].next)
		nr++;
	if (nr < 2)
		return;
	places = xcalloc(nr, sizeof(*places));
	for (place = all[parent].first, i = 0; place; place = all[place].next)
		places[i++] = place;
	sorted = all;
	qsort(places, nr, sizeof(*places), by_sum);
	for (i = 0; i < nr; i++)
		all[places[i]].next = i + 1 < nr ? places[i + 1] : 0;
	all[parent].first = places[0];
	free(places);
}

/* A child's index is always above its parent's, so one pass backwards adds up all sums. */
uint64_t paths_sum(struct paths *paths, uint64_t (*value)(const struct path *path))
{
	uint32_t place;

	for (place = 0; place < paths->nr; place++)
		paths->all[place].sum = place ? value(&paths->all[place]) : 0;
	for (place = paths->nr - 1; place; place--)
		paths->all[paths->all[place].parent].sum += paths->all[place].sum;
	for (place = 0; place < paths->nr; place++)
		sort_below(paths, place);
	return paths->all[0].sum;
}

void paths_sort(struct paths *paths, uint64_t (*value)(const struct path *path))
{
	uint32_t place;

	for (place = 0; place < paths->nr; place++)
		paths->all[place].sum = place ? value(&paths->all[place]) : 0;
	for (place = 0; place < paths->nr; place++)
		sort_below(paths, place);
}
