// SPDX-License-Identifier: GPL-2.0
/*
 * per_cpu/cpuN/raw: the words of one CPU in the form of uapi/linux/mctracer.h. Reading consumes
 * them; a mapping shows the ring itself.
 */
#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/kallsyms.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include <linux/vmalloc.h>

#include "../control/consume.h"
#include "../control/control.h"
#include "../record/record.h"
#include "../ring/cursor.h"
#include "../ring/ring.h"
#include "../ring/words.h"
#include "debugfs.h"

#define WORD		MCTRACER_WORD_SIZE

/* Words copied at a time, before the copier checks whether a writer has overwritten them. */
#define CHUNK		768

/* Words copied before their bits 63 are checked. */
#define BATCH		16

static_assert((MCTRACER_STREAM_WORDS + 1 + MCTRACER_SYNC_WORDS) * WORD <= MCTRACER_READ_MIN);

struct raw_reader {
	struct mutex mutex;	/* serializes users of the open file */
	struct mctracer_cursor cursor;
	bool begun;		/* the reader has got the sync words ... */
	u64 pos;		/* ... that the word at this position needs ... */
	u32 moves;		/* ... while the ring's moves is this */
	u64 calls;		/* the count of calls at pos */
	u64 words[CHUNK];	/* for copies to iterators other than a user buffer */
};

static struct mctracer_ring *raw_ring(struct file *file)
{
	return per_cpu_ptr(&mctracer_rings, mctracer_inode_cpu(file_inode(file)));
}

/*
 * Write a gap, if calls are missing, and sync words: the reader begins, or another reader has
 * consumed the next words, or they were overwritten. At the begin MCTRACER_STREAM precedes them.
 * Return 1, 0 if no words follow, or -EFAULT.
 */
static int raw_put_sync_words(struct raw_reader *reader, struct mctracer_ring *ring, bool live,
			      struct iov_iter *to)
{
	struct mctracer_cursor *cursor = &reader->cursor;
	u64 words[MCTRACER_STREAM_WORDS + 1 + MCTRACER_SYNC_WORDS], missed;
	unsigned int n = 0;

	missed = mctracer_consume_from(cursor, ring, live, reader->begun);
	if (!(cursor->state.known & MCTRACER_KNOWS_COUNT) ||
	    (!missed && cursor->pos == mctracer_ring_end(ring)))
		return 0;
	if (reader->begun)
		missed = cursor->state.calls - reader->calls;
	else
		n = mctracer_compose_stream(words, ring->user.cpu);
	if (missed)
		words[n++] = mctracer_meta_word(MCTRACER_GAP, missed | MCTRACER_GAP_OVERWRITTEN);
	n += mctracer_compose_sync_words(&cursor->state, words + n);
	if (!mctracer_put(to, words, n * WORD))
		return -EFAULT;
	reader->begun = true;
	reader->pos = cursor->pos;
	reader->moves = ring->moves;
	reader->calls = cursor->state.calls;
	mctracer_ring_set_read(ring, reader->pos, cursor->state.calls);
	return 1;
}

/*
 * Copy @n words, all of one lap, up to the first uncommitted one. Return how many were copied, and
 * add to @calls how many of these are calls or returns.
 */
static size_t raw_copy_words(u64 *to, const u64 *from, u64 flip, size_t n, size_t *calls)
{
	size_t i;

	for (i = 0; i < n; i++) {
		to[i] = mctracer_slot_load(from + i, flip);
		if (!(to[i] & MCTRACER_WORD_VALID))
			break;					/* V2 */
		*calls += mctracer_word_counts(to[i]);
	}
	return i;
}

/*
 * Copy words like raw_copy_words(), but straight to user space, because most programs just read().
 * Stop at a fault, and set @fault. Batches are copied as long as all of their words are committed,
 * then single words. User memory behind the copied words may get anything.
 */
