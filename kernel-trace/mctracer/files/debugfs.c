// SPDX-License-Identifier: GPL-2.0
/*
 * The directory /sys/kernel/debug/mctracer/, and its files that have no source file of their own:
 *
 *   # sysctl kernel.mcount_enabled=1
 *   # echo 1 > ctrl			register the tracer's hook
 *   # cat ctrl
 *   1
 *   # echo 0 > ctrl			unregister it
 *   # cat trace			all CPUs' events, in time order
 *   # cat per_cpu/cpu1/trace		one CPU's events
 *   # echo > trace			clear the rings
 *   # cat stats			counts for each CPU
 *   # echo 4096 > buffer_size_kb	resize each CPU's ring
 *   # echo nooverwrite > options	keep the oldest calls of a full ring
 *   # echo 1234 > pid			record this process only
 *   # echo 'vfs_*' > filter		record these functions only
 *   # echo vfs_read > notrace		except this one
 *   # cat functions			list all traceable functions
 *   # echo do_exit:stacktrace:5 > triggers	record its callers, five times
 *   # echo 0 > tracing_on		record nothing for a while
 *   # cat snapshot			the copy that a trigger has made
 *   # echo max_stack > options	find the deepest stack
 *   # cat max_stack			show it
 */
#include <linux/cleanup.h>
#include <linux/cpumask.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/mcount.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "../control/control.h"
#include "../record/record.h"
#include "../record/selected.h"
#include "../ring/cursor.h"
#include "../select/select.h"
#include "debugfs.h"
#include "text.h"

static int debugfs_control_open(struct inode *inode, struct file *file)
{
	return mctracer_may_open();
}

/* ctrl */

static ssize_t ctrl_read(struct file *file, char __user *buf, size_t count, loff_t *pos)
{
	const char *text = mctracer_started() ? "1\n" : "0\n";

	return simple_read_from_buffer(buf, count, pos, text, 2);
}

static ssize_t ctrl_write(struct file *file, const char __user *buf, size_t count, loff_t *pos)
{
	int value, ret = 0;

	value = mctracer_written_bool(buf, count, *pos);
	if (value < 0)
		return value;

	if (value)
		ret = mctracer_start();
	else
		mctracer_stop();
	return ret ?: count;
}

static const struct file_operations ctrl_fops = {
	.owner	= THIS_MODULE,
	.open	= debugfs_control_open,
	.read	= ctrl_read,
	.write	= ctrl_write,
	.llseek	= default_llseek,
};

/* tracing_on */

static ssize_t tracing_on_read(struct file *file, char __user *buf, size_t count, loff_t *pos)
{
	return simple_read_from_buffer(buf, count, pos, mctracer_is_on() ? "1\n" : "0\n", 2);
}

static ssize_t tracing_on_write(struct file *file, const char __user *buf, size_t count,
				loff_t *pos)
{
	int value = mctracer_written_bool(buf, count, *pos);

	if (value < 0)
		return value;
	if (value) {
		mctracer_thaw();
		mctracer_turn_on();
	} else {
		mctracer_turn_off();
	}
	return count;
}

static const struct file_operations on_fops = {
	.owner	= THIS_MODULE,
	.open	= debugfs_control_open,
	.read	= tracing_on_read,
	.write	= tracing_on_write,
	.llseek	= default_llseek,
};

/* buffer_size_kb */

static ssize_t ring_size_read(struct file *file, char __user *buf, size_t count, loff_t *pos)
{
	char text[32];
	int length = scnprintf(text, sizeof(text), "%zu\n", mctracer_ring_bytes() / SZ_1K);

	return simple_read_from_buffer(buf, count, pos, text, length);
}

static ssize_t ring_size_write(struct file *file, const char __user *buf, size_t count, loff_t *pos)
{
	char *word __free(kfree) = mctracer_written_word(buf, count, *pos);
	u64 kb;

	if (IS_ERR(word))
		return PTR_ERR(word);
	if (kstrtou64(word, 10, &kb) || kb > U64_MAX / SZ_1K)
		return -EINVAL;
	return mctracer_set_ring_size(kb * SZ_1K) ?: count;
}

