// SPDX-License-Identifier: GPL-2.0
/*
 * last_boot/trace: the events that an earlier boot recorded in persistent rings, as text; writing,
 * or opening for writing with truncation, drops them. last_boot/raw: the rings of that boot, each
 * in the form of a mapping of per_cpu/cpuN/raw.
 */
#include <linux/debugfs.h>
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/seq_buf.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "../files/debugfs.h"
#include "../files/text.h"
#include "../ring/cursor.h"
#include "../ring/streams.h"
#include "../ring/words.h"
#include "last_boot.h"

/* Return a reference to the earlier boot's rings, or an ERR_PTR() with which open() must fail. */
static struct mctracer_last_boot *last_boot_open(void)
{
	int ret = mctracer_may_open();

	return ret ? ERR_PTR(ret) : mctracer_last_boot_get() ?: ERR_PTR(-ENODATA);
}

/* trace */

struct reader {
	struct mctracer_last_boot *last;
	struct mctracer_text *text;
	struct mctracer_streams all;
};

/* Position 0 is the header. */
static void *last_boot_trace_start(struct seq_file *m, loff_t *pos)
{
	struct reader *reader = m->private;

	if (*pos == 0) {
		memcpy(reader->all.streams, reader->last->streams,
		       reader->last->header.nr_rings * sizeof(*reader->all.streams));
		mctracer_text_rewind(reader->text);
		mctracer_streams_order(&reader->all);
		return SEQ_START_TOKEN;
	}
	return mctracer_streams_oldest(&reader->all);
}

static void *last_boot_trace_next(struct seq_file *m, void *v, loff_t *pos)
{
	struct reader *reader = m->private;

	(*pos)++;
	/* A seek makes all the text before it. */
	mctracer_cond_resched();
	if (fatal_signal_pending(current))
		return ERR_PTR(-EINTR);
	if (v != SEQ_START_TOKEN)
		mctracer_streams_advance(&reader->all);
	return mctracer_streams_oldest(&reader->all);
}

static void last_boot_trace_stop(struct seq_file *m, void *v)
{
}

static int last_boot_trace_show(struct seq_file *m, void *v)
{
	struct reader *reader = m->private;
	const struct mctracer_last_boot *last = reader->last;
	const struct mctracer_stream *stream = v;
	const struct seq_buf *line;

	if (v != SEQ_START_TOKEN) {
		line = mctracer_text_event(reader->text, stream, stream - reader->all.streams);
		seq_write(m, line->buffer, line->len);	/* m records an overflow */
		return 0;
	}
	seq_printf(m, "# kernel: %s, %*phN\n# entries: %llu\n# damaged: %llu words, %llu pages\n",
		   last->same ? "this one" : "another one, which has the functions' names",
		   (int)sizeof(last->header.build_id), last->header.build_id,
		   last->sums.events, last->sums.bad_words, last->sums.bad_pages);
	return 0;
}

static const struct seq_operations trace_seq_ops = {
	.start	= last_boot_trace_start,
	.next	= last_boot_trace_next,
	.stop	= last_boot_trace_stop,
	.show	= last_boot_trace_show,
};

static void last_boot_free_reader(struct reader *reader)
{
	mctracer_text_free(reader->text);
	mctracer_streams_free(&reader->all);
	mctracer_last_boot_put(reader->last);
}

static int last_boot_trace_open(struct inode *inode, struct file *file)
{
	struct mctracer_last_boot *last;
	struct reader *reader;
	int ret = mctracer_may_open();

	if (ret)
		return ret;
	if ((file->f_mode & FMODE_WRITE) && (file->f_flags & O_TRUNC))
		mctracer_last_boot_clear();
	if (!(file->f_mode & FMODE_READ))
		return 0;
	last = last_boot_open();
	if (IS_ERR(last))
		return PTR_ERR(last);
	reader = __seq_open_private(file, &trace_seq_ops, sizeof(*reader));
	if (!reader) {
		mctracer_last_boot_put(last);
		return -ENOMEM;
	}
	reader->last = last;
	reader->text = mctracer_text_alloc(kallsyms_show_value(file->f_cred), false);
	if (!reader->text || mctracer_streams_alloc(&reader->all, last->header.nr_rings)) {
		last_boot_free_reader(reader);
		seq_release_private(inode, file);
		return -ENOMEM;
	}
	mctracer_text_set_elsewhere(reader->text, mctracer_last_boot_name, last);
	return 0;
}

static ssize_t last_boot_trace_write(struct file *file, const char __user *buf, size_t count,
				     loff_t *pos)
{
	mctracer_last_boot_clear();
	return count;
}

static int last_boot_trace_release(struct inode *inode, struct file *file)
{
	if (!(file->f_mode & FMODE_READ))
		return 0;
	last_boot_free_reader(((struct seq_file *)file->private_data)->private);
	return seq_release_private(inode, file);
}

