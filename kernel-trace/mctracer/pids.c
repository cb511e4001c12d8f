// SPDX-License-Identifier: GPL-2.0
/*
 * Which processes and threads are recorded: the file "pid".
 *
 *	1234		a process, all its threads, those to come, too
 *	tid 1235	one thread
 *	1234 children	a process and its descendants, living and to come
 *
 * Each expression has a number. A task that it is about has the bit of this number in
 * task->mctracer_pids, and hands it on to threads and processes that it makes, if the
 * expression says so. So the hook needs to look at nothing but the current task, and a
 * pid that is used again means nothing. An expression stays when all its tasks have
 * gone: else all others would be recorded then.
 */
#include <linux/bitops.h>
#include <linux/cleanup.h>
#include <linux/ctype.h>
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/kstrtox.h>
#include <linux/mctracer.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "mctracer.h"

#undef pr_fmt
#define pr_fmt(fmt) "mctracer: pid: " fmt

enum kind { PROCESS, THREAD, CHILDREN };

struct expression {
	pid_t pid;
	enum kind kind;
};

static DEFINE_MUTEX(pids_mutex);
static struct expression expressions[BITS_PER_LONG];

/* Which of them there are. While they are being changed, more than are in force. */
static unsigned long used;
unsigned long mctracer_pids;
/* Of each kind. Changed under tasklist_lock. */
static unsigned long threads, children;

/* Under tasklist_lock: a task that is being made inherits before or after a change. */
unsigned long mctracer_inherited_pids(unsigned long pids, bool thread)
{
	return thread ? pids & ~threads : pids & children;
}

static bool is_descendant(struct task_struct *task, struct task_struct *of)
{
	for (; task->pid; task = rcu_dereference(task->real_parent))
		if (same_thread_group(task, of))
			return true;
	return false;
}

static bool is_about(const struct expression *e, struct task_struct *task,
		     struct task_struct *found)
{
	if (e->kind == THREAD)
		return task == found;
	return same_thread_group(task, found) ||
	       (e->kind == CHILDREN && is_descendant(task, found));
}

/* Mark what the expression @nr is about. -ESRCH if there is none. */
static int mark(int nr, const struct expression *e)
{
	struct task_struct *process, *task, *found;

	guard(rcu)();
	write_lock_irq(&tasklist_lock);
	found = find_task_by_pid_ns(e->pid, &init_pid_ns);
	if (!found || (e->kind != THREAD && !thread_group_leader(found))) {
		write_unlock_irq(&tasklist_lock);
		return -ESRCH;
	}
	expressions[nr] = *e;
	used |= BIT(nr);
	if (e->kind == THREAD)
		threads |= BIT(nr);
	if (e->kind == CHILDREN)
		children |= BIT(nr);
	for_each_process_thread(process, task)
		if (is_about(e, task, found))
			mctracer_set_task_pids(task, mctracer_task_pids(task) | BIT(nr));
	write_unlock_irq(&tasklist_lock);
	return 0;
}

/* Also of the idle tasks, which nothing is ever about. */
static void unmark(unsigned long pids)
{
	struct task_struct *process, *task;

	if (!pids)
		return;
	write_lock_irq(&tasklist_lock);
	for_each_process_thread(process, task)
		mctracer_set_task_pids(task, mctracer_task_pids(task) & ~pids);
	used &= ~pids;
	threads &= ~pids;
	children &= ~pids;
	write_unlock_irq(&tasklist_lock);
}

/* The numbers of those that no living task is marked with any more. */
static unsigned long dead(void)
{
	struct task_struct *process, *task;
	unsigned long living = 0;

	read_lock(&tasklist_lock);
	for_each_process_thread(process, task)
		living |= mctracer_task_pids(task);
	read_unlock(&tasklist_lock);
	return used & ~living;
}

static int refuse(int error, const char *word, const char *why)
{
	pr_err("\"%s\": %s\n", word, why);
	return error;
}

