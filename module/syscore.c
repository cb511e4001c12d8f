// SPDX-License-Identifier: GPL-2.0
/* Registers what the series does when the machine resumes. */
#include "compat.h"
#include "base.h"

static void undo_syscore(void *syscore)
{
	unregister_syscore(syscore);
}

void mctracer_compat_syscore(struct syscore *syscore)
{
	register_syscore(syscore);
	mctracer_undo_later(false, undo_syscore, syscore);
}