static const struct file_operations size_fops = {
	.owner	= THIS_MODULE,
	.open	= debugfs_control_open,
	.read	= ring_size_read,
	.write	= ring_size_write,
	.llseek	= default_llseek,
};

/* options */

static const char * const option_names[MCTRACER_OPTIONS] = {
	[MCTRACER_OPT_TIME]		= "time",
	[MCTRACER_OPT_CONTEXT]	= "context",
	[MCTRACER_OPT_OVERWRITE]	= "overwrite",
	[MCTRACER_OPT_MAX_STACK]	= "max_stack",
	[MCTRACER_OPT_FREEZE_WARNING]	= "freeze_on_warning",
	[MCTRACER_OPT_FREEZE_HUNG_TASK]	= "freeze_on_hung_task",
	[MCTRACER_OPT_FREEZE_SOFT_LOCKUP]	= "freeze_on_soft_lockup",
	[MCTRACER_OPT_FREEZE_HARD_LOCKUP]	= "freeze_on_hard_lockup",
};

static int options_show(struct seq_file *m, void *v)
{
	int i;

	for (i = 0; i < MCTRACER_OPTIONS; i++)
		seq_printf(m, "%s%s\n", mctracer_option(i) ? "" : "no", option_names[i]);
	return 0;
}

static int options_open(struct inode *inode, struct file *file)
{
	return mctracer_may_open() ?: single_open(file, options_show, NULL);
}

static ssize_t options_write(struct file *file, const char __user *buf, size_t count, loff_t *pos)
{
	char *word __free(kfree) = mctracer_written_word(buf, count, *pos);
	const char *name = word;
	bool on = true;
	int option;

	if (IS_ERR(word))
		return PTR_ERR(word);
	if (str_has_prefix(name, "no")) {
		name += strlen("no");
		on = false;
	}
	option = match_string(option_names, MCTRACER_OPTIONS, name);
	if (option < 0)
		return option;
	return mctracer_set_option(option, on) ?: count;
}

static const struct file_operations options_fops = {
	.owner		= THIS_MODULE,
	.open		= options_open,
	.read		= mctracer_seq_read,
	.write		= options_write,
	.llseek		= mctracer_seq_lseek,
	.release	= single_release,
};

/* mode */

static const char * const modes[] = { "function", "graph" };

static int mode_show(struct seq_file *m, void *v)
{
	seq_printf(m, "%s\n", modes[READ_ONCE(mctracer_graph)]);
	return 0;
}

static int mode_open(struct inode *inode, struct file *file)
{
	return mctracer_may_open() ?: single_open(file, mode_show, NULL);
}

static ssize_t mode_write(struct file *file, const char __user *buf, size_t count, loff_t *pos)
{
	char *word __free(kfree) = mctracer_written_word(buf, count, *pos);
	int mode;

	if (IS_ERR(word))
		return PTR_ERR(word);
	mode = match_string(modes, ARRAY_SIZE(modes), word);
	if (mode < 0)
		return mode;
	return mctracer_set_graph(mode) ?: count;
}

static const struct file_operations mode_fops = {
	.owner		= THIS_MODULE,
	.open		= mode_open,
	.read		= mctracer_seq_read,
	.write		= mode_write,
	.llseek		= mctracer_seq_lseek,
	.release	= single_release,
};

/* max_stack */

static int max_stack_show(struct seq_file *m, void *v)
{
	return mctracer_max_stack_show(m, mctracer_name_address);
}

static int max_stack_open(struct inode *inode, struct file *file)
{
	return mctracer_may_open() ?: single_open(file, max_stack_show, NULL);
}

/* Clear the maximum, whatever text is written, as for trace. */
static ssize_t max_stack_write(struct file *file, const char __user *buf, size_t count,
			       loff_t *pos)
{
	mctracer_max_stack_clear();
	return count;
}

static const struct file_operations max_stack_fops = {
	.owner		= THIS_MODULE,
	.open		= max_stack_open,
	.read		= mctracer_seq_read,
	.write		= max_stack_write,
	.llseek		= mctracer_seq_lseek,
	.release	= single_release,
};

