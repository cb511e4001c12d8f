// SPDX-License-Identifier: GPL-2.0
/*
 * Stores for each task the expressions of the file "pid" that match it. The series has a word in
 * struct task_struct for that; the module has a hash table of the tasks with matching expressions,
 * which is searched when a CPU switches to another task.
 *
 * A search takes no lock: the address of a task is stored last, and a removed task leaves a GONE
 * entry, which searches skip.
 */
#include <linux/cleanup.h>
#include <linux/compiler.h>
#include <linux/hash.h>
#include <linux/mctracer.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/spinlock.h>
#include <linux/vmalloc.h>

#include "base.h"
#include "mctracer/control/control.h"
#include "mctracer/record/record.h"
#include "mctracer/select/select.h"

#define MARKS_BITS	15
#define MARKS		(1 << MARKS_BITS)

#define GONE		((const struct task_struct *)1)

static struct mark {
	const struct task_struct *task;	/* NULL: a search may end here */
	unsigned long pids;
} *marks;

static DEFINE_RAW_SPINLOCK(marks_lock);
static unsigned int used;	/* entries that are not NULL, GONE ones, too */
static unsigned long left_out;	/* new tasks for which there was no entry */

/*
 * Return the entry of @task, or NULL; then set *@place, if @place, to a free entry for it or NULL.
 */
static struct mark *find(const struct task_struct *task, struct mark **place)
{
	struct mark *table = READ_ONCE(marks), *at, *free = NULL;
	unsigned int i = hash_ptr(task, MARKS_BITS), n;
	const struct task_struct *there;

	for (n = 0; table && n < MARKS; n++, i++) {
		at = &table[i % MARKS];
		there = READ_ONCE(at->task);
		if (there == task)
			return at;
		if (!free && (!there || there == GONE))
			free = at;
		if (!there)
			break;
	}
	if (place)
		*place = free;
	return NULL;
}

unsigned long mctracer_task_pids(const struct task_struct *task)
{
	const struct mark *at = READ_ONCE(used) ? find(task, NULL) : NULL;

	return at ? READ_ONCE(at->pids) : 0;
}

/*
 * Remove @at. GONE entries that no search needs to skip, because the next one is NULL, become NULL.
 */
static void take_away(struct mark *at)
{
	unsigned int i = at - marks;

	WRITE_ONCE(at->task, GONE);
	if (marks[(i + 1) % MARKS].task)
		return;
	for (; marks[i].task == GONE; i = (i - 1) % MARKS) {
		WRITE_ONCE(marks[i].task, NULL);
		used--;
	}
}

/* Return false if there is no entry for @task. */
static bool set(const struct task_struct *task, unsigned long pids)
{
	struct mark *place = NULL, *at = find(task, &place);

	if (at) {
		WRITE_ONCE(at->pids, pids);
		if (!pids)
			take_away(at);
		return true;
	}
	if (!pids)
		return true;
	if (!place || (!place->task && used > MARKS / 4 * 3))
		return false;
	if (!place->task)
		used++;
	WRITE_ONCE(place->pids, pids);
	smp_store_release(&place->task, task);
	return true;
}

bool mctracer_set_task_pids(struct task_struct *task, unsigned long pids)
{
	guard(raw_spinlock_irqsave)(&marks_lock);
	return set(task, pids);
}

unsigned long mctracer_tasks_left_out(void)
{
	return READ_ONCE(left_out);
}

void mctracer_marks_fork(struct task_struct *parent, struct task_struct *child)
{
	unsigned long flags, pids;

	if (!READ_ONCE(used))
		return;
	raw_spin_lock_irqsave(&marks_lock, flags);
	pids = mctracer_inherited_pids(mctracer_task_pids(parent), same_thread_group(parent, child));
	if (!set(child, mctracer_task_pids(child) | pids))
		WRITE_ONCE(left_out, left_out + 1);
	raw_spin_unlock_irqrestore(&marks_lock, flags);
}

void mctracer_marks_forget(const struct task_struct *task)
{
	if (READ_ONCE(used))
		mctracer_set_task_pids((struct task_struct *)task, 0);
}

int mctracer_marks_alloc(void)
{
	marks = vzalloc(MARKS * sizeof(*marks));
	return marks ? 0 : -ENOMEM;
}

void mctracer_marks_free(void)
{
	vfree(marks);
}