static size_t raw_copy_words_to_user(u64 __user *to, const u64 *from, u64 flip, size_t n,
				     size_t *calls, bool *fault)
{
	u64 word, all = MCTRACER_WORD_VALID;
	size_t i = 0, j, found;

	*fault = true;
	if (!user_access_begin(to, n * WORD))
		return 0;
	for (; n - i >= BATCH; i += BATCH) {
		found = 0;
#pragma GCC unroll 16
		for (j = 0; j < BATCH; j++) {
			word = mctracer_slot_load(from + i + j, flip);
			unsafe_put_user(word, to + i + j, fault);
			all &= word;
			if (mctracer_word_counts(word))	/* compiles to an add with carry, no jump */
				found++;
		}
		if (!all)
			break;						/* V2 */
		*calls += found;
	}
	for (; i < n; i++) {
		word = mctracer_slot_load(from + i, flip);
		if (!(word & MCTRACER_WORD_VALID))
			break;						/* V2 */
		unsafe_put_user(word, to + i, fault);
		*calls += mctracer_word_counts(word);
	}
	*fault = false;
fault:
	user_access_end();
	return i;
}

/*
 * Return how many of the @n words at @pos make up whole packets: the last packet may continue
 * behind them. It can't at a quarter's boundary, which no packet crosses, or at the @end of the
 * ring's words.
 */
static size_t raw_whole_packets(const struct mctracer_ring *ring, u64 pos, size_t n, u64 end)
{
	u64 word, next = mctracer_position(pos + n * WORD);

	if (next == end || !(next & (mctracer_ring_quarter(ring) - 1)))
		return n;
	for (; n; n--) {
		word = mctracer_ring_load(ring, pos + (n - 1) * WORD);
		if (mctracer_word_counts(word) || mctracer_word_is_meta(word, MCTRACER_MARK))
			return n;
		if (!mctracer_word_precedes_event(word))
			return n - 1;
	}
	return 0;
}

/*
 * Copy words to @to, and consume them. Return a positive number if there may be more, 0 if no words
 * are there now, or -EFAULT.
 */
static long raw_consume_some(struct raw_reader *reader, struct mctracer_ring *ring, bool live,
			     struct iov_iter *to)
{
	const u64 pos = reader->pos, end = mctracer_ring_end(ring);
	const u64 *from = ring->base + (pos & ring->mask);
	const u64 flip = mctracer_ring_flip(ring, pos);
	const bool direct = iter_is_ubuf(to);
	size_t n, room, calls = 0;
	bool fault = false;
	u64 behind;

	n = mctracer_distance(pos, end) / WORD;
	if (!n)
		return 0;
	room = min3(iov_iter_count(to) / WORD, (size_t)CHUNK,
		    (size_t)(mctracer_ring_size(ring) - (pos & ring->mask)) / WORD);
	n = min(n, room);
	if (direct)
		n = raw_copy_words_to_user(to->ubuf + to->iov_offset, from, flip, n, &calls,
					   &fault);
	else
		n = raw_copy_words(reader->words, from, flip, n, &calls);
	n = raw_whole_packets(ring, pos, n, end);	/* drops no call: @calls stays right */
	smp_rmb();	/* R2 */
	behind = mctracer_distance(pos, mctracer_ring_end(ring));
	if (behind > mctracer_ring_size(ring)) {
		reader->pos = mctracer_ring_end(ring);	/* V1: overwritten */
		return 1;
	}
	if (!n && fault)
		return -EFAULT;
	if (!n && (!live || behind > mctracer_ring_size(ring) / 2)) {
		reader->words[0] = mctracer_word(MCTRACER_TIME, 0);	/* never whole */
		if (!mctracer_put(to, reader->words, WORD))
			return -EFAULT;
		n = 1;
	} else if (direct) {
		iov_iter_advance(to, n * WORD);
	} else if (!mctracer_put(to, reader->words, n * WORD)) {
		return -EFAULT;
	}
	ring->nr_read += calls;
	reader->calls += calls;
	reader->pos = mctracer_position(pos + n * WORD);
	mctracer_ring_set_read(ring, reader->pos, ring->read_calls + calls);
	return n;
}

/* Copy words for no longer than mctracer_time_is_up() allows. Return bytes or an error. */
static ssize_t raw_consume(struct raw_reader *reader, struct mctracer_ring *ring,
			   struct iov_iter *to)
{
	CLASS(mctracer_own_work, own)();
	const size_t room = iov_iter_count(to);
	unsigned long start;
	ssize_t ret;
	bool live, noted = false;