static const struct file_operations trace_fops = {
	.owner		= THIS_MODULE,
	.open		= last_boot_trace_open,
	.read		= mctracer_seq_read,
	.write		= last_boot_trace_write,
	.llseek		= mctracer_trace_llseek,
	.release	= last_boot_trace_release,
};

/* raw */

struct raw_reader {
	struct mctracer_last_boot *last;
	struct mutex mutex;		/* protects page */
	u64 page[SZ_4K / sizeof(u64)];
};

/* Return the bytes of each ring in the file: a page with the header, and the words. */
static loff_t last_boot_raw_ring_size(const struct mctracer_last_boot *last)
{
	return SZ_4K + last->header.ring_size;
}

/* Fill the reader's page with what the file has at position @at, a multiple of 4 KiB. */
static void last_boot_fill_page(struct raw_reader *reader, loff_t at)
{
	const struct mctracer_last_boot *last = reader->last;
	struct mctracer_ring_header *header = (void *)reader->page;
	const struct mctracer_copy *copy;
	u64 offset, i;
	u32 ring;

	ring = div64_u64_rem(at, last_boot_raw_ring_size(last), &offset);
	copy = &last->rings[ring].copy;
	memset(reader->page, 0, SZ_4K);
	if (!offset) {
		*header = (struct mctracer_ring_header) {
			.magic		= MCTRACER_MAGIC,
			.version	= MCTRACER_VERSION,
			.header_size	= SZ_4K,
			.cpu		= ring,
			.ring_size	= last->header.ring_size,
			.sync_every	= last->header.ring_size / 4,
			.flags		= MCTRACER_RING_DEAD,
			.start_calls	= last->rings[ring].calls,
			.base		= MCTRACER_BASE,
			.head		= copy->end,
		};
		return;
	}
	offset -= SZ_4K;
	for (i = 0; i < ARRAY_SIZE(reader->page) && offset + i * sizeof(u64) < copy->end; i++)
		reader->page[i] = mctracer_last_boot_word(last,
							  copy->words[offset / sizeof(u64) + i]);
}

static ssize_t last_boot_raw_read(struct file *file, char __user *buf, size_t count, loff_t *pos)
{
	struct raw_reader *reader = file->private_data;
	const loff_t size = last_boot_raw_ring_size(reader->last) * reader->last->header.nr_rings;
	size_t done = 0, n;
	loff_t at;

	if (*pos < 0)
		return -EINVAL;
	if (mutex_lock_interruptible(&reader->mutex))
		return -ERESTARTSYS;
	while (done < count && *pos < size && !fatal_signal_pending(current)) {
		at = *pos & (SZ_4K - 1);
		n = min_t(size_t, count - done, SZ_4K - at);
		last_boot_fill_page(reader, *pos - at);
		n -= copy_to_user(buf + done, (void *)reader->page + at, n);
		if (!n)
			break;
		done += n;
		*pos += n;
		cond_resched();
	}
	mutex_unlock(&reader->mutex);
	return done || !count || *pos >= size ? done : -EFAULT;
}

static loff_t last_boot_raw_llseek(struct file *file, loff_t offset, int whence)
{
	const struct raw_reader *reader = file->private_data;

	return fixed_size_llseek(file, offset, whence,
				 last_boot_raw_ring_size(reader->last) *
				 reader->last->header.nr_rings);
}

static int last_boot_raw_open(struct inode *inode, struct file *file)
{
	struct mctracer_last_boot *last = last_boot_open();
	struct raw_reader *reader;

	if (IS_ERR(last))
		return PTR_ERR(last);
	reader = kallsyms_show_value(file->f_cred) ? kzalloc(sizeof(*reader), GFP_KERNEL) :
						     ERR_PTR(-EPERM);
	if (IS_ERR_OR_NULL(reader)) {
		mctracer_last_boot_put(last);
		return reader ? PTR_ERR(reader) : -ENOMEM;
	}
	mutex_init(&reader->mutex);
	reader->last = last;
	file->private_data = reader;
	return 0;
}

static int last_boot_raw_release(struct inode *inode, struct file *file)
{
	struct raw_reader *reader = file->private_data;

	mctracer_last_boot_put(reader->last);
	kfree(reader);
	return 0;
}

static const struct file_operations raw_fops = {
	.owner		= THIS_MODULE,
	.open		= last_boot_raw_open,
	.read		= last_boot_raw_read,
	.llseek		= last_boot_raw_llseek,
	.release	= last_boot_raw_release,
};

static int __init last_boot_files_init(void)
{
	struct dentry *dir;

	if (!mctracer_last_boot_possible())
		return 0;
	dir = debugfs_create_dir("last_boot", mctracer_dir);
	debugfs_create_file("trace", 0600, dir, NULL, &trace_fops);
	debugfs_create_file("raw", 0400, dir, NULL, &raw_fops);
	return 0;
}
late_initcall(last_boot_files_init);	/* links behind debugfs.c, so runs after it */
