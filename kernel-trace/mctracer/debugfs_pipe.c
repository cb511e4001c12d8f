// SPDX-License-Identifier: GPL-2.0
/*
 * trace_pipe: the records as text, in time order, each to one reader only.
 *
 * The hook wakes nobody: it may hold any lock of those that waking needs. While
 * somebody waits, a work looks ten times a second whether there is something.
 */
#include <linux/fs.h>
#include <linux/poll.h>
#include <linux/seq_buf.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "debugfs.h"
#include "mctracer.h"

static DECLARE_WAIT_QUEUE_HEAD(waiting);
static unsigned int found;	/* how often the work has found something */

static void look_for_records(struct work_struct *work);
static DECLARE_DELAYED_WORK(look, look_for_records);

static void look_soon(void)
{
	queue_delayed_work(system_wq, &look, HZ / 10);
}

static void look_for_records(struct work_struct *work)
{
	if (mctracer_anything_to_consume()) {
		WRITE_ONCE(found, found + 1);
		wake_up_interruptible_all(&waiting);
	}
	if (wq_has_sleeper(&waiting))
		look_soon();
}

/*
 * Even if there is something now: it may be a record that is not committed. No
 * longer than a second: the work may look before this one sleeps, and stop.
 */
static int wait_for_records(void)
{
	unsigned int before = READ_ONCE(found);
	long ret;

	look_soon();
	ret = wait_event_interruptible_timeout(waiting, READ_ONCE(found) != before, HZ);
	return min(ret, 0L);
}

struct pipe_reader {
	struct mutex mutex;	/* among those who share the file */
	struct mctracer_text *text;
	/* What is left of a line that was longer than the reader's buffer. */
	const char *rest;
	size_t rest_length;
};

struct user_buffer {
	char __user *to;
	size_t room;
	size_t done;
};

static bool put(struct user_buffer *out, const char *from, size_t length)
{
	if (copy_to_user(out->to + out->done, from, length))
		return false;
	out->done += length;
	out->room -= length;
	return true;
}

/* True if the line has gone, or as much of it as fits into an empty buffer. */
static bool put_line(struct pipe_reader *reader, struct user_buffer *out,
		     const struct seq_buf *line)
{
	size_t length = min(line->len, out->room);

	if (length < line->len && out->done)
		return false;
	if (!put(out, line->buffer, length))
		return false;
	reader->rest = line->buffer + length;
	reader->rest_length = line->len - length;
	return true;
}

static bool put_next(struct pipe_reader *reader, struct user_buffer *out)
{
	struct mctracer_record gap;
	struct mctracer_next next;

	if (!out->room || reader->rest_length || !mctracer_consume_next(&next))
		return false;

	if (next.missed) {
		gap = mctracer_gap(next.missed);
		if (!put_line(reader, out, mctracer_text_record(reader->text, &gap, next.cpu, 0)))
			return false;
		mctracer_consume_told(&next);
		return true;
	}
	if (!put_line(reader, out, mctracer_text_record(reader->text, &next.record, next.cpu,
							next.cycles)))
		return false;
	mctracer_consume_take(&next);
	return true;
}

static ssize_t put_lines(struct pipe_reader *reader, char __user *buf, size_t count)
{
	struct user_buffer out = { .to = buf, .room = count };
	size_t length = min(reader->rest_length, count);
	bool good;
	int ret;

	if (length) {
		pagefault_disable();	/* others may share the file */
		good = put(&out, reader->rest, length);
		pagefault_enable();
		if (!good)
			return -EFAULT;
		reader->rest += length;
		reader->rest_length -= length;
	}
	ret = mctracer_consume_begin();
	if (ret)
		return out.done ?: ret;
	while (put_next(reader, &out) && !signal_pending(current))
		cond_resched();
	/* Nothing went although there was something: the buffer can't be written now. */
	if (!out.done && mctracer_consume_next(&(struct mctracer_next) {}))
		ret = -EFAULT;
	mctracer_consume_end();
	return out.done ?: ret;
}

static ssize_t pipe_read(struct file *file, char __user *buf, size_t count, loff_t *pos)
{
	struct pipe_reader *reader = file->private_data;
	ssize_t ret;

	if (!count)
		return 0;
	for (;;) {
		if (mutex_lock_interruptible(&reader->mutex))
			return -ERESTARTSYS;
		ret = put_lines(reader, buf, count);
		mutex_unlock(&reader->mutex);
		if (ret <= 0 && signal_pending(current))
			return -ERESTARTSYS;
		if (ret == -EFAULT) {
			count = mctracer_fault_in(buf, count);
			if (!count)
				return -EFAULT;
			continue;
		}
		if (ret)
			return ret;

		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		ret = wait_for_records();
		if (ret)
			return ret;
	}
}

static __poll_t pipe_poll(struct file *file, struct poll_table_struct *table)
{
	struct pipe_reader *reader = file->private_data;

	poll_wait(file, &waiting, table);
	look_soon();	/* in any case: who is told of edges only does not ask again */
	if (READ_ONCE(reader->rest_length) || mctracer_anything_to_consume())
		return EPOLLIN | EPOLLRDNORM;
	return 0;
}

static int pipe_open(struct inode *inode, struct file *file)
{
	struct pipe_reader *reader;
	int ret;

	ret = mctracer_may_open();
	if (ret)
		return ret;
	reader = kzalloc(sizeof(*reader), GFP_KERNEL);
	if (!reader)
		return -ENOMEM;
	reader->text = mctracer_text_alloc();
	if (!reader->text) {
		kfree(reader);
		return -ENOMEM;
	}
	mutex_init(&reader->mutex);
	file->private_data = reader;
	return stream_open(inode, file);
}

static int pipe_release(struct inode *inode, struct file *file)
{
	struct pipe_reader *reader = file->private_data;

	mctracer_text_free(reader->text);
	kfree(reader);
	return 0;
}

const struct file_operations mctracer_pipe_fops = {
	.owner		= THIS_MODULE,
	.open		= pipe_open,
	.read		= pipe_read,
	.poll		= pipe_poll,
	.release	= pipe_release,
};
