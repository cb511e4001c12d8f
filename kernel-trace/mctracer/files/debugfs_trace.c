// SPDX-License-Identifier: GPL-2.0
/*
 * trace and per_cpu/cpuN/trace: the events as text, in time order, without consuming them; writing,
 * or opening for writing with truncation, clears the rings. snapshot: the events of a copy of the
 * rings that is kept; writing 1 makes the copy, 0 frees it.
 */
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/kallsyms.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/seq_buf.h>
#include <linux/seq_file.h>

#include "../control/control.h"
#include "../record/record.h"
#include "../ring/cursor.h"
#include "debugfs.h"
#include "text.h"

struct trace_reader {
	struct mctracer_ring_copy *snapshot;
	struct mctracer_text *text;

	/* The next event and its CPU; seq_file may show it twice. */
	const struct mctracer_stream *next;
	int cpu;
};

/* Position 0 is the header. Only trace_next() reaches the other positions. */
static void *trace_start(struct seq_file *m, loff_t *pos)
{
	struct trace_reader *reader = m->private;

	if (*pos == 0) {
		mctracer_ring_copy_rewind(reader->snapshot);
		mctracer_text_rewind(reader->text);
		reader->next = mctracer_ring_copy_next(reader->snapshot, &reader->cpu);
		return SEQ_START_TOKEN;
	}
	return reader->next ? reader : NULL;
}

static void *trace_next(struct seq_file *m, void *v, loff_t *pos)
{
	struct trace_reader *reader = m->private;

	(*pos)++;
	/* A seek makes all the text before it. */
	mctracer_cond_resched();
	if (fatal_signal_pending(current))
		return ERR_PTR(-EINTR);
	if (v != SEQ_START_TOKEN) {
		mctracer_ring_copy_advance(reader->snapshot);
		reader->next = mctracer_ring_copy_next(reader->snapshot, &reader->cpu);
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
					    mctracer_ring_copy_counts(reader->snapshot));
	else
		line = mctracer_text_event(reader->text, reader->next, reader->cpu);
	seq_write(m, line->buffer, line->len);	/* m records an overflow */
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
	mctracer_ring_copy_free(reader->snapshot);
	mctracer_text_free(reader->text);
}

/* Clear the rings if @file is opened for that. */
static void trace_truncate(struct inode *inode, const struct file *file)
{
	if ((file->f_mode & FMODE_WRITE) && (file->f_flags & O_TRUNC))
		mctracer_clear(mctracer_inode_cpu(inode));
}

static int trace_open(struct inode *inode, struct file *file)
{
	struct trace_reader *reader;
	int ret;

	ret = mctracer_may_open();
	if (ret)
		return ret;

	if (!(file->f_mode & FMODE_READ)) {
		trace_truncate(inode, file);
		return 0;
	}
	reader = __seq_open_private(file, &trace_seq_ops, sizeof(*reader));
	if (!reader)
		return -ENOMEM;
	/* The copy is of the cleared rings. Without memory for the text nothing is cleared. */
	reader->text = mctracer_text_alloc(kallsyms_show_value(file->f_cred), false);
	if (reader->text) {
		trace_truncate(inode, file);
		reader->snapshot = mctracer_ring_copy_take(mctracer_inode_cpu(inode));
	}
	if (!reader->snapshot) {
		trace_reader_free(reader);
		seq_release_private(inode, file);
		return -ENOMEM;
	}
	return 0;
}

/* Open the file snapshot, which has the form of trace. */
static int snapshot_open(struct inode *inode, struct file *file)
{
	struct mctracer_ring_copy *snapshot;
	struct trace_reader *reader;
	int ret = mctracer_may_open();

	if (ret || !(file->f_mode & FMODE_READ))
		return ret;
	snapshot = mctracer_snapshot_open();
	if (IS_ERR(snapshot))
		return PTR_ERR(snapshot);
	reader = __seq_open_private(file, &trace_seq_ops, sizeof(*reader));
	if (reader) {
		reader->snapshot = snapshot;
		reader->text = mctracer_text_alloc(kallsyms_show_value(file->f_cred), false);
		if (reader->text)
			return 0;
		seq_release_private(inode, file);
	}
	mctracer_snapshot_close(snapshot);
	return -ENOMEM;
}

static int snapshot_release(struct inode *inode, struct file *file)
{
	struct trace_reader *reader;

	if (!(file->f_mode & FMODE_READ))
		return 0;
	reader = ((struct seq_file *)file->private_data)->private;
	mctracer_snapshot_close(reader->snapshot);
	mctracer_text_free(reader->text);
	return seq_release_private(inode, file);
}

/* Leave *pos alone, as ctrl_write() does: it is the position of reads. */
static ssize_t snapshot_write(struct file *file, const char __user *buf, size_t count, loff_t *pos)
{
	int value = mctracer_written_bool(buf, count, *pos), ret;

	if (value < 0)
		return value;
	ret = value ? mctracer_snapshot_make() : mctracer_snapshot_clear();
	return ret ?: count;
}

/* Leave *pos alone here, too. */
static ssize_t trace_write(struct file *file, const char __user *buf, size_t count, loff_t *pos)
{
	mctracer_clear(mctracer_inode_cpu(file_inode(file)));
	return count;
}

loff_t mctracer_trace_llseek(struct file *file, loff_t offset, int whence)
{
	if (!(file->f_mode & FMODE_READ))
		return 0;
	return mctracer_seq_lseek(file, offset, whence);
}

static int trace_release(struct inode *inode, struct file *file)
{
	if (!(file->f_mode & FMODE_READ))
		return 0;
	trace_reader_free(((struct seq_file *)file->private_data)->private);
	return seq_release_private(inode, file);
}

const struct file_operations mctracer_snapshot_fops = {
	.owner		= THIS_MODULE,
	.open		= snapshot_open,
	.read		= mctracer_seq_read,
	.write		= snapshot_write,
	.llseek		= mctracer_trace_llseek,
	.release	= snapshot_release,
};

const struct file_operations mctracer_trace_fops = {
	.owner		= THIS_MODULE,
	.open		= trace_open,
	.read		= mctracer_seq_read,
	.write		= trace_write,
	.llseek		= mctracer_trace_llseek,
	.release	= trace_release,
};
