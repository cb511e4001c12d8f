// SPDX-License-Identifier: GPL-2.0
/* Calls that have not returned, by task. */
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "symbols.h"
#include "util.h"

#define BUCKETS	1024

/* As many as the kernel keeps of a task; of more the oldest are forgotten. */
#define DEPTH	128

struct calls {
	struct task_calls *buckets[BUCKETS];
	struct task_calls *last;
};

struct calls *calls_new(void)
{
	return xcalloc(1, sizeof(struct calls));
}

void calls_forget(struct calls *calls)
{
	struct task_calls *task;
	unsigned int i;

	for (i = 0; i < BUCKETS; i++)
		for (task = calls->buckets[i]; task; task = task->next)
			task->nr = 0;
}

void calls_free(struct calls *calls)
{
	struct task_calls *task, *next;
	unsigned int i;

	for (i = 0; i < BUCKETS; i++) {
		for (task = calls->buckets[i]; task; task = next) {
			next = task->next;
			free(task->calls);
			free(task);
		}
	}
	free(calls);
}

struct task_calls *calls_of(struct calls *calls, uint32_t pid, unsigned int cpu)
{
	struct task_calls **bucket, *task = calls->last;

	if (pid)
		cpu = 0;
	if (task && task->pid == pid && task->cpu == cpu)
		return task;
	bucket = &calls->buckets[(pid + cpu) % BUCKETS];
	for (task = *bucket; task; task = task->next)
		if (task->pid == pid && task->cpu == cpu)
			break;
	if (!task) {
		task = xcalloc(1, sizeof(*task));
		task->pid = pid;
		task->cpu = cpu;
		task->next = *bucket;
		*bucket = task;
	}
	calls->last = task;
	return task;
}

struct call *calls_enter(struct task_calls *task, const struct call *call)
{
	if (task->nr == DEPTH) {
		memmove(task->calls, task->calls + 1, (DEPTH - 1) * sizeof(*call));
		task->nr--;
	}
	if (task->nr == task->room) {
		task->room = task->room ? 2 * task->room : 16;
		task->calls = xrealloc(task->calls, task->room, sizeof(*task->calls));
	}
	task->calls[task->nr] = *call;
	return &task->calls[task->nr++];
}

/* Where a function begins is not known of its cold part: then it is the last call. */
const struct call *calls_leave(struct task_calls *task, const struct symbol *symbol)
{
	unsigned int i;

	for (i = task->nr; i; i--) {
		if (symbol->function && task->calls[i - 1].symbol->function != symbol->function)
			continue;
		task->nr = i - 1;
		return &task->calls[i - 1];
	}
	return NULL;
}
