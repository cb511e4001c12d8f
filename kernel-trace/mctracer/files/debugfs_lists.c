// SPDX-License-Identifier: GPL-2.0
/*
 * The files filter, notrace, pid and triggers, which are lists that control the recording; and
 * functions, which shows all traceable functions.
 *
 * If a list is opened with truncation (">"), the first text that takes effect replaces it; if
 * nothing is written, it becomes empty. Otherwise (">>") text is added to the list.
 *
 * Programs write a long text in pieces of at least 4 KiB, except for the last piece. So a write
 * that is shorter and ends with a newline takes effect, together with the text that was kept before
 * it. Any other write is kept, until such a write comes or the file is closed. On an error, no part
 * of the text takes effect. If that text came in pieces, the open file takes no other: a program
 * may write the last piece again, which is not the text.
 */
#include <linux/cleanup.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "../control/control.h"
#include "../record/selected.h"
#include "../select/select.h"
#include "debugfs.h"

struct list_file {
	const char *name;
	void (*show)(struct seq_file *m);
	int (*set)(char *text, bool append);
};

struct list_opened {
	const struct list_file *list;
	struct mutex mutex;	/* serializes users of the open file; protects: */
	bool replace;		/* the next text replaces the list; ... */
	bool written;		/* ... unless this is set, close() empties the list */
	pid_t writer;		/* the process that wrote last */
	char *kept;		/* text that has not taken effect yet, */
	size_t length, room;	/* its bytes, and those of its memory */
	int refused;		/* the error that dropped kept text, for all further writes */
};

static void filter_show(struct seq_file *m)
{
	mctracer_functions_show(MCTRACER_FILTER, m);
}

static int filter_set(char *text, bool append)
{
	return mctracer_set_functions(MCTRACER_FILTER, text, append);
}

static void notrace_show(struct seq_file *m)
{
	mctracer_functions_show(MCTRACER_NOTRACE, m);
}

static int notrace_set(char *text, bool append)
{
	return mctracer_set_functions(MCTRACER_NOTRACE, text, append);
}

static const struct list_file lists[] = {
	{ "filter", filter_show, filter_set },
	{ "notrace", notrace_show, notrace_set },
	{ "pid", mctracer_show_pids, mctracer_set_pids },
	{ "triggers", mctracer_triggers_show, mctracer_set_triggers },
};

static int list_show(struct seq_file *m, void *v)
{
	struct list_opened *opened = m->private;

	opened->list->show(m);
	return 0;
}

static int list_open(struct inode *inode, struct file *file)
{
	struct list_opened *opened;
	int ret = mctracer_may_open();

	if (ret)
		return ret;
	opened = kzalloc(sizeof(*opened), GFP_KERNEL);
	if (!opened)
		return -ENOMEM;
	mutex_init(&opened->mutex);
	opened->list = inode->i_private;
	opened->replace = (file->f_mode & FMODE_WRITE) && (file->f_flags & O_TRUNC);
	ret = single_open(file, list_show, opened);
	if (ret)
		kfree(opened);
	return ret;
}

/* Make @text take effect. */
static int list_set(struct list_opened *opened, char *text)
{
	int ret = opened->list->set(text, !opened->replace);

	if (!ret)
		opened->replace = false;
	return ret;
}

#define PIECE_MIN	SZ_4K
#define TEXT_MAX	SZ_16M

static void list_drop_text(struct list_opened *opened)
{
	kvfree(opened->kept);
	opened->kept = NULL;
	opened->length = 0;
	opened->room = 0;
}

/* Append the written text to the kept text. The memory doubles, so n pieces take O(n). */
static int list_keep_text(struct list_opened *opened, const char __user *buf, size_t count)
{
	size_t room = opened->room;
	char *to;

	if (opened->length + count >= TEXT_MAX)
		return -EFBIG;
	while (opened->length + count >= room)
		room = max_t(size_t, 2 * room, PIECE_MIN);
	if (room != opened->room) {
		to = kvmalloc(room, GFP_KERNEL);
		if (!to)
			return -ENOMEM;
		if (opened->length)
			memcpy(to, opened->kept, opened->length);
		kvfree(opened->kept);
		opened->kept = to;
		opened->room = room;
	}
	to = opened->kept + opened->length;
	if (copy_from_user(to, buf, count))
		return -EFAULT;
	if (memchr(to, '\0', count))
		return -EINVAL;
	opened->length += count;
	return 0;
}

/* Make the kept text take effect: all of it or, on an error, none. */
static int list_apply_text(struct list_opened *opened)
{
	int ret;

	opened->kept[opened->length] = '\0';
	ret = list_set(opened, opened->kept);
	list_drop_text(opened);
	return ret;
}

