// SPDX-License-Identifier: GPL-2.0
/* The hook for each clock. */
#include <linux/kconfig.h>
#include <linux/mcount.h>
#include <linux/preempt.h>

#include "follow.h"
#include "record.h"
#include "selected.h"

/* With static call sites: return true if the called function is recorded. */
static bool hook_site_is_recorded(const unsigned long *ips)
{
	switch (mctracer_ip_kind(ips[0])) {
	case MCOUNT_HOOK:
		return true;
	case MCOUNT_PRE_HANDLER:
		return mctracer_pre_handler_ips((unsigned long)ips);
	}
	return false;
}

/*
 * The hook for other clocks than the cycle counter, and for the time while one of the hooks of
 * hook.c replaces another one. It calls functions, so it saves all registers that they may clobber.
 */
void __mcount_direct mctracer_hook_slow(void)
{
	preempt_disable_notrace();
	if (IS_ENABLED(CONFIG_MCOUNT_DYNAMIC) ||
	    hook_site_is_recorded(mcount_direct_ips()))
		mctracer_emit_call(mcount_direct_ip(), mcount_direct_parent_ip(), NULL, NULL, 0);
	preempt_enable_notrace();
}
