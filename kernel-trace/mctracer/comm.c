// SPDX-License-Identifier: GPL-2.0
/*
 * Names of tasks by pid, for records of tasks that may be gone.
 *
 * The hook stores no names: they would not fit. A task that lives is asked for
 * its name when its records are read. The name of one that exits, or gets another
 * pid, is noted here before its pid is given up, from the first start of the
 * tracer on. It is found until a pid that has the same low bits is given up.
 */
#include <linux/ctype.h>
#include <linux/irqflags.h>
#include <linux/mctracer.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>

#include "mctracer.h"

#define COMM_SLOTS	4096	/* a power of two; 80 KiB */

struct comm_slot {
	pid_t pid;
	char comm[TASK_COMM_LEN];
};

DEFINE_STATIC_KEY_FALSE(mctracer_note_exits);

/*
 * Interrupts off. Not a raw_spinlock_t: taking that is a traced call, which
 * would show the tracer in the trace.
 */
static arch_spinlock_t comm_lock = __ARCH_SPIN_LOCK_UNLOCKED;
static struct comm_slot *comm_slots;

static struct comm_slot *slot_of(pid_t pid)
{
	return &comm_slots[pid & (COMM_SLOTS - 1)];
}

void __mctracer_pid_ends(struct task_struct *task)
{
	struct comm_slot *slot;
	unsigned long flags;

	raw_local_irq_save(flags);
	arch_spin_lock(&comm_lock);
	if (comm_slots) {
		slot = slot_of(task->pid);
		slot->pid = task->pid;
		memcpy(slot->comm, task->comm, TASK_COMM_LEN);
	}
	arch_spin_unlock(&comm_lock);
	raw_local_irq_restore(flags);
}

int mctracer_comm_start(void)
{
	if (comm_slots)
		return 0;

	comm_slots = kvcalloc(COMM_SLOTS, sizeof(*comm_slots),
			      GFP_KERNEL | __GFP_NOWARN);
	if (!comm_slots)
		return -ENOMEM;
	static_branch_enable(&mctracer_note_exits);
	return 0;
}

void mctracer_comm_stop(void)
{
	struct comm_slot *slots = comm_slots;
	unsigned long flags;

	static_branch_disable(&mctracer_note_exits);
	raw_local_irq_save(flags);
	arch_spin_lock(&comm_lock);
	comm_slots = NULL;
	arch_spin_unlock(&comm_lock);
	raw_local_irq_restore(flags);
	kvfree(slots);
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

	/* The living first: a name is noted before the pid is given up. */
	if (!pid)
		memcpy(comm, idle_task(cpu)->comm, TASK_COMM_LEN);
	else if (!get_living(comm, pid) && !get_noted(comm, pid))
		strscpy(comm, "<...>", TASK_COMM_LEN);

	/* A name may hold anything; a line must stay one line. */
	comm[TASK_COMM_LEN - 1] = '\0';
	for (c = comm; *c; c++)
		if (iscntrl(*c))
			*c = '?';
}
