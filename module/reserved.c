// SPDX-License-Identifier: GPL-2.0
/*
 * Uses memory that "reserve_mem=SIZE:ALIGN:mctracer" on the kernel's command line has reserved:
 * takes from it what an earlier boot has recorded, and places the rings there. Other modules were
 * loaded before this one, so this file also records those, by their symbols.
 */
#include <linux/moduleparam.h>
#include <linux/preempt.h>

#include "base.h"
#include "mctracer/crash/persistent_modules.c"
#include "mctracer/crash/last_boot.h"

#undef pr_fmt
#define pr_fmt(fmt) "mctracer: " fmt

static char *memory = "mctracer";
module_param(memory, charp, 0400);
MODULE_PARM_DESC(memory, "Name of the rings' memory, which reserve_mem= reserves; empty: none");

/* Record @module, whose symbols are complete. */
static __init void reserved_put(struct mctracer_persistent_module *module)
{
	if (!module->size)
		return;
	module->sum = mctracer_persistent_module_sum(module);
	guard(mutex)(&modules_mutex);
	modrec_add(module);
}

/* Describe in @to the module that has @address in its text. Return false if there is none. */
static __init bool reserved_find(struct mctracer_persistent_module *to, unsigned long address)
{
	struct module *mod;

	memset(to, 0, sizeof(*to));
	guard(preempt)();
	mod = __module_text_address(address);
	if (!mod)
		return false;
	to->text = (unsigned long)mod->mem[MOD_TEXT].base;
	to->size = mod->mem[MOD_TEXT].size;
	strscpy(to->name, mod->name);
	return (u32)address - to->text < to->size;	/* else it is in an init function */
}

/* Add a symbol to @data, the module that the symbols before were of, or to the next module. */
static __init int reserved_see_symbol(void *data, const char *name, unsigned long address)
{
	struct mctracer_persistent_module *module = data, next;

	if ((u32)address - module->text >= module->size) {
		if (!reserved_find(&next, address))
			return 0;
		reserved_put(module);
		*module = next;
	}
	return modrec_add_symbol(module, name, address);
}

void __init mctracer_compat_modules_watch(void)
{
	struct mctracer_persistent_module module = {};

	mctracer_persistent_modules_watch();
	if (!modules)
		return;
	mctracer_compat_on_modules_symbol(NULL, reserved_see_symbol, &module);
	reserved_put(&module);
}

static void undo_last_boot(void *nothing)
{
	mctracer_last_boot_clear();
}

static __init int reserved_init(void)
{
	int ret;

	if (!*memory)
		return 0;
	ret = mctracer_persistent_use(memory);
	if (!ret)
		mctracer_undo_later(false, undo_last_boot, NULL);
	else if (ret != -ENOENT || strcmp(memory, "mctracer"))
		pr_warn("the memory \"%s\" can't be used: %pe: rings do not outlive this kernel\n",
			memory, ERR_PTR(ret));
	return 0;
}
/* Linked after the self-test, which would overwrite the memory. */
late_initcall(reserved_init);
