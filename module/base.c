// SPDX-License-Identifier: GPL-2.0
/*
 * Calls, from tracepoints and kprobes, the functions of linux/mctracer.h that the series lets the
 * rest of the kernel call. If the kernel lacks one of them, only its purpose is missing.
 */
#include <linux/array_size.h>
#include <linux/kprobes.h>
#include <linux/mctracer.h>
#include <linux/minmax.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "base.h"
#include "mctracer/control/control.h"
#include "mctracer/record/record.h"
#include "mctracer/select/select.h"

#undef pr_fmt
#define pr_fmt(fmt) "mctracer: " fmt

/* Forget @task: another task may get its memory. */
static void freed(void *data, struct task_struct *task)
{
	mctracer_marks_forget(task);
	mctracer_task_changed(task);
}

static void hangs(void *data, struct task_struct *task)
{
	mctracer_may_freeze(MCTRACER_HUNG_TASK, false);
}

/*
 * Freeze the recording if @text is a watchdog's message, because watchdogs have no other
 * tracepoint. Called before the text is shown, in any context. Users can have the kernel print what
 * they like, such as the name of a program that crashed, but not at the beginning of a message.
 */
static void says(void *data, const char *text, size_t len)
{
	if (strncmp(text, "watchdog: ", min(len, strlen("watchdog: "))) &&
	    strncmp(text, "NMI watchdog: ", min(len, strlen("NMI watchdog: "))))
		return;
	if (mctracer_option(MCTRACER_OPT_FREEZE_SOFT_LOCKUP) && strnstr(text, "soft lockup - CPU#", len))
		mctracer_may_freeze(MCTRACER_SOFT_LOCKUP, false);
	if (mctracer_option(MCTRACER_OPT_FREEZE_HARD_LOCKUP) && strnstr(text, "hard LOCKUP on cpu ", len))
		mctracer_may_freeze(MCTRACER_HARD_LOCKUP, false);
}

static struct {
	const char *name;
	void *func;
	struct tracepoint *found;
} points[] = {
	{ "sched_process_free", freed },
	{ "sched_process_hang", hangs },
	{ "console", says },
	MCTRACER_COMPAT_POINTS
};

static void find_point(struct tracepoint *tp, void *unused)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(points); i++)
		if (!strcmp(tp->name, points[i].name))
			points[i].found = tp;
}

/* Give the new task the current task's marks before it runs. Covers tasks of io_uring, too. */
static int forked(struct kprobe *probe, struct pt_regs *regs)
{
	struct task_struct *task = (struct task_struct *)regs_get_kernel_argument(regs, 0);

	mctracer_marks_fork(current, task);
	mctracer_task_changed(task);
	return 0;
}

/* Announce the task again: it has got its new name. */
static int renamed(struct kprobe *probe, struct pt_regs *regs)
{
	mctracer_task_changed((struct task_struct *)regs_get_kernel_argument(regs, 0));
	return 0;
}

static int panics(struct kprobe *probe, struct pt_regs *regs)
{
	mctracer_freeze(MCTRACER_PANIC);
	return 0;
}

static int oopses(struct kprobe *probe, struct pt_regs *regs)
{
	mctracer_freeze(MCTRACER_OOPS);
	return 0;
}

static int warns(struct kprobe *probe, struct pt_regs *regs)
{
	mctracer_may_freeze(MCTRACER_WARNING, false);
	return 0;
}

static struct kprobe probes[] = {
	{ .symbol_name = "wake_up_new_task", .pre_handler = forked },
	{ .symbol_name = "perf_event_comm", .pre_handler = renamed },
	{ .symbol_name = "panic", .pre_handler = panics },
	{ .symbol_name = "oops_enter", .pre_handler = oopses },
	{ .symbol_name = "__warn", .pre_handler = warns },
};

static bool probed[ARRAY_SIZE(probes)];

int mctracer_base_start(void)
{
	int i, ret;

	for_each_kernel_tracepoint(find_point, NULL);
	for (i = 0; i < ARRAY_SIZE(points); i++) {
		ret = points[i].found ?
		      tracepoint_probe_register(points[i].found, points[i].func, NULL) : -ENOENT;
		if (ret) {
			pr_warn("no tracepoint %s: %pe\n", points[i].name, ERR_PTR(ret));
			points[i].found = NULL;
		}
	}
	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		ret = register_kprobe(&probes[i]);
		probed[i] = !ret;
		if (ret)
			pr_warn("no probe at %s: %pe\n", probes[i].symbol_name, ERR_PTR(ret));
	}
	return 0;
}

void mctracer_base_stop(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		if (probed[i])
			unregister_kprobe(&probes[i]);
	for (i = 0; i < ARRAY_SIZE(points); i++)
		if (points[i].found)
			tracepoint_probe_unregister(points[i].found, points[i].func, NULL);
	tracepoint_synchronize_unregister();
}
