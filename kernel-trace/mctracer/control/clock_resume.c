// SPDX-License-Identifier: GPL-2.0
/* Have all CPUs record how times are converted when the machine resumes. */
#include <linux/init.h>
#include <linux/syscore_ops.h>

#include "../record/record.h"

/*
 * The counter may have restarted while the machine slept. The kernel has already corrected the
 * conversion: invalidate the cached tasks, so that the next call on each CPU records the change.
 */
static void clock_resume(void *unused)
{
	mctracer_invalidate_tasks(false);
}

static const struct syscore_ops clock_ops = {
	.resume	= clock_resume,
};

static struct syscore clock_syscore = {
	.ops	= &clock_ops,
};

static int __init clock_init(void)
{
	register_syscore(&clock_syscore);
	return 0;
}
core_initcall(clock_init);
