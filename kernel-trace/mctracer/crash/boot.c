// SPDX-License-Identifier: GPL-2.0
/*
 * Start the tracer from the kernel's command line. "mctracer" or "mctracer=SIZE": trace from the
 * early initcalls on, with one CPU running, into rings of SIZE bytes. Earlier, call sites can't be
 * patched and there is no memory. "mctracer=@NAME": place the rings in reserved memory, where the
 * next kernel may find them (persistent rings).
 */
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/mcount.h>
#include <linux/security.h>

#include "../control/control.h"
#include "persistent.h"

#undef pr_fmt
#define pr_fmt(fmt) "mctracer: " fmt

/* NULL: not on the command line */
static char *request __initdata;
static char *memory __initdata;

static int __init mctracer_setup(char *arg)
{
	if (arg && *arg == '@')
		memory = arg + 1;
	else
		request = arg ?: "";
	return 0;
}
early_param("mctracer", mctracer_setup);

static int __init boot_start(void)
{
	char *end;
	u64 size;
	int ret;

	if (*request) {
		size = memparse(request, &end);
		ret = *end ? -EINVAL : mctracer_set_ring_size(size);
		if (ret)
			return ret;
	}

	/* Both reasons: the tracer's files check the first, kernel.mcount_enabled the second. */
	ret = security_locked_down(LOCKDOWN_DEBUGFS) ?: security_locked_down(LOCKDOWN_TRACEFS);
	if (ret)
		return ret;

	ret = mctracer_start();
	if (ret)
		return ret;

	ret = mcount_set_enabled(true);
	if (ret)
		mctracer_stop();
	return ret;
}

static int __init mctracer_boot(void)
{
	int ret;

	if (memory) {
		ret = mctracer_persistent_use(memory);
		if (ret)
			pr_warn("\"mctracer=@%s\" can't be obeyed: %pe: rings do not outlive this kernel\n",
				memory, ERR_PTR(ret));
	}
	if (!request)
		return 0;

	ret = boot_start();
	if (ret)
		pr_err("\"mctracer=%s\" can't be obeyed: %pe\n", request, ERR_PTR(ret));
	return ret;
}
early_initcall(mctracer_boot);
