// SPDX-License-Identifier: GPL-2.0
/*
 * Names of tasks by pid, for records of tasks that may be gone.
 *
 * The hook stores no names: they would not fit. Instead, while the tracer is
 * started, the name of each task is noted before it can run (when it exists at
 * the start, and at each context switch to it) and when it changes. So a record
 * always finds the name that its task had last, until a task whose pid has the
 * same low bits takes the place.
 *
 * Notes are taken by tracepoints and cost the hook nothing.
 */
#include <linux/ctype.h>
#include <linux/irqflags.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include <trace/events/sched.h>
#include <trace/events/task.h>

#include "mctracer.h"

#define COMM_SLOTS	4096	/* a power of two; 80 KiB */

struct comm_slot {
	pid_t pid;
	char comm[TASK_COMM_LEN];
};

/*
 * Taken in the scheduler with the runqueue locked, so the innermost of all and
 * not a traced one. Interrupts off; never in NMI.
 */
static arch_spinlock_t comm_lock = __ARCH_SPIN_LOCK_UNLOCKED;
static struct comm_slot *comm_slots;

static struct comm_slot *slot_of(pid_t pid)
{
	return &comm_slots[pid & (COMM_SLOTS - 1)];
}

static bool slot_is(const struct comm_slot *slot, pid_t pid, const char *comm)
{
	return slot->pid == pid && !memcmp(slot->comm, comm, TASK_COMM_LEN);
}

static void note(pid_t pid, const char *comm)
{
	struct comm_slot *slot = slot_of(pid);
	unsigned long flags;

	/*
	 * Almost always true. A racing change by another CPU is a change to
	 * the slot of another pid, or a new name of this one, which is noted
	 * by who gives it.
	 */
	if (data_race(slot_is(slot, pid, comm)))
		return;

	raw_local_irq_save(flags);
	arch_spin_lock(&comm_lock);
	slot->pid = pid;
	memcpy(slot->comm, comm, TASK_COMM_LEN);
	arch_spin_unlock(&comm_lock);
	raw_local_irq_restore(flags);
}

static void probe_switch(void *data, bool preempt, struct task_struct *prev,
			 struct task_struct *next, unsigned int prev_state)
{
	/* Idle tasks share the pid 0; mctracer_comm_get() names them. */
	if (next->pid)
		note(next->pid, next->comm);
}

static void probe_rename(void *data, struct task_struct *task, const char *comm)
{
	char padded[TASK_COMM_LEN];

	strscpy_pad(padded, comm);
	note(task->pid, padded);
}

static void note_all(void)
{
	struct task_struct *leader, *task;

	rcu_read_lock();
	for_each_process_thread(leader, task)
		note(task->pid, task->comm);
	rcu_read_unlock();
}

int mctracer_comm_start(void)
{
	int ret;

	if (!comm_slots) {
		comm_slots = kvcalloc(COMM_SLOTS, sizeof(*comm_slots), GFP_KERNEL);
		if (!comm_slots)
			return -ENOMEM;
	}

	ret = register_trace_sched_switch(probe_switch, NULL);
	if (ret)
		return ret;
	ret = register_trace_task_rename(probe_rename, NULL);
	if (ret) {
		unregister_trace_sched_switch(probe_switch, NULL);
		return ret;
	}

	note_all();
	return 0;
}

void mctracer_comm_stop(void)
{
	unregister_trace_task_rename(probe_rename, NULL);
	unregister_trace_sched_switch(probe_switch, NULL);
}

static bool get_noted(char comm[TASK_COMM_LEN], pid_t pid)
{
	struct comm_slot *slot = slot_of(pid);
	unsigned long flags;
	bool found;

	raw_local_irq_save(flags);
	arch_spin_lock(&comm_lock);
	found = slot->pid == pid;
	if (found)
		memcpy(comm, slot->comm, TASK_COMM_LEN);
	arch_spin_unlock(&comm_lock);
	raw_local_irq_restore(flags);
	return found;
}

static bool get_living(char comm[TASK_COMM_LEN], pid_t pid)
{
	struct task_struct *task;

	rcu_read_lock();
	task = find_task_by_pid_ns(pid, &init_pid_ns);
	if (task)
		__get_task_comm(comm, TASK_COMM_LEN, task);
	rcu_read_unlock();
	return task;
}

void mctracer_comm_get(char comm[TASK_COMM_LEN], pid_t pid, int cpu)
{
	char *c;

	if (!pid)
		memcpy(comm, idle_task(cpu)->comm, TASK_COMM_LEN);
	else if (!get_noted(comm, pid) && !get_living(comm, pid))
		strscpy(comm, "<...>", TASK_COMM_LEN);

	/* A name may hold anything; a line must stay one line. */
	comm[TASK_COMM_LEN - 1] = '\0';
	for (c = comm; *c; c++)
		if (iscntrl(*c))
			*c = '?';
}
