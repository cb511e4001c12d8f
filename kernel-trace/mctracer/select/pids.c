// SPDX-License-Identifier: GPL-2.0
/*
 * Select the traced tasks: the file "pid".
 *
 *	1234		a process: all its threads, present and future
 *	tid 1235	one thread
 *	1234 children	a process and all its descendants, present and future
 *	not 1234	never this process, whatever else matches; its children are not excluded
 *
 * Each expression has a number: a bit in task->mctracer_pids of each task that the expression
 * matches. New threads and processes of the task inherit the bit, if the expression includes them.
 * So the hook reads only the current task, and a reused pid matches nothing. An expression stays
 * when all its tasks have exited: without any expression, all tasks would be recorded.
 *
 * Pids in the file belong to the pid namespace of the task that writes or reads the file. Recorded
 * pids belong to the initial namespace.
 *
 * Setting the bits ("marking") takes RCU instead of tasklist_lock: otherwise, CPUs that wait to
 * write under the lock would have interrupts off during a walk over all tasks. In the list of
 * processes each process comes after its parent: new processes go to the end, only an ancestor
 * adopts a process, and exec by a thread keeps the place. So one pass marks a process and all its
 * descendants, in O(tasks), if no task forks meanwhile. fork copies the marks and adds the task to
 * the list under tasklist_lock. After each pass, taking this lock waits for forks that have copied
 * marks before; then another pass follows, until a pass finds no unmarked task.
 */
#include <linux/bitops.h>
#include <linux/cleanup.h>
#include <linux/ctype.h>
#include <linux/errno.h>
#include <linux/kstrtox.h>
#include <linux/mctracer.h>
#include <linux/mutex.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "../record/record.h"
#include "../ring/cursor.h"
#include "select.h"

#undef pr_fmt
#define pr_fmt(fmt) "mctracer: pid: " fmt

enum kind { PROCESS, THREAD, CHILDREN, LEFT_OUT };

struct expression {
	struct pid *pid;
	enum kind kind;
};

/* Protects the variables below, for writers and readers of the file. */
static DEFINE_MUTEX(pids_mutex);
static struct expression expressions[BITS_PER_LONG];

/* The expressions that exist: during a change, more than mctracer_pids, which are in force. */
static unsigned long used;
/* Those whose tasks this change has marked; on an error they are removed. */
static unsigned long marked;
/* The expressions that a new thread inherits, and those that a new process inherits. */
static unsigned long to_threads, to_children;

/* Return the inherited bits of @pids. Under tasklist_lock: a fork is before or after a change. */
unsigned long mctracer_inherited_pids(unsigned long pids, bool thread)
{
	return pids & READ_ONCE(*(thread ? &to_threads : &to_children));
}

/* Wait until all forks that have copied marks have added their task to the list. */
static void pids_wait_for_forks(void)
{
	read_lock(&tasklist_lock);
	read_unlock(&tasklist_lock);
}

/* Mark all threads of @process. Return 1 if all were marked before, 0 if not, or -ENOSPC. */
static int pids_mark_process(struct task_struct *process, unsigned long bit)
{
	struct task_struct *task;
	int had = 1;

	for_each_thread(process, task) {
		if (mctracer_task_pids(task) & bit)
			continue;
		if (!mctracer_set_task_pids(task, mctracer_task_pids(task) | bit))
			return -ENOSPC;
		had = 0;
	}
	return had;
}

/* Mark all processes whose parent is marked. Return as pids_mark_process(). */
static int pids_mark_children(unsigned long bit)
{
	struct task_struct *process, *parent;
	int had = 1, ret;

	for_each_process(process) {
		parent = rcu_dereference(process->real_parent);
		if (!(mctracer_task_pids(parent) & bit))
			continue;
		ret = pids_mark_process(process, bit);
		if (ret < 0)
			return ret;
		had &= ret;
	}
	return had;
}

/* Mark the tasks once. Return as pids_mark_process(). */
static int pids_mark_once(const struct expression *e, struct task_struct *found, unsigned long bit)
{
	int ret = pids_mark_process(found, bit), children;

	if (ret < 0 || e->kind != CHILDREN)
		return ret;
	children = pids_mark_children(bit);
	return children < 0 ? children : ret & children;
}

/* Mark tasks until a fork can't have missed the mark. Return 0 or -ENOSPC. */
static int pids_mark_all(const struct expression *e, struct task_struct *found, unsigned long bit)
{
	int ret;

	do {
		scoped_guard(rcu)
			ret = pids_mark_once(e, found, bit);
		pids_wait_for_forks();
	} while (!ret);
	return ret < 0 ? ret : 0;
}

/*
 * Make @e the expression @nr and mark its tasks. Return 0, -ESRCH if there is no such task, or
 * -ENOSPC if there are too many.
 */
