// SPDX-License-Identifier: GPL-2.0
/*
 * per_cpu/cpuN/raw: a CPU's records in the form of uapi/linux/mctracer.h. Reading
 * takes them away; a mapping shows the ring itself.
 */
#include <linux/fs.h>
#include <linux/kallsyms.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/sched/signal.h>
#include <linux/vmalloc.h>

#include "debugfs.h"
#include "mctracer.h"

static struct mctracer_ring *ring_of(struct file *file)
{
	return per_cpu_ptr(&mctracer_rings, mctracer_inode_cpu(file_inode(file)));
}

static ssize_t consume(struct mctracer_ring *ring, char __user *buf, size_t count)
{
	ssize_t ret;

	ret = mctracer_lock_to_copy();
	if (ret)
		return ret;
	mctracer_look();
	if (ring->base)
		ret = mctracer_ring_consume_to_user(ring, buf, count, mctracer_is_live());
	mctracer_unlock_copied();
	return ret;
}

static ssize_t raw_read(struct file *file, char __user *buf, size_t count, loff_t *pos)
{
	ssize_t ret;

	if (count < sizeof(struct mctracer_record))
		return -EINVAL;
	for (;;) {
		ret = consume(ring_of(file), buf, count);
		if (ret <= 0 && signal_pending(current))
			return -ERESTARTSYS;
		if (ret != -EFAULT)
			break;
		count = mctracer_fault_in(buf, count);
		if (count < sizeof(struct mctracer_record))
			return -EFAULT;
	}

	if (!ret && file->f_flags & O_NONBLOCK)
		return -EAGAIN;
	return ret;
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
	.owner	= THIS_MODULE,
	.open	= raw_open,
	.read	= raw_read,
	.mmap	= raw_mmap,
};