/* stats */

static int stats_show(struct seq_file *m, void *v)
{
	const char *frozen_by = mctracer_frozen_by(), *silence = mctracer_silence();
	struct mctracer_ring_counts counts;
	unsigned long own = 0;
	int cpu;

	if (frozen_by)
		seq_printf(m, "# frozen: %s\n", frozen_by);
	mctracer_show_failure(m);
	if (mctracer_snapshot_has_failed())
		seq_puts(m, "# failed: snapshot: -ENOMEM\n");
	if (silence)
		seq_printf(m, "# not recorded: %s\n", silence);
	guard(mutex)(&mctracer_mutex);
	seq_puts(m, "# cpu entries written overwritten lost recursions read\n");
	for_each_possible_cpu(cpu) {
		counts = mctracer_ring_counts(per_cpu_ptr(&mctracer_rings, cpu));
		seq_printf(m, "%d %llu %llu %llu %llu %lu %llu\n", cpu, counts.entries,
			   counts.written, counts.overwritten, counts.lost,
			   READ_ONCE(*per_cpu_ptr(&mctracer_recursions, cpu)), counts.read);
		own += READ_ONCE(*per_cpu_ptr(&mctracer_own_calls, cpu));
	}
	seq_printf(m, "# own: %lu\n# modules: %u\n", own, mctracer_module_count());
	if (IS_ENABLED(CONFIG_MCOUNT_RETHOOK))
		seq_printf(m, "# returns missed: %lu\n", mcount_returns_missed());
	return 0;
}

static int stats_open(struct inode *inode, struct file *file)
{
	return mctracer_may_open() ?: single_open(file, stats_show, NULL);
}

static const struct file_operations stats_fops = {
	.owner		= THIS_MODULE,
	.open		= stats_open,
	.read		= mctracer_seq_read,
	.llseek		= mctracer_seq_lseek,
	.release	= single_release,
};

/*
 * debugfs_create_file_unsafe() is unsafe only for files that are removed again, and these are not.
 * Files of debugfs_create_file() can be neither mapped nor spliced.
 */
static void __init debugfs_create_cpu_dir(struct dentry *parent, int cpu)
{
	struct dentry *dir;
	char name[16];

	snprintf(name, sizeof(name), "cpu%d", cpu);
	dir = debugfs_create_dir(name, parent);
	debugfs_create_file("trace", 0600, dir, MCTRACER_CPU_DATA(cpu), &mctracer_trace_fops);
	debugfs_create_file_unsafe("raw", 0400, dir, MCTRACER_CPU_DATA(cpu), &mctracer_raw_fops);
}

struct dentry *mctracer_dir;

static int __init mctracer_debugfs_init(void)
{
	struct dentry *dir = debugfs_create_dir("mctracer", NULL);
	struct dentry *per_cpu = debugfs_create_dir("per_cpu", dir);
	int cpu;

	debugfs_create_file("buffer_size_kb", 0600, dir, NULL, &size_fops);
	debugfs_create_file("ctrl", 0600, dir, NULL, &ctrl_fops);
	debugfs_create_file("options", 0600, dir, NULL, &options_fops);
	mctracer_create_lists(dir);
	debugfs_create_file("max_stack", 0600, dir, NULL, &max_stack_fops);
	debugfs_create_file("mode", 0600, dir, NULL, &mode_fops);
	debugfs_create_file("stats", 0400, dir, NULL, &stats_fops);
	debugfs_create_file("snapshot", 0600, dir, NULL, &mctracer_snapshot_fops);
	debugfs_create_file("trace", 0600, dir, MCTRACER_ALL_CPUS_DATA, &mctracer_trace_fops);
	debugfs_create_file("tracing_on", 0600, dir, NULL, &on_fops);
	debugfs_create_file_unsafe("trace_pipe", 0400, dir, NULL, &mctracer_pipe_fops);
	for_each_possible_cpu(cpu)
		debugfs_create_cpu_dir(per_cpu, cpu);
	mctracer_dir = dir;
	return 0;
}
late_initcall(mctracer_debugfs_init);
