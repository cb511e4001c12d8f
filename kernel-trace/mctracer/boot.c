// SPDX-License-Identifier: GPL-2.0
/*
 * "mctracer" or "mctracer=SIZE" on the kernel's command line: trace from the
 * early initcalls on, with one CPU running, in rings of SIZE bytes. Earlier, the
 * call sites can't be patched, and there is no memory.
 */
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/mcount.h>
#include <linux/security.h>

#include "mctracer.h"

#undef pr_fmt
#define pr_fmt(fmt) "mctracer: " fmt

static char *request __initdata;	/* NULL: not asked for */

static int __init mctracer_setup(char *arg)
{
	request = arg ?: "";
	return 0;
}
early_param("mctracer", mctracer_setup);

static int __init start(void)
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

	/* What the files ask for, and the sysctl. */
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

	if (!request)
		return 0;

	ret = start();
	if (ret)
		pr_err("\"mctracer=%s\" can't be obeyed: %pe\n", request, ERR_PTR(ret));
	return ret;
}
early_initcall(mctracer_boot);
