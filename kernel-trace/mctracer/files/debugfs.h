/* SPDX-License-Identifier: GPL-2.0 */
/* Helpers that the files of /sys/kernel/debug/mctracer/ share. */
#ifndef _KERNEL_TRACE_MCTRACER_DEBUGFS_H
#define _KERNEL_TRACE_MCTRACER_DEBUGFS_H

#include <linux/fs.h>
#include <linux/poll.h>
#include <linux/uio.h>

/* i_private of a file for all CPUs, and for one CPU: debugfs has only a pointer for it. */
#define MCTRACER_ALL_CPUS_DATA	NULL
#define MCTRACER_CPU_DATA(cpu)	((void *)((unsigned long)(cpu) + 1))

/* Return the CPU of a file's inode, or MCTRACER_ALL_CPUS. */
static inline int mctracer_inode_cpu(const struct inode *inode)
{
	return (int)(unsigned long)inode->i_private - 1;
}

/* Return 0, or the error with which open() of any file must fail. */
int mctracer_may_open(void);

/*
 * Return the written text without the white space around it, to be freed with kfree(); or
 * ERR_PTR(-EINVAL), -ENOMEM or -EFAULT. @pos must be 0, and a write leaves it there, so that an
 * open file can be written again.
 */
char *mctracer_written_word(const char __user *buf, size_t count, loff_t pos);

/*
 * Make the pages of the buffer @to present, 64 KiB at most, before a copy without page faults is
 * tried again. Truncate @to where that fails, and return the bytes that are left.
 */
size_t mctracer_fault_in(struct iov_iter *to);

/* Return the number that was written, 0 or 1, or an error. */
int mctracer_written_bool(const char __user *buf, size_t count, loff_t pos);

/* Copy @length bytes to @to and return true, or copy nothing and return false. */
bool mctracer_put(struct iov_iter *to, const void *from, size_t length);

/*
 * Wait for events, but no longer than a second. Return 0, although there may be none that can be
 * read: an uncommitted one ends the wait, too. Return -ERESTARTSYS on a signal.
 */
int mctracer_wait_for_calls(void);
/* Return what poll() returns for the events of CPU @only or of all. */
__poll_t mctracer_poll(struct file *file, struct poll_table_struct *table, int only);

/* Call seq_read() without recording its calls: those of each line would soon fill the ring. */
ssize_t mctracer_seq_read(struct file *file, char __user *buf, size_t count, loff_t *pos);
/* Call seq_lseek() likewise: it makes all the text before the offset. */
loff_t mctracer_seq_lseek(struct file *file, loff_t offset, int whence);
/* The same, but not for a file opened only for writing: it has no seq_file. */
loff_t mctracer_trace_llseek(struct file *file, loff_t offset, int whence);

/* Create the files that are lists, in @dir. */
void mctracer_create_lists(struct dentry *dir);
/* The directory, once a late_initcall() of debugfs.c has created it. */
extern struct dentry *mctracer_dir;

extern const struct file_operations mctracer_trace_fops;
extern const struct file_operations mctracer_snapshot_fops;
extern const struct file_operations mctracer_pipe_fops;
extern const struct file_operations mctracer_raw_fops;

#endif /* _KERNEL_TRACE_MCTRACER_DEBUGFS_H */