/* One line, which is taken apart. */
static int parse(char *line, struct expression *e)
{
	char *word = strsep(&line, " \t");
	u32 pid;

	e->kind = PROCESS;
	if (!strcmp(word, "tid")) {
		e->kind = THREAD;
		line = line ? skip_spaces(line) : NULL;
		word = strsep(&line, " \t");
		if (!word)
			return refuse(-EINVAL, "tid", "a thread's number must follow");
	}
	if (kstrtou32(word, 10, &pid) || !pid || pid > INT_MAX)
		return refuse(-EINVAL, word, "is not a process's number");
	e->pid = pid;
	if (!line || !*skip_spaces(line))
		return 0;
	line = strim(skip_spaces(line));
	if (e->kind == THREAD || strcmp(line, "children"))
		return refuse(-EINVAL, line, e->kind == THREAD ? "nothing may follow the number" :
			      "only \"children\" may follow the number");
	e->kind = CHILDREN;
	return 0;
}

/* Its number, if it is one of @among; else, -1. */
static int find(const struct expression *e, unsigned long among)
{
	int nr;

	for_each_set_bit(nr, &among, BITS_PER_LONG)
		if (expressions[nr].pid == e->pid && expressions[nr].kind == e->kind)
			return nr;
	return -1;
}

/* One whose tasks have gone gets another number, if there are such tasks again. */
static int add(const struct expression *e, unsigned long *wanted)
{
	unsigned long gone = dead();
	int nr = find(e, used & ~gone), old = find(e, used & gone), ret;
	char word[16];

	snprintf(word, sizeof(word), "%d", e->pid);
	if (nr < 0) {
		if (used == ~0UL && old < 0)
			return refuse(-ENOSPC, word, "there are too many expressions");
		nr = used == ~0UL ? old : ffz(used);
		ret = mark(nr, e);
		if (ret && old < 0)
			return refuse(ret, word, e->kind == THREAD ? "no such thread" :
				      "no such process (a thread is \"tid NUMBER\")");
		if (ret)
			nr = old;
		else if (old >= 0)
			*wanted &= ~BIT(old);
	}
	*wanted |= BIT(nr);
	return 0;
}

static int take_away(const struct expression *e, unsigned long *wanted)
{
	char word[16];
	int nr = find(e, *wanted);

	snprintf(word, sizeof(word), "%d", e->pid);
	if (nr < 0)
		return refuse(-ENOENT, word, "is not in the list");
	*wanted &= ~BIT(nr);
	return 0;
}

/* What @text says of which are @wanted; NULL: only whether it can be read. */
static int apply(char *text, unsigned long *wanted)
{
	struct expression e;
	bool remove;
	char *line;
	int ret;

	while ((line = strsep(&text, "\n"))) {
		line = strim(line);
		if (!*line)
			continue;
		remove = *line == '!';
		ret = parse(skip_spaces(line + remove), &e);
		if (!ret && wanted)
			ret = remove ? take_away(&e, wanted) : add(&e, wanted);
		if (ret)
			return ret;
	}
	return 0;
}

int mctracer_set_pids(char *text, bool append)
{
	char *copy __free(kfree) = kstrdup(text, GFP_KERNEL);
	unsigned long before, wanted;
	int ret;

	if (!copy)
		return -ENOMEM;
	guard(mutex)(&pids_mutex);
	before = used;
	wanted = append ? used : 0;
	ret = apply(copy, NULL) ?: apply(text, &wanted);
	if (ret)
		wanted = before;
	WRITE_ONCE(mctracer_pids, wanted);
	unmark(used & ~wanted);
	mctracer_forget_tasks(false);
	return ret;
}

void mctracer_show_pids(struct seq_file *m)
{
	int nr;

	guard(mutex)(&pids_mutex);
	for_each_set_bit(nr, &mctracer_pids, BITS_PER_LONG)
		seq_printf(m, "%s%d%s\n", expressions[nr].kind == THREAD ? "tid " : "",
			   expressions[nr].pid,
			   expressions[nr].kind == CHILDREN ? " children" : "");
}