static int pids_mark_tasks(int nr, const struct expression *e)
{
	struct task_struct *found = get_pid_task(e->pid, PIDTYPE_PID);
	const unsigned long bit = BIT(nr);
	int ret = 0;

	if (!found)
		return -ESRCH;
	if (e->kind != THREAD && !thread_group_leader(found)) {
		put_task_struct(found);
		return -ESRCH;
	}
	put_pid(expressions[nr].pid);	/* all tasks of it have exited, or it is NULL */
	expressions[nr] = (struct expression) { .pid = get_pid(e->pid), .kind = e->kind };
	used |= bit;
	marked |= bit;
	/* First enable inheritance: later forks inherit the mark. */
	if (e->kind != THREAD)
		WRITE_ONCE(to_threads, to_threads | bit);
	if (e->kind == CHILDREN)
		WRITE_ONCE(to_children, to_children | bit);
	pids_wait_for_forks();
	if (e->kind != THREAD)
		ret = pids_mark_all(e, found, bit);
	else if (!mctracer_set_task_pids(found, mctracer_task_pids(found) | bit))
		ret = -ENOSPC;
	put_task_struct(found);
	return ret;
}

/* Remove the expressions @pids, and their marks from all tasks, in O(tasks). */
static void pids_unmark(unsigned long pids)
{
	struct task_struct *process, *task;
	int nr;

	if (!pids)
		return;
	/* First disable inheritance. */
	WRITE_ONCE(to_threads, to_threads & ~pids);
	WRITE_ONCE(to_children, to_children & ~pids);
	pids_wait_for_forks();
	scoped_guard(rcu)
		for_each_process_thread(process, task)
			if (mctracer_task_pids(task) & pids)
				mctracer_set_task_pids(task, mctracer_task_pids(task) & ~pids);
	for_each_set_bit(nr, &pids, BITS_PER_LONG) {
		put_pid(expressions[nr].pid);
		expressions[nr].pid = NULL;
	}
	used &= ~pids;
}

/* Return the bits that expressions of @kind may use. */
static unsigned long pids_bits_for(enum kind kind)
{
	return kind == LEFT_OUT ? MCTRACER_PIDS_OUT : ~MCTRACER_PIDS_OUT;
}

/* Return the expressions that no living task is marked with, in O(tasks). */
static unsigned long pids_dead(void)
{
	struct task_struct *process, *task;
	unsigned long living = 0;

	guard(rcu)();
	for_each_process_thread(process, task)
		living |= mctracer_task_pids(task);
	return used & ~living;
}

static int pids_refuse(int error, const char *word, const char *why)
{
	pr_err("\"%s\": %s\n", word, why);
	return error;
}

/* One line of the file. */
struct line {
	pid_t number;		/* in the namespace of the task that writes */
	enum kind kind;
};

/* Parse one line; modifies @text. Return 0 or -EINVAL, after logging why. */
static int pids_parse_line(char *text, struct line *line)
{
	char *word = strsep(&text, " \t");
	u32 pid;

	line->kind = PROCESS;
	if (!strcmp(word, "tid") || !strcmp(word, "not")) {
		line->kind = *word == 't' ? THREAD : LEFT_OUT;
		text = text ? skip_spaces(text) : NULL;
		if (!text || !*text)
			return pids_refuse(-EINVAL, word, "a number must follow");
		word = strsep(&text, " \t");
	}
	if (kstrtou32(word, 10, &pid) || !pid || pid > INT_MAX)
		return pids_refuse(-EINVAL, word, "is not a process's number");
	line->number = pid;
	if (!text || !*skip_spaces(text))
		return 0;
	text = strim(skip_spaces(text));
	if (line->kind != PROCESS || strcmp(text, "children"))
		return pids_refuse(-EINVAL, text,
				   line->kind != PROCESS ? "nothing may follow the number" :
				   "only \"children\" may follow the number");
	line->kind = CHILDREN;
	return 0;
}

/* Return the pid of expression @nr in the current task's namespace; 0: it has none there. */
static pid_t pids_number(int nr)
{
	return pid_nr_ns(expressions[nr].pid, task_active_pid_ns(current));
}

/* Return the number of the expression that equals @line, in @among without @but; or -1. */
static int pids_find(const struct line *line, unsigned long among, unsigned long but)
{
	int nr;

	among &= ~but;
	for_each_set_bit(nr, &among, BITS_PER_LONG)
		if (expressions[nr].kind == line->kind && pids_number(nr) == line->number)
			return nr;
	return -1;
}

/* Return the expressions for tasks whose pid now belongs to others, although some may be living. */
static unsigned long pids_reused(const struct line *line)
{
	unsigned long reused = 0;
	const struct pid *now;
	int nr;

	guard(rcu)();
	now = find_vpid(line->number);
	for_each_set_bit(nr, &used, BITS_PER_LONG)
		if (now && pids_number(nr) == line->number && expressions[nr].pid != now)
			reused |= BIT(nr);
	return reused;
}

/* Return the expressions that a text written in the current task's namespace can't contain. */
static unsigned long pids_foreign(void)
{
	unsigned long foreign = 0;
	int nr;

	for_each_set_bit(nr, &used, BITS_PER_LONG)
		if (!pids_number(nr))
			foreign |= BIT(nr);
	return foreign;
}

