// SPDX-License-Identifier: GPL-2.0
/* Keep the open calls of each task: calls that have not returned. */
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "symbols.h"
#include "util.h"

#define BUCKETS	4096

struct calls {
	struct task_calls *buckets[BUCKETS];
	struct task_calls *last;
	unsigned int depth, tasks;	/* limits: calls of a task, and tasks; 0: none */
	unsigned int nr;		/* of tasks */
};

struct calls *calls_new(unsigned int depth, unsigned int tasks)
{
	struct calls *calls = xcalloc(1, sizeof(*calls));

	calls->depth = depth;
	calls->tasks = tasks;
	return calls;
}

void calls_forget(struct calls *calls)
{
	struct task_calls *task, *next;
	unsigned int i;

	for (i = 0; i < BUCKETS; i++) {
		for (task = calls->buckets[i]; task; task = next) {
			next = task->next;
			free(task->calls);
			free(task);
		}
		calls->buckets[i] = NULL;
	}
	calls->last = NULL;
	calls->nr = 0;
}

void calls_free(struct calls *calls)
{
	calls_forget(calls);
	free(calls);
}

static unsigned int bucket_of(uint32_t pid, unsigned int cpu)
{
	return (pid + cpu) % BUCKETS;
}

struct task_calls *calls_find(struct calls *calls, uint32_t pid, unsigned int cpu)
{
	struct task_calls *task = calls->last;

	if (pid)
		cpu = 0;
	if (task && task->pid == pid && task->cpu == cpu)
		return task;
	for (task = calls->buckets[bucket_of(pid, cpu)]; task; task = task->next) {
		if (task->pid == pid && task->cpu == cpu) {
			calls->last = task;
			return task;
		}
	}
	return NULL;
}

struct task_calls *calls_of(struct calls *calls, uint32_t pid, unsigned int cpu)
{
	struct task_calls *task = calls_find(calls, pid, cpu), **bucket;

	if (task)
		return task;
	if (calls->tasks && calls->nr == calls->tasks)
		calls_forget(calls);
	task = xcalloc(1, sizeof(*task));
	task->pid = pid;
	task->cpu = pid ? 0 : cpu;
	bucket = &calls->buckets[bucket_of(pid, task->cpu)];
	task->next = *bucket;
	*bucket = task;
	calls->nr++;
	calls->last = task;
	return task;
}

struct task_calls *calls_next_task(const struct calls *calls, const struct task_calls *task)
{
	unsigned int i = 0;

	if (task && task->next)
		return task->next;
	if (task)
		i = bucket_of(task->pid, task->cpu) + 1;
	for (; i < BUCKETS; i++)
		if (calls->buckets[i])
			return calls->buckets[i];
	return NULL;
}

/* Drop the forgotten calls if they are at least half of the array; else double the array. */
static void make_room(struct task_calls *task)
{
	if (task->oldest && 2 * task->oldest >= task->nr) {
		task->nr -= task->oldest;
		memmove(task->calls, task->calls + task->oldest, task->nr * sizeof(*task->calls));
		task->oldest = 0;
		return;
	}
	task->room = task->room ? 2 * task->room : 16;
	task->calls = xrealloc(task->calls, task->room, sizeof(*task->calls));
}

struct call *calls_enter(struct calls *calls, struct task_calls *task, const struct call *call)
{
	if (task->nr == task->room)
		make_room(task);
	task->calls[task->nr++] = *call;
	if (calls->depth && task->nr - task->oldest > calls->depth)
		task->oldest = task->nr - calls->depth;
	return &task->calls[task->nr - 1];
}

/* The beginning of a cold part's function is not known: take the latest call. */
struct call *calls_which(const struct task_calls *task, const struct symbol *symbol)
{
	unsigned int i;

	for (i = task->nr; i != task->oldest; i--)
		if (!symbol->function || task->calls[i - 1].symbol->function == symbol->function)
			return &task->calls[i - 1];
	return NULL;
}
