// SPDX-License-Identifier: GPL-2.0
/*
 * Count how often modules are loaded and unloaded, and remember each loaded module's count. So a
 * call of an unloaded module does not get a name from a module that was loaded in its place.
 */
#include <linux/cleanup.h>
#include <linux/gfp.h>
#include <linux/init.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/preempt.h>
#include <linux/xarray.h>

#include "record.h"

/* Of each module, by its struct's page: the count at loading. Modules share no pages. */
static DEFINE_XARRAY(module_counts);

static unsigned long module_counts_index(const struct module *mod)
{
	return (unsigned long)mod >> PAGE_SHIFT;
}

bool mctracer_module_was_there(unsigned long address, u32 count)
{
	const struct module *mod;
	void *came;

	guard(preempt_notrace)();	/* keeps the module */
	mod = __module_address(address);
	if (!mod)
		return true;	/* an address of the kernel, or of nothing */
	came = xa_load(&module_counts, module_counts_index(mod));
	/* A module that is being loaded has no count yet; while it is unloaded, no longer. */
	if (!came)
		return mod->state == MODULE_STATE_LIVE;	/* was there before this array */
	return (s32)(count - xa_to_value(came)) >= 0;
}

static int module_counts_event(struct notifier_block *nb, unsigned long event, void *data)
{
	u32 count;

	if (event != MODULE_STATE_COMING && event != MODULE_STATE_GOING)
		return NOTIFY_DONE;
	CLASS(mctracer_own_work, own)();
	count = mctracer_count_modules();
	/* Without its count, a module would give its names to calls of the modules before it. */
	if (event == MODULE_STATE_GOING)
		xa_erase(&module_counts, module_counts_index(data));
	else
		xa_store(&module_counts, module_counts_index(data), xa_mk_value(count & LONG_MAX),
			 GFP_KERNEL | __GFP_NOFAIL);
	return NOTIFY_DONE;
}

static struct notifier_block count_notifier = {
	.notifier_call	= module_counts_event,
	.priority	= INT_MAX,
};

static int __init module_counts_init(void)
{
	return register_module_notifier(&count_notifier);
}
core_initcall(module_counts_init);