static int pids_mark_line(int nr, const struct line *line)
{
	struct expression e = { .pid = find_get_pid(line->number), .kind = line->kind };
	int ret = e.pid ? pids_mark_tasks(nr, &e) : -ESRCH;

	put_pid(e.pid);
	return ret;
}

/* A write to the file. */
struct write {
	unsigned long wanted;	/* the expressions after it */
	unsigned long gone;	/* those that no task had when the write first looked for them */
	bool looked;
};

/* Return the expressions that @write has found gone, in O(tasks) for the first line that asks. */
static unsigned long pids_gone(struct write *write)
{
	if (!write->looked)
		write->gone = pids_dead();
	write->looked = true;
	return write->gone & ~marked;
}

/*
 * Add the expression of @line. If the pid of an equal one has been reused, the expression gets a
 * new number if one is free, and the old one goes if its tasks have all exited.
 */
static int pids_add(const struct line *line, struct write *write)
{
	const unsigned long bits = pids_bits_for(line->kind);
	const bool look = pids_find(line, used, 0) >= 0 || !(bits & ~used);
	unsigned long gone = look ? pids_gone(write) : 0;
	int nr = pids_find(line, used, gone | pids_reused(line));
	int old = pids_find(line, used & gone, 0), ret;
	char word[16];

	snprintf(word, sizeof(word), "%d", line->number);
	if (nr < 0) {
		if (!(bits & ~used) && old < 0)
			return pids_refuse(-ENOSPC, word, "there are too many expressions");
		nr = bits & ~used ? __ffs(bits & ~used) : old;
		ret = pids_mark_line(nr, line);
		if (ret == -ENOSPC)
			return pids_refuse(ret, word, "there are too many tasks");
		if (ret && old < 0)
			return pids_refuse(ret, word, line->kind == THREAD ? "no such thread" :
					   "no such process (a thread is \"tid NUMBER\")");
		if (ret)
			nr = old;
		else if (old >= 0)
			write->wanted &= ~BIT(old);
	}
	write->wanted |= BIT(nr);
	return 0;
}

static int pids_remove(const struct line *line, struct write *write)
{
	char word[16];
	int nr = pids_find(line, write->wanted, 0);

	snprintf(word, sizeof(word), "%d", line->number);
	if (nr < 0)
		return pids_refuse(-ENOENT, word, "is not in the list");
	write->wanted &= ~BIT(nr);
	return 0;
}

/* Apply all lines of @text to @write; modifies @text. @write NULL: only check the syntax. */
static int pids_apply(char *text, struct write *write)
{
	struct line line;
	bool remove;
	char *word;
	int ret;

	while ((word = strsep(&text, "\n"))) {
		mctracer_cond_resched();
		if (fatal_signal_pending(current))
			return -EINTR;
		word = strim(word);
		if (!*word || *word == '#')
			continue;
		remove = *word == '!';
		ret = pids_parse_line(skip_spaces(word + remove), &line);
		if (!ret && write)
			ret = remove ? pids_remove(&line, write) : pids_add(&line, write);
		if (ret)
			return ret;
	}
	return 0;
}

int mctracer_set_pids(char *text, bool append)
{
	CLASS(mctracer_own_work, own)();
	char *copy __free(kvfree) = kvmalloc(strlen(text) + 1, GFP_KERNEL);
	struct write write = {};
	unsigned long before;
	int ret;

	if (!copy)
		return -ENOMEM;
	strscpy(copy, text, strlen(text) + 1);
	guard(mutex)(&pids_mutex);
	before = used;
	marked = 0;
	write.wanted = append ? used : pids_foreign();
	ret = pids_apply(copy, NULL) ?: pids_apply(text, &write);
	if (ret)
		write.wanted = before & ~marked;
	if (write.wanted != mctracer_pids)
		mctracer_add_hole();	/* a task's calls may be recorded without their returns */
	WRITE_ONCE(mctracer_pids, write.wanted);
	pids_unmark(used & ~write.wanted);
	mctracer_invalidate_tasks(false);
	return ret;
}

/* Print expression @nr; as a comment if its process has no pid in the reader's namespace. */
static void pids_show_expression(struct seq_file *m, int nr)
{
	static const char * const before[] = { "", "tid ", "", "not " };
	static const char * const behind[] = { "", "", " children", "" };
	const enum kind kind = expressions[nr].kind;
	pid_t number = pids_number(nr);

	if (number)
		seq_printf(m, "%s%d%s\n", before[kind], number, behind[kind]);
	else
		seq_puts(m, "# a process of another pid namespace\n");
}

void mctracer_show_pids(struct seq_file *m)
{
	int nr;

	guard(mutex)(&pids_mutex);
	for_each_set_bit(nr, &mctracer_pids, BITS_PER_LONG)
		pids_show_expression(m, nr);
	if (mctracer_tasks_left_out())
		seq_printf(m, "# %lu new tasks were left out: there are too many\n",
			   mctracer_tasks_left_out());
}
