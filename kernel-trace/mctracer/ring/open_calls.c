// SPDX-License-Identifier: GPL-2.0
/* Keep a stack of open calls for each task; see open_calls.h. */
#include <linux/hash.h>
#include <linux/list.h>
#include <linux/overflow.h>
#include <linux/slab.h>

#include "open_calls.h"

#define TASKS_BITS	8
#define TASKS_MAX	4096
#define TASKS_OWN	64
#define DEPTH		128	/* in a deeper stack the oldest calls are dropped */

struct task_calls {
	struct hlist_node node;
	u32 pid;
	int cpu;	/* for idle tasks, which share pid 0; else 0 */
	u32 nr;		/* open calls, including the dropped ones, ... */
	u32 oldest;	/* ... which are the calls before this index */
	struct mctracer_opencall calls[DEPTH];
};

struct mctracer_open_calls {
	struct hlist_head tasks[1 << TASKS_BITS];
	unsigned int nr, max;
	struct task_calls own[];	/* TASKS_OWN for a crash; else none: each is allocated */
};

struct mctracer_open_calls *mctracer_open_calls_alloc(bool crash)
{
	struct mctracer_open_calls *open;
	unsigned int own = crash ? TASKS_OWN : 0;

	open = kvzalloc(struct_size(open, own, own), GFP_KERNEL | __GFP_NOWARN);
	if (open)
		open->max = own ?: TASKS_MAX;
	return open;
}

void mctracer_open_calls_forget(struct mctracer_open_calls *open)
{
	struct task_calls *task;
	struct hlist_node *next;
	size_t i;

	for (i = 0; i < 1 << TASKS_BITS && open->max == TASKS_MAX; i++)
		hlist_for_each_entry_safe(task, next, &open->tasks[i], node)
			kfree(task);
	memset(open->tasks, 0, sizeof(open->tasks));
	open->nr = 0;
}

void mctracer_open_calls_free(struct mctracer_open_calls *open)
{
	if (open)
		mctracer_open_calls_forget(open);
	kvfree(open);
}

static struct task_calls *opencalls_find_task(struct mctracer_open_calls *open, u32 pid, int cpu)
{
	struct task_calls *task;

	if (pid)
		cpu = 0;
	hlist_for_each_entry(task, &open->tasks[hash_32(pid + cpu, TASKS_BITS)], node)
		if (task->pid == pid && task->cpu == cpu)
			return task;
	return NULL;
}

/* Add a task. Don't wait for memory: the caller may hold mctracer_mutex. */
static struct task_calls *opencalls_add_task(struct mctracer_open_calls *open, u32 pid, int cpu)
{
	struct task_calls *task;

	if (open->nr == open->max)
		mctracer_open_calls_forget(open);
	task = open->max == TASKS_MAX ? kmalloc(sizeof(*task), GFP_NOWAIT | __GFP_NOWARN) :
					&open->own[open->nr];
	if (!task)
		return NULL;
	task->pid = pid;
	task->cpu = pid ? 0 : cpu;
	task->nr = 0;
	task->oldest = 0;
	hlist_add_head(&task->node, &open->tasks[hash_32(pid + task->cpu, TASKS_BITS)]);
	open->nr++;
	return task;
}

void mctracer_open_calls_call(struct mctracer_open_calls *open, u32 pid, int cpu,
			      const struct mctracer_opencall *call)
{
	struct task_calls *task = opencalls_find_task(open, pid, cpu) ?:
				  opencalls_add_task(open, pid, cpu);

	if (!task)
		return;
	task->calls[task->nr++ % DEPTH] = *call;
	if (task->nr - task->oldest > DEPTH)
		task->oldest = task->nr - DEPTH;
}

bool mctracer_open_calls_return(struct mctracer_open_calls *open, u32 pid, int cpu, u32 function,
				struct mctracer_opencall *call)
{
	struct task_calls *task = opencalls_find_task(open, pid, cpu);
	u32 i;

	for (i = task ? task->nr : 0; task && i != task->oldest; i--) {
		*call = task->calls[(i - 1) % DEPTH];
		if (call->function == function || !function) {
			task->nr = i - 1;
			return true;
		}
	}
	return false;
}