static ssize_t list_write(struct file *file, const char __user *buf, size_t count, loff_t *pos)
{
	struct seq_file *m = file->private_data;
	struct list_opened *opened = m->private;
	bool in_pieces;
	int ret;

	if (!count)
		return 0;
	count = min_t(size_t, count, SZ_512K);
	guard(mutex)(&opened->mutex);
	if (opened->refused)
		return opened->refused;
	opened->written = true;
	opened->writer = task_tgid_nr(current);
	in_pieces = opened->length;
	ret = list_keep_text(opened, buf, count);
	if (ret)
		list_drop_text(opened);
	else if (count < PIECE_MIN && opened->kept[opened->length - 1] == '\n')
		ret = list_apply_text(opened);
	if (in_pieces)
		opened->refused = ret;
	return ret ?: count;
}

/* Return true if a signal has killed the current process, which then closes its files. */
static bool list_user_is_killed(void)
{
	return current->flags & PF_EXITING && current->signal->group_exit_code & 0x7f;
}

/* Drop the kept text if the current process wrote it and was killed: it might have written more. */
static void list_drop_of_killed(struct list_opened *opened)
{
	if (list_user_is_killed() && opened->writer == task_tgid_nr(current))
		list_drop_text(opened);
}

/* Do what remains when the file is closed: apply the kept text, or empty the list. */
static int list_finish(struct list_opened *opened)
{
	char nothing[] = "";

	list_drop_of_killed(opened);
	if (opened->length)
		return list_apply_text(opened);
	if (list_user_is_killed())
		opened->written = true;		/* also if another task calls release() */
	if (opened->replace && !opened->written) {
		opened->written = true;
		return list_set(opened, nothing);
	}
	return 0;
}

/* Finish when the last user closes the file, so that close() returns the error. */
static int list_flush(struct file *file, fl_owner_t id)
{
	struct seq_file *m = file->private_data;
	struct list_opened *opened = m->private;

	guard(mutex)(&opened->mutex);
	if (file_count(file) == 1)
		return list_finish(opened);
	list_drop_of_killed(opened);	/* other processes share the file */
	return 0;
}

static int list_release(struct inode *inode, struct file *file)
{
	struct seq_file *m = file->private_data;
	struct list_opened *opened = m->private;

	list_finish(opened);
	kfree(opened);
	return single_release(inode, file);
}

static const struct file_operations list_fops = {
	.owner		= THIS_MODULE,
	.open		= list_open,
	.read		= mctracer_seq_read,
	.write		= list_write,
	.llseek		= mctracer_seq_lseek,
	.flush		= list_flush,
	.release	= list_release,
};

/* functions */

static void *functions_start(struct seq_file *m, loff_t *pos)
{
	struct mctracer_sites *all = m->private;

	return *pos < all->nr ? &all->sites[*pos] : NULL;
}

static void *functions_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return functions_start(m, pos);
}

static void functions_stop(struct seq_file *m, void *v)
{
}

static int functions_show(struct seq_file *m, void *v)
{
	if (!mctracer_function_show(*(unsigned long *)v, m))
		return SEQ_SKIP;
	seq_putc(m, '\n');
	return 0;
}

static const struct seq_operations functions_ops = {
	.start	= functions_start,
	.next	= functions_next,
	.stop	= functions_stop,
	.show	= functions_show,
};

static int functions_open(struct inode *inode, struct file *file)
{
	struct mctracer_sites *all;
	struct seq_file *m;
	int ret = mctracer_may_open();

	if (ret)
		return ret;
	all = mctracer_functions_all();
	if (IS_ERR(all))
		return PTR_ERR(all);
	ret = seq_open(file, &functions_ops);
	if (ret) {
		kvfree(all);
		return ret;
	}
	m = file->private_data;
	m->private = all;
	return 0;
}

static int functions_release(struct inode *inode, struct file *file)
{
	struct seq_file *m = file->private_data;

	kvfree(m->private);
	return seq_release(inode, file);
}

static const struct file_operations functions_fops = {
	.owner		= THIS_MODULE,
	.open		= functions_open,
	.read		= mctracer_seq_read,
	.llseek		= mctracer_seq_lseek,
	.release	= functions_release,
};

void __init mctracer_create_lists(struct dentry *dir)
{
	size_t i;

	/* As in debugfs_create_cpu_dir(). Files of debugfs_create_file() have no flush(). */
	for (i = 0; i < ARRAY_SIZE(lists); i++)
		debugfs_create_file_unsafe(lists[i].name, 0600, dir, (void *)&lists[i],
					   &list_fops);
	debugfs_create_file("functions", 0400, dir, NULL, &functions_fops);
}
