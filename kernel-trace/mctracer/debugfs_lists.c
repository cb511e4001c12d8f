// SPDX-License-Identifier: GPL-2.0
/*
 * What is recorded, and what else happens: the files filter, notrace, pid and triggers,
 * which are lists; and functions, which shows all that there are.
 *
 * Opened to be written anew (">"), a list is replaced by what is written first, or by
 * nothing; else (">>"), added to.
 *
 * Programs write a long text in pieces: each at least 4 KiB long but for the last. So a write takes
 * effect if it is shorter and ends with a newline, together with what was kept before it; any
 * other is kept, until then or until the file is closed. On an error nothing of all that has an
 * effect.
 */
#include <linux/cleanup.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/kallsyms.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "debugfs.h"
#include "mctracer.h"

struct list_file {
	const char *name;
	void (*show)(struct seq_file *m);
	int (*set)(char *text, bool append);
};

struct list_opened {
	const struct list_file *list;
	struct mutex mutex;	/* among those who share the file: */
	bool replace;		/* what comes first takes the place of all there is ... */
	bool written;		/* ... or nothing does, if nothing came */
	char *kept;		/* what has not taken effect yet, */
	size_t length, room;	/* so long, in so much memory */
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

static int set(struct list_opened *opened, char *text)
{
	int ret = opened->list->set(text, !opened->replace);

	if (!ret)
		opened->replace = false;
	return ret;
}

#define PIECE_MIN	SZ_4K
#define TEXT_MAX	SZ_16M

static void forget_kept(struct list_opened *opened)
{
	kvfree(opened->kept);
	opened->kept = NULL;
	opened->length = 0;
	opened->room = 0;
}

/* Put what is written behind what is kept. The memory doubles, so n pieces take O(n). */
static int keep(struct list_opened *opened, const char __user *buf, size_t count)
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

/* What is kept takes effect, or nothing of it does. */
static int apply_kept(struct list_opened *opened)
{
	int ret;

	opened->kept[opened->length] = '\0';
	ret = set(opened, opened->kept);
	forget_kept(opened);
	return ret;
}

static ssize_t list_write(struct file *file, const char __user *buf, size_t count, loff_t *pos)
{
	struct seq_file *m = file->private_data;
	struct list_opened *opened = m->private;
	int ret;

	if (!count)
		return 0;
	count = min_t(size_t, count, SZ_512K);
	guard(mutex)(&opened->mutex);
	opened->written = true;
	ret = keep(opened, buf, count);
	if (ret)
		forget_kept(opened);
	else if (count < PIECE_MIN && opened->kept[opened->length - 1] == '\n')
		ret = apply_kept(opened);
	return ret ?: count;
}

/* What must still be done when the file is closed. */
static int finish(struct list_opened *opened)
{
	char nothing[] = "";

	if (opened->length)
		return apply_kept(opened);
	if (opened->replace && !opened->written) {
		opened->written = true;
		return set(opened, nothing);
	}
	return 0;
}

/* By its last owner: close() tells whether it could be done. */
static int list_flush(struct file *file, fl_owner_t id)
{
	struct seq_file *m = file->private_data;
	struct list_opened *opened = m->private;

	if (file_count(file) > 1)
		return 0;
	guard(mutex)(&opened->mutex);
	return finish(opened);
}

static int list_release(struct inode *inode, struct file *file)
{
	struct seq_file *m = file->private_data;
	struct list_opened *opened = m->private;

	finish(opened);
	kfree(opened);
	return single_release(inode, file);
}

static const struct file_operations list_fops = {
	.owner		= THIS_MODULE,
	.open		= list_open,
	.read		= mctracer_seq_read,
	.write		= list_write,
	.llseek		= seq_lseek,
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
	unsigned long site = *(unsigned long *)v, size, offset;
	char buffer[KSYM_NAME_LEN], *module;
	const char *name;

	guard(rcu)();	/* keeps the module's name */
	name = kallsyms_lookup(site, &size, &offset, &module, buffer);
	if (!name)
		return SEQ_SKIP;	/* a module that has gone */
	seq_puts(m, name);
	if (module)
		seq_printf(m, " [%s]", module);
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
	.llseek		= seq_lseek,
	.release	= functions_release,
};

void __init mctracer_create_lists(struct dentry *dir)
{
	size_t i;

	/* "Unsafe" is only what is removed again; the safe ones have no flush(). */
	for (i = 0; i < ARRAY_SIZE(lists); i++)
		debugfs_create_file_unsafe(lists[i].name, 0600, dir, (void *)&lists[i],
					   &list_fops);
	debugfs_create_file("functions", 0400, dir, NULL, &functions_fops);
}
