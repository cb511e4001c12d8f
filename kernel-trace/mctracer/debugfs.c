// SPDX-License-Identifier: GPL-2.0
/*
 * /sys/kernel/debug/mctracer/
 *
 *   # sysctl kernel.mcount_enabled=1
 *   # echo 1 > ctrl			register the tracer's hook
 *   # cat ctrl
 *   1
 *   # echo 0 > ctrl			clear it
 *   # cat trace			all CPUs' records, in time order
 *   # echo > trace			clear the rings
 *   # cat stats			counts for each CPU
 */
#include <linux/cleanup.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/security.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "mctracer.h"

/* Under lockdown debugfs itself refuses only files that can be written. */
static int may_open(void)
{
	return security_locked_down(LOCKDOWN_DEBUGFS);
}

/* ctrl */

static ssize_t ctrl_read(struct file *file, char __user *buf, size_t count, loff_t *pos)
{
	const char *text = mctracer_started() ? "1\n" : "0\n";

	return simple_read_from_buffer(buf, count, pos, text, 2);
}

/* *pos stays 0, so that a file kept open can be written again. */
static ssize_t ctrl_write(struct file *file, const char __user *buf, size_t count, loff_t *pos)
{
	static const char * const values[] = { "0", "1" };
	char *text;
	int value;
	int ret = 0;

	if (*pos || count > PAGE_SIZE)
		return -EINVAL;

	text = memdup_user_nul(buf, count);
	if (IS_ERR(text))
		return PTR_ERR(text);
	value = strlen(text) == count ? match_string(values, ARRAY_SIZE(values), strim(text))
				      : -EINVAL;
	kfree(text);
	if (value < 0)
		return value;

	if (value)
		ret = mctracer_start();
	else
		mctracer_stop();
	return ret ?: count;
}

static int ctrl_open(struct inode *inode, struct file *file)
{
	return may_open();
}

static const struct file_operations ctrl_fops = {
	.owner	= THIS_MODULE,
	.open	= ctrl_open,
	.read	= ctrl_read,
	.write	= ctrl_write,
	.llseek	= default_llseek,
};

/* trace */

struct trace_reader {
	struct mctracer_snapshot *snapshot;
	struct mctracer_symbols *symbols;

	/* The record that comes next; seq_file may ask for it twice. */
	const struct mctracer_record *record;
	int cpu;
};

static void trace_advance(struct trace_reader *reader)
{
	reader->record = mctracer_snapshot_next(reader->snapshot, &reader->cpu);
}

/* Position 0 is the header. Others are only ever reached by trace_next(). */
static void *trace_start(struct seq_file *m, loff_t *pos)
{
	struct trace_reader *reader = m->private;

	if (*pos == 0) {
		mctracer_snapshot_rewind(reader->snapshot);
		trace_advance(reader);
		return SEQ_START_TOKEN;
	}
	return reader->record ? reader : NULL;
}

static void *trace_next(struct seq_file *m, void *v, loff_t *pos)
{
	struct trace_reader *reader = m->private;

	(*pos)++;
	if (v != SEQ_START_TOKEN)
		trace_advance(reader);
	return reader->record ? reader : NULL;
}

static void trace_stop(struct seq_file *m, void *v)
{
}

static int trace_show(struct seq_file *m, void *v)
{
	struct trace_reader *reader = m->private;

	if (v == SEQ_START_TOKEN)
		mctracer_print_header(m, mctracer_snapshot_counts(reader->snapshot));
	else
		mctracer_print_record(m, reader->symbols, reader->record, reader->cpu);
	return 0;
}

static const struct seq_operations trace_seq_ops = {
	.start	= trace_start,
	.next	= trace_next,
	.stop	= trace_stop,
	.show	= trace_show,
};

static void trace_reader_free(struct trace_reader *reader)
{
	mctracer_snapshot_free(reader->snapshot);
	mctracer_symbols_free(reader->symbols);
}

static int trace_open(struct inode *inode, struct file *file)
{
	struct trace_reader *reader;
	int ret;

	ret = may_open();
	if (ret)
		return ret;

	if ((file->f_mode & FMODE_WRITE) && (file->f_flags & O_TRUNC))
		mctracer_clear();
	if (!(file->f_mode & FMODE_READ))
		return 0;

	reader = __seq_open_private(file, &trace_seq_ops, sizeof(*reader));
	if (!reader)
		return -ENOMEM;
	reader->snapshot = mctracer_snapshot_take();
	reader->symbols = mctracer_symbols_alloc();
	if (!reader->snapshot || !reader->symbols) {
		trace_reader_free(reader);
		seq_release_private(inode, file);
		return -ENOMEM;
	}
	return 0;
}

/* As for ctrl, *pos stays: it belongs to reading. */
static ssize_t trace_write(struct file *file, const char __user *buf, size_t count, loff_t *pos)
{
	mctracer_clear();
	return count;
}

static loff_t trace_llseek(struct file *file, loff_t offset, int whence)
{
	if (!(file->f_mode & FMODE_READ))
		return 0;
	return seq_lseek(file, offset, whence);
}

static int trace_release(struct inode *inode, struct file *file)
{
	if (!(file->f_mode & FMODE_READ))
		return 0;
	trace_reader_free(((struct seq_file *)file->private_data)->private);
	return seq_release_private(inode, file);
}

static const struct file_operations trace_fops = {
	.owner		= THIS_MODULE,
	.open		= trace_open,
	.read		= seq_read,
	.write		= trace_write,
	.llseek		= trace_llseek,
	.release	= trace_release,
};

/* stats */

static int stats_show(struct seq_file *m, void *v)
{
	struct mctracer_ring_counts counts;
	int cpu;

	guard(mutex)(&mctracer_mutex);
	seq_puts(m, "# cpu entries written overwritten lost recursions\n");
	for_each_possible_cpu(cpu) {
		counts = mctracer_ring_counts(per_cpu_ptr(&mctracer_rings, cpu));
		seq_printf(m, "%d %llu %llu %llu 0 0\n", cpu,
			   counts.entries, counts.written, counts.overwritten);
	}
	return 0;
}

static int stats_open(struct inode *inode, struct file *file)
{
	return may_open() ?: single_open(file, stats_show, NULL);
}

static const struct file_operations stats_fops = {
	.owner		= THIS_MODULE,
	.open		= stats_open,
	.read		= seq_read,
	.llseek		= seq_lseek,
	.release	= single_release,
};

static int __init mctracer_debugfs_init(void)
{
	struct dentry *dir = debugfs_create_dir("mctracer", NULL);

	debugfs_create_file("ctrl", 0600, dir, NULL, &ctrl_fops);
	debugfs_create_file("trace", 0600, dir, NULL, &trace_fops);
	debugfs_create_file("stats", 0400, dir, NULL, &stats_fops);
	return 0;
}
late_initcall(mctracer_debugfs_init);
