// SPDX-License-Identifier: GPL-2.0
/* Sum up a recording by call path. */
#include <string.h>

#include "functions.h"
#include "json.h"
#include "select.h"
#include "tally.h"

/*
 * Pseudo places: calls outside of the function that is asked for; and calls that are not counted,
 * with all their nested calls.
 */
#define OUTSIDE	0xfffffffeU
#define HIDDEN	0xffffffffU

static uint32_t root_of(struct tally *tally, const struct task_calls *task)
{
	if (!tally->by_task)
		return 0;
	return paths_below(&tally->paths, 0, names_number(&tally->tasks, task->comm));
}

static bool is_interrupts(const struct tally *tally, const struct call *call)
{
	return call->symbol->is_interrupt ||
	       symbol_of(tally->view->symbols, call->parent_ip)->is_interrupt;
}

/*
 * Return the place above a call: 0 for a root; or OUTSIDE or HIDDEN, which the call then gets, too.
 */
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
	if (call->implied || !is_named(call->symbol->title, tally->function))
		return OUTSIDE;
	call->nr = tally->nr++;
	return tally->wants && !tally->wants(tally, call->nr) ? HIDDEN : 0;
}

/* Return the place for @place's own time on @cpu. */
static struct path *of_cpu(struct tally *tally, uint32_t place, unsigned int cpu)
{
	uint32_t own = paths_below(&tally->paths, place, TALLY_CPU + cpu);

	return &tally->paths.all[own];	/* the array may have moved */
}

/* Add @calls to the calls of the call's place. */
static void count(struct tally *tally, const struct call *call, int calls)
{
	if (call->implied)
		return;
	tally->paths.all[call->path].calls += calls;
	if (tally->by_cpu)
		of_cpu(tally, call->path, call->cpu)->calls += calls;
}

/*
 * Move the @nr open calls of a task, which have places, to its new name, for example after exec().
 * Calls that have returned keep the old name.
 */
static void rename_calls(struct tally *tally, struct task_calls *task, unsigned int nr)
{
	bool shown = select_task(tally->view->select, task);
	uint32_t place = shown ? root_of(tally, task) : HIDDEN;
	struct call *call;

	memcpy(task->named, task->comm, sizeof(task->named));
	for (call = task->calls; call < task->calls + nr; call++) {
		if (call->path != HIDDEN && tally->walker.returns)
			count(tally, call, -1);
		if (shown)
			place = paths_below(&tally->paths, place, call->symbol->sum_id);
		call->path = place;
		if (shown && tally->walker.returns)
			count(tally, call, 1);
	}
}

static void follow_name(struct tally *tally, struct task_calls *task, unsigned int nr)
{
	if (tally->by_task && strcmp(task->named, task->comm))
		rename_calls(tally, task, nr);
}

static void enter(struct walker *walker, struct task_calls *task, struct call *call)
{
	struct tally *tally = (struct tally *)walker;
	uint32_t above;

	follow_name(tally, task, task->nr - 1);
	above = place_above(tally, task, call);
	if (above == OUTSIDE || above == HIDDEN) {
		call->path = above;
		return;
	}
	call->path = paths_below(&tally->paths, above, call->symbol->sum_id);
	call->cpu = walker->event->cpu;
	count(tally, call, 1);
}

static void leave(struct walker *walker, struct task_calls *task, struct call *call,
		  const struct ending *ending)
{
	struct tally *tally = (struct tally *)walker;
	struct path *path, *own;

	follow_name(tally, task, task->nr);
	if (call->path == OUTSIDE || call->path == HIDDEN || !ending->returned)
		return;
	path = &tally->paths.all[call->path];
	path->returned++;
	path->total += ending->took;
	path->total_cpu += ending->took_cpu;
	own = tally->by_cpu ? of_cpu(tally, call->path, walker->event->cpu) : path;
	own->self += ending->own;
	own->self_cpu += ending->own_cpu;
	tally->estimated += !ending->exact;
	if (tally->ended && tally->function && !tally->paths.all[call->path].parent)
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
	if (tally->nr_cpus < tally->view->from->nr_cpus)
		tally->nr_cpus = tally->view->from->nr_cpus;
	walk(tally->view, &tally->walker);
	tally->returns |= tally->walker.returns;
}

void tally_add(struct view *view, void *tally)
{
	(void)view;
	tally_walk(tally);
}

const char *tally_name(const struct tally *tally, uint32_t place)
{
	const struct path *path = &tally->paths.all[place];

	if (tally->by_task && !path->parent)
		return tally->tasks.all[path->id];
	return functions_title(symbols_sums(tally->view->symbols), path->id);
}

void tally_end(struct tally *tally)
{
	names_free(&tally->tasks);
	paths_end(&tally->paths);
}

static void put_steps(const struct tally *tally, uint32_t place, struct buffer *to)
{
	uint32_t above = tally->paths.all[place].parent;

	if (above)
		put_steps(tally, above, to);
	json_step(to, tally_name(tally, place));
}

void tally_json_path(const struct tally *tally, uint32_t place, struct buffer *to)
{
	buffer_puts(to, ",\"path\":[");
	put_steps(tally, place, to);
	buffer_char(to, ']');
}
