// SPDX-License-Identifier: GPL-2.0
/*
 * per_cpu/cpuN/raw: a CPU's records in the form of uapi/linux/mctracer.h. Reading
 * takes them away; a mapping shows the ring itself.
 */
#include <linux/fs.h>
#include <linux/jiffies.h>
#include <linux/kallsyms.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/sched/signal.h>
#include <linux/uio.h>
#include <linux/vmalloc.h>

#include "debugfs.h"
#include "mctracer.h"

static struct mctracer_ring *ring_of(struct file *file)
{
	return per_cpu_ptr(&mctracer_rings, mctracer_inode_cpu(file_inode(file)));
}

static bool put(struct iov_iter *to, const struct mctracer_record *record)
{
	size_t copied = copy_to_iter(record, sizeof(*record), to);

	if (copied == sizeof(*record))
		return true;
	iov_iter_revert(to, copied);
	return false;
}

/* mctracer_ring_consume_to_user() for what is no plain buffer of user space's. */
static ssize_t consume_to_iter(struct mctracer_ring *ring, struct iov_iter *to, bool live)
{
	const unsigned long start = jiffies;
	struct mctracer_record record, gap;
	ssize_t done = 0;

	while (iov_iter_count(to) >= sizeof(record) && !signal_pending(current) &&
	       !(done && mctracer_time_is_up(start)) &&
	       mctracer_ring_peek(ring, &record, live, done)) {
		mctracer_cond_resched();
		if (ring->missed) {
			gap = mctracer_gap(ring->missed);
			if (!put(to, &gap))
				return done ?: -EFAULT;
			ring->missed = 0;
		} else {
			if (!put(to, &record))
				return done ?: -EFAULT;
			mctracer_ring_consume(ring);
		}
		done += sizeof(record);
	}
	return done;
}

static ssize_t consume(struct file *file, struct iov_iter *to)
{
	struct mctracer_ring *ring = ring_of(file);
	ssize_t ret;

	ret = mctracer_lock_to_copy();
	if (ret)
		return ret;
	mctracer_look();
	if (ring->base && iter_is_ubuf(to)) {
		ret = mctracer_ring_consume_to_user(ring, to->ubuf + to->iov_offset,
						    iov_iter_count(to), mctracer_is_live());
		if (ret > 0)
			iov_iter_advance(to, ret);
	} else if (ring->base) {
		ret = consume_to_iter(ring, to, mctracer_is_live());
	}
	mctracer_unlock_copied();
	return ret;
}

static ssize_t raw_read(struct kiocb *iocb, struct iov_iter *to)
{
	struct file *file = iocb->ki_filp;
	ssize_t ret;

	for (;;) {
		if (iov_iter_count(to) < sizeof(struct mctracer_record))
			return -EINVAL;
		ret = consume(file, to);
		if (ret <= 0 && signal_pending(current))
			return -ERESTARTSYS;
		if (ret != -EFAULT)
			break;
		if (mctracer_fault_in(to) < sizeof(struct mctracer_record))
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
 * A mapping keeps the rings from being replaced, by a count and without the
 * mutex: here the address space is locked, and the mutex may be held for long.
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
	struct mctracer_ring *ring = ring_of(vmf->vma->vm_file);
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
	    vma->vm_end - vma->vm_start > PAGE_SIZE + mctracer_ring_size(ring_of(file))) {
		mctracer_unmapped();
		return -EINVAL;
	}
	vm_flags_mod(vma, VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP, VM_MAYWRITE);
	vma->vm_ops = &raw_vm_ops;
	return 0;
}

/* Records are addresses. */
static int raw_open(struct inode *inode, struct file *file)
{
	int ret = mctracer_may_open();

	if (ret)
		return ret;
	if (!kallsyms_show_value(file->f_cred))
		return -EPERM;
	return stream_open(inode, file);
}

const struct file_operations mctracer_raw_fops = {
	.owner		= THIS_MODULE,
	.open		= raw_open,
	.read_iter	= raw_read,
	.splice_read	= copy_splice_read,
	.poll		= raw_poll,
	.mmap		= raw_mmap,
};
