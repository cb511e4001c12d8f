// SPDX-License-Identifier: GPL-2.0
/*
 * Registers what the series does when the machine resumes, in kernels that call it without an
 * argument. The series registers only one function.
 */
#include "compat.h"
#include "base.h"

static const struct mctracer_compat_syscore_ops *resumed;

static void resume(void)
{
	resumed->resume(NULL);
}

static struct syscore_ops syscore_ops = {
	.resume	= resume,
};

static void undo_syscore(void *unused)
{
	unregister_syscore_ops(&syscore_ops);
}

void mctracer_compat_syscore(struct syscore *syscore)
{
	resumed = syscore->ops;
	register_syscore_ops(&syscore_ops);
	mctracer_undo_later(false, undo_syscore, NULL);
}
