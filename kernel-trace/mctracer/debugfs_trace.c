// SPDX-License-Identifier: GPL-2.0
/*
 * trace and per_cpu/cpuN/trace: the calls as text, in time order, without
 * consuming them. Writing, or opening for writing with truncation, clears.
 */
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/seq_buf.h>
#include <linux/seq_file.h>

#include "debugfs.h"
#include "mctracer.h"

struct trace_reader {
	struct mctracer_snapshot *snapshot;
	struct mctracer_text *text;

	/* What comes next; seq_file may ask for it twice. */
	const struct mctracer_stream *next;
	int cpu;
};

/* Position 0 is the header. Others are only ever reached by trace_next(). */
static void *trace_start(struct seq_file *m, loff_t *pos)
{
	struct trace_reader *reader = m->private;

	if (*pos == 0) {
		mctracer_snapshot_rewind(reader->snapshot);
		reader->next = mctracer_snapshot_next(reader->snapshot, &reader->cpu);
		return SEQ_START_TOKEN;
	}
	return reader->next ? reader : NULL;
}

static void *trace_next(struct seq_file *m, void *v, loff_t *pos)
{
	struct trace_reader *reader = m->private;

	(*pos)++;
	if (v != SEQ_START_TOKEN) {
		mctracer_snapshot_advance(reader->snapshot, reader->cpu);
		reader->next = mctracer_snapshot_next(reader->snapshot, &reader->cpu);
	}
	return reader->next ? reader : NULL;
}

static void trace_stop(struct seq_file *m, void *v)
{
}

static int trace_show(struct seq_file *m, void *v)
{
	struct trace_reader *reader = m->private;
	const struct seq_buf *line;

	if (v == SEQ_START_TOKEN)
		line = mctracer_text_header(reader->text,
					    mctracer_snapshot_counts(reader->snapshot));
	else
		line = mctracer_text_event(reader->text, reader->next, reader->cpu);
	return seq_write(m, line->buffer, line->len);
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
	mctracer_text_free(reader->text);
}

static int trace_open(struct inode *inode, struct file *file)
{
	struct trace_reader *reader;
	int ret;

	ret = mctracer_may_open();
	if (ret)
		return ret;

	if ((file->f_mode & FMODE_WRITE) && (file->f_flags & O_TRUNC))
		mctracer_clear(mctracer_inode_cpu(inode));
	if (!(file->f_mode & FMODE_READ))
		return 0;

	reader = __seq_open_private(file, &trace_seq_ops, sizeof(*reader));
	if (!reader)
		return -ENOMEM;
	reader->snapshot = mctracer_snapshot_take(mctracer_inode_cpu(inode));
	reader->text = mctracer_text_alloc();
	if (!reader->snapshot || !reader->text) {
		trace_reader_free(reader);
		seq_release_private(inode, file);
		return -ENOMEM;
	}
	return 0;
}

/* As for ctrl, *pos stays: it belongs to reading. */
static ssize_t trace_write(struct file *file, const char __user *buf, size_t count, loff_t *pos)
{
	mctracer_clear(mctracer_inode_cpu(file_inode(file)));
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

const struct file_operations mctracer_trace_fops = {
	.owner		= THIS_MODULE,
	.open		= trace_open,
	.read		= seq_read,
	.write		= trace_write,
	.llseek		= trace_llseek,
	.release	= trace_release,
};
