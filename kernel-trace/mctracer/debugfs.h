/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of /sys/kernel/debug/mctracer/ have in common. */
#ifndef _KERNEL_TRACE_MCTRACER_DEBUGFS_H
#define _KERNEL_TRACE_MCTRACER_DEBUGFS_H

#include <linux/fs.h>
#include <linux/poll.h>
#include <linux/uio.h>

/*
 * The private data of an inode for all CPUs, and for one: debugfs has only a
 * pointer for it.
 */
#define MCTRACER_ALL_CPUS_DATA	NULL
#define MCTRACER_CPU_DATA(cpu)	((void *)((unsigned long)(cpu) + 1))

/* The CPU of an inode, or MCTRACER_ALL_CPUS. */
static inline int mctracer_inode_cpu(const struct inode *inode)
{
	return (int)(unsigned long)inode->i_private - 1;
}

/* 0, or the error that opening any of the files ends with. */
int mctracer_may_open(void);

/*
 * What could not be copied without page faults is tried again after this, which
 * has the pages of the buffer present, and makes it end where that did not work.
 * It tells how many bytes are left.
 */
size_t mctracer_fault_in(struct iov_iter *to);

/* What was written, 0 or 1, or an error. */
int mctracer_written_bool(const char __user *buf, size_t count, loff_t pos);

/* All of it or, false, nothing. */
bool mctracer_put(struct iov_iter *to, const void *from, size_t length);

/*
 * Wait until there is something to consume. 0 also if there was something before:
 * it may have been one that is not committed; or -ERESTARTSYS.
 */
int mctracer_wait_for_calls(void);
/* What poll() answers of the calls of CPU @only or of all. */
__poll_t mctracer_poll(struct file *file, struct poll_table_struct *table, int only);

/* seq_read(), which is not recorded: what it calls for each line would soon fill the ring. */
ssize_t mctracer_seq_read(struct file *file, char __user *buf, size_t count, loff_t *pos);
/* By seq_file; where a file was only opened to be written there is nothing to seek. */
loff_t mctracer_trace_llseek(struct file *file, loff_t offset, int whence);

/* The files that are lists, in @dir. */
void mctracer_create_lists(struct dentry *dir);
/* The directory last_boot, if rings lie where one may have left something. */
void mctracer_create_last_boot(struct dentry *parent);

extern const struct file_operations mctracer_trace_fops;
extern const struct file_operations mctracer_held_fops;
extern const struct file_operations mctracer_pipe_fops;
extern const struct file_operations mctracer_raw_fops;

#endif /* _KERNEL_TRACE_MCTRACER_DEBUGFS_H */
