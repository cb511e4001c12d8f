// SPDX-License-Identifier: GPL-2.0
/* Helpers that the files in debugfs share. */
#include <linux/err.h>
#include <linux/fs.h>
#include <linux/minmax.h>
#include <linux/security.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/uio.h>

#include "../record/record.h"
#include "debugfs.h"

/* Under lockdown, debugfs itself refuses writable files only. */
int mctracer_may_open(void)
{
	return security_locked_down(LOCKDOWN_DEBUGFS);
}

size_t mctracer_fault_in(struct iov_iter *to)
{
	size_t count = min_t(size_t, iov_iter_count(to), SZ_64K);

	iov_iter_truncate(to, count - fault_in_iov_iter_writeable(to, count));
	return iov_iter_count(to);
}

bool mctracer_put(struct iov_iter *to, const void *from, size_t length)
{
	size_t copied = copy_to_iter(from, length, to);

	if (copied == length)
		return true;
	iov_iter_revert(to, copied);
	return false;
}

ssize_t mctracer_seq_read(struct file *file, char __user *buf, size_t count, loff_t *pos)
{
	CLASS(mctracer_own_work, own)();

	return seq_read(file, buf, count, pos);
}

loff_t mctracer_seq_lseek(struct file *file, loff_t offset, int whence)
{
	CLASS(mctracer_own_work, own)();

	return seq_lseek(file, offset, whence);
}

char *mctracer_written_word(const char __user *buf, size_t count, loff_t pos)
{
	char *text, *word;

	if (pos || count > PAGE_SIZE)
		return ERR_PTR(-EINVAL);
	text = memdup_user_nul(buf, count);
	if (IS_ERR(text))
		return text;
	if (strlen(text) != count) {
		kfree(text);
		return ERR_PTR(-EINVAL);
	}
	word = strim(text);
	memmove(text, word, strlen(word) + 1);
	return text;
}

int mctracer_written_bool(const char __user *buf, size_t count, loff_t pos)
{
	char *word __free(kfree) = mctracer_written_word(buf, count, pos);
	static const char * const values[] = { "0", "1" };

	if (IS_ERR(word))
		return PTR_ERR(word);
	return match_string(values, ARRAY_SIZE(values), word);
}
