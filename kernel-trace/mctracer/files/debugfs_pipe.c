// SPDX-License-Identifier: GPL-2.0
/* trace_pipe: the events of all CPUs as text, in time order. Reading consumes them. */
#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/kallsyms.h>
#include <linux/seq_buf.h>
#include <linux/slab.h>
#include <linux/splice.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

#include "../control/consume.h"
#include "../control/control.h"
#include "../record/record.h"
#include "../ring/cursor.h"
#include "debugfs.h"
#include "text.h"

struct pipe_reader {
	struct mutex mutex;	/* serializes users of the open file */
	struct mctracer_text *text;
	/* The rest of a line that was longer than the reader's buffer. */
	const char *rest;
	size_t rest_length;
};

/*
 * Copy @line, or as much of it as fits if the buffer is @empty. Return false if nothing was copied.
 */
static bool pipe_put_line(struct pipe_reader *reader, struct iov_iter *to, bool empty,
			  const struct seq_buf *line)
{
	size_t length = min(line->len, iov_iter_count(to));

	if (length < line->len && !empty)
		return false;
	if (!mctracer_put(to, line->buffer, length))
		return false;
	reader->rest = line->buffer + length;
	reader->rest_length = line->len - length;
	return true;
}

/* Consume the next event as a line. Return false if that is impossible now. */
static bool pipe_put_next(struct pipe_reader *reader, struct iov_iter *to, bool empty)
{
	const struct mctracer_stream *next;
	int cpu;

	if (!iov_iter_count(to) || reader->rest_length)
		return false;
	next = mctracer_consume_next(&cpu);
	if (!next || !pipe_put_line(reader, to, empty,
				    mctracer_text_event(reader->text, next, cpu)))
		return false;
	mctracer_consume_take(cpu);
	mctracer_last_reader = reader;
	return true;
}

/*
 * Consume events for no longer than mctracer_time_is_up() allows, or until a call's frames are
 * complete. Return the bytes copied, 0 if there is no event, -EFAULT or -ERESTARTSYS.
 */
static ssize_t pipe_put_lines(struct pipe_reader *reader, struct iov_iter *to)
{
	CLASS(mctracer_own_work, own)();
	const size_t room = iov_iter_count(to);
	size_t length = min(reader->rest_length, room);
	unsigned long start;
	ssize_t done;
	bool good;
	int ret, cpu;

	if (length) {
		pagefault_disable();	/* a fault could block other users of the file */
		good = mctracer_put(to, reader->rest, length);
		pagefault_enable();
		if (!good)
			return -EFAULT;
		reader->rest += length;
		reader->rest_length -= length;
	}
	ret = mctracer_consume_begin();
	if (ret)
		return length ?: ret;
	/* If anybody else has consumed or cleared events, calls have ended that seem to be open. */
	if (mctracer_last_reader != reader)
		mctracer_text_rewind(reader->text);
	start = jiffies;
	while (pipe_put_next(reader, to, iov_iter_count(to) == room) &&
	       !signal_pending(current) &&
	       (!mctracer_time_is_up(start) || mctracer_consume_chain()))
		mctracer_cond_resched();
	done = room - iov_iter_count(to);
	/* Nothing was copied although there is an event: the buffer can't be written now. */
	if (!done && mctracer_consume_next(&cpu))
		ret = -EFAULT;
	mctracer_consume_end();
	return done ?: ret;
}

static ssize_t pipe_read(struct kiocb *iocb, struct iov_iter *to)
{
	struct pipe_reader *reader = iocb->ki_filp->private_data;
	ssize_t ret;

	if (!iov_iter_count(to))
		return 0;
	for (;;) {
		if (mutex_lock_interruptible(&reader->mutex))
			return -ERESTARTSYS;
		ret = pipe_put_lines(reader, to);
		mutex_unlock(&reader->mutex);
		if (ret <= 0 && signal_pending(current))
			return -ERESTARTSYS;
		if (ret == -EFAULT) {
			if (!mctracer_fault_in(to))
				return -EFAULT;
			continue;
		}
		if (ret)
			return ret;

		if (iocb->ki_filp->f_flags & O_NONBLOCK)
			return -EAGAIN;
		ret = mctracer_wait_for_calls();
		if (ret)
			return ret;
	}
}

/* If asked not to wait, don't: copy_splice_read() would wait for events with the pipe locked. */
static ssize_t pipe_splice(struct file *file, loff_t *pos, struct pipe_inode_info *pipe,
			   size_t length, unsigned int flags)
{
	struct pipe_reader *reader = file->private_data;

	if (flags & SPLICE_F_NONBLOCK && !READ_ONCE(reader->rest_length) &&
	    !mctracer_anything_to_consume(MCTRACER_ALL_CPUS))
		return -EAGAIN;
	return copy_splice_read(file, pos, pipe, length, flags);
}

static __poll_t pipe_poll(struct file *file, struct poll_table_struct *table)
{
	struct pipe_reader *reader = file->private_data;
	__poll_t ready = mctracer_poll(file, table, MCTRACER_ALL_CPUS);

	return READ_ONCE(reader->rest_length) ? EPOLLIN | EPOLLRDNORM : ready;
}

static int pipe_open(struct inode *inode, struct file *file)
{
	struct pipe_reader *reader;
	int ret;

	ret = mctracer_may_open() ?: mctracer_consume_prepare();
	if (ret)
		return ret;
	reader = kzalloc(sizeof(*reader), GFP_KERNEL);
	if (!reader)
		return -ENOMEM;
	reader->text = mctracer_text_alloc(kallsyms_show_value(file->f_cred), false);
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
	.read_iter	= pipe_read,
	.splice_read	= pipe_splice,
	.poll		= pipe_poll,
	.release	= pipe_release,
};
