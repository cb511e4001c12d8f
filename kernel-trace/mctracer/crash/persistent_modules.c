// SPDX-License-Identifier: GPL-2.0
/* Record this boot's modules in reserved memory: so the next kernel can name their functions. */
#include <linux/cleanup.h>
#include <linux/jhash.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "../record/record.h"
#include "persistent.h"

static_assert(sizeof_field(struct mctracer_persistent_module, name) >= MODULE_NAME_LEN);
static_assert(MCTRACER_PERSISTENT_MODULES_AT +
	      MCTRACER_PERSISTENT_MODULES * sizeof(struct mctracer_persistent_module) <=
	      MCTRACER_PERSISTENT_RINGS_AT);

/*
 * Protects the variables below. An unloaded module keeps its entry until another module takes its
 * address or the entry: the rings may hold calls of the unloaded one.
 */
static DEFINE_MUTEX(modules_mutex);
static struct mctracer_persistent_module *modules;
/* a copy of modules in reserved memory; or NULL */
static struct mctracer_persistent_module *reserved;
static unsigned int next_module;		/* the entry to replace if the table is full */
static struct mctracer_old_module *old_modules;
static unsigned int nr_old_modules;

/*
 * Add a symbol to the module's sum, which does not depend on the order: until the module's init
 * functions have run, it has a different symbol table.
 */
static int modrec_add_symbol(void *data, const char *name, unsigned long address)
{
	struct mctracer_persistent_module *module = data;
	u32 offset = (u32)address - module->text;

	if (offset < module->size)
		module->symbols += jhash(name, strlen(name), offset);
	return 0;
}

void mctracer_persistent_module_of(struct mctracer_persistent_module *to, struct module *mod)
{
	memset(to, 0, sizeof(*to));
	to->text = (unsigned long)mod->mem[MOD_TEXT].base;
	to->size = mod->mem[MOD_TEXT].size;
	strscpy(to->name, mod->name);
	to->since = mctracer_module_count();
	module_kallsyms_on_each_symbol(mod->name, modrec_add_symbol, to);
	to->sum = mctracer_persistent_module_sum(to);
}

/* Set entry @i of modules, and of its copy. */
static void modrec_set(unsigned int i, const struct mctracer_persistent_module *module)
{
	modules[i] = *module;
	if (reserved)
		reserved[i] = *module;
}

/* Update ->now of the old modules: @new is being loaded if @here, else unloaded. */
static void modrec_match(const struct mctracer_persistent_module *new, bool here)
{
	struct mctracer_old_module *old;

	for (old = old_modules; old < old_modules + nr_old_modules; old++) {
		if (!here && old->now == new->text)
			WRITE_ONCE(old->now, 0);
		else if (here && !strcmp(old->was.name, new->name) &&
			 old->was.size == new->size && old->was.symbols == new->symbols)
			WRITE_ONCE(old->now, new->text);
	}
}

/* Record @new, in place of the modules that had its address. */
static void modrec_add(const struct mctracer_persistent_module *new)
{
	static const struct mctracer_persistent_module none;
	unsigned int i, at = MCTRACER_PERSISTENT_MODULES;
	const struct mctracer_persistent_module *old;

	for (i = 0; i < MCTRACER_PERSISTENT_MODULES; i++) {
		old = &modules[i];
		if (old->size && (old->text - new->text < new->size ||
				  new->text - old->text < old->size))
			modrec_set(i, &none);
		if (!old->size && at == MCTRACER_PERSISTENT_MODULES)
			at = i;
	}
	if (at == MCTRACER_PERSISTENT_MODULES)
		at = next_module++ % MCTRACER_PERSISTENT_MODULES;
	modrec_set(at, new);
}

static int modrec_module_event(struct notifier_block *nb, unsigned long event, void *data)
{
	struct mctracer_persistent_module new;

	if (event != MODULE_STATE_COMING && event != MODULE_STATE_GOING)
		return NOTIFY_DONE;
	mctracer_persistent_module_of(&new, data);
	guard(mutex)(&modules_mutex);
	modrec_match(&new, event == MODULE_STATE_COMING);
	if (event == MODULE_STATE_COMING)
		modrec_add(&new);
	return NOTIFY_DONE;
}

static struct notifier_block module_notifier = {
	.notifier_call	= modrec_module_event,
};

void mctracer_persistent_modules_watch(void)
{
	modules = kvcalloc(MCTRACER_PERSISTENT_MODULES, sizeof(*modules), GFP_KERNEL);
	if (modules)
		register_module_notifier(&module_notifier);
}

void mctracer_persistent_modules_put(struct mctracer_persistent_module *table)
{
	guard(mutex)(&modules_mutex);
	if (!modules)
		return;
	reserved = table;
	memcpy(table, modules, MCTRACER_PERSISTENT_MODULES * sizeof(*modules));
}

void mctracer_persistent_modules_match(struct mctracer_old_module *old, unsigned int n)
{
	const struct mctracer_persistent_module *module;

	guard(mutex)(&modules_mutex);
	old_modules = old;
	nr_old_modules = n;
	for (module = modules; module && module < modules + MCTRACER_PERSISTENT_MODULES; module++)
		if (module->size)
			modrec_match(module, true);
}

void mctracer_persistent_modules_forget(struct mctracer_old_module *old)
{
	guard(mutex)(&modules_mutex);
	if (old_modules == old)
		nr_old_modules = 0;
}
