// SPDX-License-Identifier: GPL-2.0
/* A recording summed up by the ways through functions that were gone. */
#include <stdlib.h>
#include <string.h>

#include "tally.h"
#include "util.h"

/* Not in the function that is asked for; and what is not looked at, with all that it calls. */
#define OUTSIDE	0xfffffffeU
#define HIDDEN	0xffffffffU

static uint32_t root_of(struct tally *tally, const struct task_calls *task)
{
	uint32_t i;

	if (!tally->by_task)
		return 0;
	for (i = 0; i < tally->nr_tasks; i++)
		if (!strcmp(tally->tasks[i], task->comm))
			return paths_below(&tally->paths, 0, i);
	tally->tasks = xrealloc(tally->tasks, i + 1, sizeof(*tally->tasks));
	tally->tasks[i] = xstrdup(task->comm);
	tally->nr_tasks++;
	return paths_below(&tally->paths, 0, i);
}

static bool is_interrupts(const struct tally *tally, const struct call *call)
{
	return call->symbol->is_interrupt ||
	       symbol_of(tally->view->symbols, call->parent_ip)->is_interrupt;
}

/* The place below which a call is, 0 for a root; or OUTSIDE or HIDDEN, which it is then. */
static uint32_t place_above(struct tally *tally, const struct task_calls *task,
			    struct call *call)
{
	uint32_t above;

	if (task->nr > 1)
		above = task->calls[task->nr - 2].path;
	else
		above = tally->function ? OUTSIDE : root_of(tally, task);
	if (above == HIDDEN || (tally->no_interrupts && is_interrupts(tally, call)))
		return HIDDEN;
	if (above != OUTSIDE)
		return above;
	if (call->implied || !is_named(call->symbol->name, tally->function))
		return OUTSIDE;
	call->nr = tally->nr++;
	return tally->wants && !tally->wants(tally, call->nr) ? HIDDEN : 0;
}

static void enter(struct walker *walker, struct task_calls *task, struct call *call)
{
	struct tally *tally = (struct tally *)walker;
	uint32_t above;

	if (!view_shows(tally->view, task)) {
		call->path = HIDDEN;
		return;
	}
	above = place_above(tally, task, call);
	if (above == OUTSIDE || above == HIDDEN) {
		call->path = above;
		return;
	}
	call->path = paths_below(&tally->paths, above, call->symbol->id);
	tally->paths.all[call->path].calls += !call->implied;
}

static void leave(struct walker *walker, struct task_calls *task, struct call *call,
		  const struct ending *ending)
{
	struct tally *tally = (struct tally *)walker;
	struct path *path;

	(void)task;
	if (call->path == OUTSIDE || call->path == HIDDEN || !ending->returned)
		return;
	path = &tally->paths.all[call->path];
	path->returned++;
	path->total += ending->took;
	path->self += ending->self;
	tally->estimated += !ending->exact;
	if (tally->ended && tally->function && !path->parent)
		tally->ended(tally, call->nr, ending);
}

void tally_begin(struct tally *tally, struct view *view)
{
	*tally = (struct tally) { .walker = { .enter = enter, .leave = leave }, .view = view };
	paths_begin(&tally->paths);
}

void tally_walk(struct tally *tally)
{
	tally->nr = 0;
	walk(tally->view, &tally->walker);
}

const char *tally_name(const struct tally *tally, uint32_t place)
{
	const struct path *path = &tally->paths.all[place];

	if (tally->by_task && !path->parent)
		return tally->tasks[path->id];
	return symbols_name(tally->view->symbols, path->id);
}

uint64_t (*tally_value(const struct tally *tally))(const struct path *path)
{
	return tally->walker.returns ? path_self : path_calls;
}

void tally_end(struct tally *tally)
{
	uint32_t i;

	for (i = 0; i < tally->nr_tasks; i++)
		free(tally->tasks[i]);
	free(tally->tasks);
	paths_end(&tally->paths);
}