	ret = mctracer_lock_to_copy();
	if (ret)
		return ret;
	live = mctracer_may_commit();
	start = jiffies;
	while (ring->base && iov_iter_count(to) >= MCTRACER_READ_MIN &&
	       !signal_pending(current) && !mctracer_time_is_up(start)) {
		mctracer_cond_resched();
		if (reader->begun && reader->pos == ring->user.read &&
		    reader->moves == ring->moves) {
			ret = raw_consume_some(reader, ring, live, to);
		} else {
			ret = raw_put_sync_words(reader, ring, live, to);
			if (!noted)
				/* raw_put_sync_words() may have taken long */
				start = jiffies;
			noted = true;
		}
		if (ret <= 0)
			break;
	}
	if (iov_iter_count(to) < room)
		mctracer_last_reader = reader;
	mctracer_unlock_copied();
	return iov_iter_count(to) < room ? room - iov_iter_count(to) : ret > 0 ? 0 : ret;
}

static ssize_t raw_read(struct kiocb *iocb, struct iov_iter *to)
{
	struct file *file = iocb->ki_filp;
	struct raw_reader *reader = file->private_data;
	ssize_t ret;

	for (;;) {
		if (iov_iter_count(to) < MCTRACER_READ_MIN)
			return -EINVAL;
		if (mutex_lock_interruptible(&reader->mutex))
			return -ERESTARTSYS;
		ret = raw_consume(reader, raw_ring(file), to);
		mutex_unlock(&reader->mutex);
		if (ret <= 0 && signal_pending(current))
			return -ERESTARTSYS;
		if (ret != -EFAULT)
			break;
		if (mctracer_fault_in(to) < MCTRACER_READ_MIN)
			return -EFAULT;
	}

	if (!ret && file->f_flags & O_NONBLOCK)
		return -EAGAIN;
	return ret;
}

static __poll_t raw_poll(struct file *file, struct poll_table_struct *table)
{
	return mctracer_poll(file, table, mctracer_inode_cpu(file_inode(file)));
}

/*
 * A mapping keeps the rings from being replaced by a count, not by memory_mutex (tracer.c): mmap()
 * holds the lock of the address space, and memory_mutex may be held for long.
 */
static void raw_vm_open(struct vm_area_struct *vma)
{
	mctracer_mapped_again();
}

static void raw_vm_close(struct vm_area_struct *vma)
{
	mctracer_unmapped();
}

static vm_fault_t raw_vm_fault(struct vm_fault *vmf)
{
	struct mctracer_ring *ring = raw_ring(vmf->vma->vm_file);
	unsigned long offset = vmf->pgoff << PAGE_SHIFT, pfn;

	if (offset > mctracer_ring_size(ring))
		return VM_FAULT_SIGBUS;
	if (!offset)
		pfn = PHYS_PFN(per_cpu_ptr_to_phys(&ring->user));
	else
		pfn = mctracer_ring_pfn(ring, offset - PAGE_SIZE);
	return vmf_insert_pfn(vmf->vma, vmf->address, pfn);
}

static const struct vm_operations_struct raw_vm_ops = {
	.open	= raw_vm_open,
	.close	= raw_vm_close,
	.fault	= raw_vm_fault,
};

static int raw_mmap(struct file *file, struct vm_area_struct *vma)
{
	int ret;

	if (vma->vm_flags & VM_WRITE)
		return -EPERM;
	ret = mctracer_mapped();
	if (ret)
		return ret;
	if (vma->vm_pgoff ||
	    vma->vm_end - vma->vm_start > PAGE_SIZE + mctracer_ring_size(raw_ring(file))) {
		mctracer_unmapped();
		return -EINVAL;
	}
	vm_flags_mod(vma, VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP, VM_MAYWRITE);
	vma->vm_ops = &raw_vm_ops;
	return 0;
}

/* Words contain addresses: the opener must be allowed to see kernel addresses. */
static int raw_open(struct inode *inode, struct file *file)
{
	struct raw_reader *reader;
	int ret = mctracer_may_open();

	if (ret)
		return ret;
	if (!kallsyms_show_value(file->f_cred))
		return -EPERM;
	reader = kzalloc(sizeof(*reader), GFP_KERNEL);
	if (!reader)
		return -ENOMEM;
	mutex_init(&reader->mutex);
	file->private_data = reader;
	return stream_open(inode, file);
}

static int raw_release(struct inode *inode, struct file *file)
{
	kfree(file->private_data);
	return 0;
}

const struct file_operations mctracer_raw_fops = {
	.owner		= THIS_MODULE,
	.open		= raw_open,
	.read_iter	= raw_read,
	.splice_read	= copy_splice_read,
	.poll		= raw_poll,
	.mmap		= raw_mmap,
	.release	= raw_release,
};
