// SPDX-License-Identifier: GPL-2.0
/*
 * Functions of compat.h that are specific to Linux 6.1, and replacements for functions that 6.1
 * lacks.
 */
#include <linux/mcount.h>
#include <trace/events/power.h>

#include "compat.h"
#include "base.h"
#include "arch/mcount_steps.h"
#include "mctracer/control/control.h"
#include "mctracer/record/record.h"
#include "mctracer/select/select.h"

/* Take no steps by ORC, whose entries differ in 6.1: the kernel's unwinder does all of them. */
unsigned int mcount_take_steps(struct mcount_place *at, u32 *callers, u32 *stacks,
			       unsigned int *max)
{
	return 0;
}

unsigned int arch_mcount_callers(unsigned long ip, unsigned long parent_ip,
				 const struct mcount_regs *regs, u32 *callers, u32 *stacks,
				 unsigned int max)
{
	bool missed = mctracer_compat_watch();
	unsigned int n = mctracer_compat_callers(ip, parent_ip, regs, callers, stacks, max);

	mctracer_compat_unwatch(missed);
	return n;
}

/*
 * Invalidate the cached task after idle, so that the next call is recorded with its time: in 6.1
 * the functions that a CPU calls after idling are traced.
 */
void mctracer_compat_idles(void *data, unsigned int state, unsigned int cpu)
{
	if (state == (unsigned int)PWR_EVENT_EXIT)
		raw_cpu_write(mctracer_at_mctracer_rings->task, NULL);
}

#ifdef CONFIG_MCOUNT_RETHOOK
static mctracer_compat_returned *returned;

/* 6.1 calls a handler of returns without the return address, and adds nodes one by one. */
static void function_returned(struct rethook_node *node, void *data, struct pt_regs *regs)
{
	returned(node, data, instruction_pointer(regs), regs);
}

struct rethook *mctracer_compat_rethook_alloc(void *data, mctracer_compat_returned *handler,
					      size_t size, int nr)
{
	struct rethook *rethook = static_call(mctracer_rethook_alloc)(data, function_returned);
	struct rethook_node *node;

	if (!rethook)
		return ERR_PTR(-ENOMEM);
	returned = handler;
	while (nr--) {
		node = kzalloc(size, GFP_KERNEL);
		if (!node) {
			static_call(mctracer_rethook_free)(rethook);
			return ERR_PTR(-ENOMEM);
		}
		static_call(mctracer_rethook_add_node)(rethook, node);
	}
	return rethook;
}
#endif /* CONFIG_MCOUNT_RETHOOK */

/* Adapters: 6.1 calls back with the module of each symbol. */
struct seen {
	mctracer_compat_see *see;
	const char *only;
	void *data;
};

static int see(void *data, const char *name, struct module *mod, unsigned long addr)
{
	const struct seen *seen = data;

	if (seen->only && (!mod || strcmp(mod->name, seen->only)))
		return 0;
	return seen->see(seen->data, name, addr);
}

int mctracer_compat_on_each_symbol(mctracer_compat_see *see_symbol, void *data)
{
	struct seen seen = { .see = see_symbol, .data = data };

	return static_call(mctracer_kallsyms_on_each_symbol)(see, &seen);
}

int mctracer_compat_on_modules_symbol(const char *only, mctracer_compat_see *see_symbol, void *data)
{
	struct seen seen = { .see = see_symbol, .only = only, .data = data };

	return static_call(mctracer_module_kallsyms_on_each_symbol)(see, &seen);
}

static size_t size_of(const void *memory)
{
	if (is_vmalloc_addr(memory))
		return get_vm_area_size(static_call(mctracer_find_vm_area)(memory));
	return ksize(memory);
}

void *mctracer_compat_kvrealloc(const void *memory, size_t size, gfp_t gfp)
{
	void *new = kvmalloc(size, gfp);

	if (new && memory) {
		memcpy(new, memory, min(size, size_of(memory)));
		kvfree(memory);
	}
	return new;
}

/* In 6.1 the callback has no argument. The series registers only one. */
static const struct syscore_ops_since_6_1 *resumed;

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

struct sysctl {
	struct ctl_table_header *header;
	struct ctl_table table[];
};

static void undo_sysctl(void *arg)
{
	struct sysctl *sysctl = arg;

	unregister_sysctl_table(sysctl->header);
	kfree(sysctl);
}

/* Register a copy of @table with an empty entry at its end, which 6.1 needs. */
void mctracer_compat_sysctl(const char *path, struct ctl_table *table, size_t size)
{
	struct sysctl *sysctl = kzalloc(struct_size(sysctl, table, size + 1),
					GFP_KERNEL | __GFP_NOFAIL);

	memcpy(sysctl->table, table, size * sizeof(*table));
	sysctl->header = register_sysctl(path, sysctl->table);
	if (sysctl->header)
		mctracer_undo_later(true, undo_sysctl, sysctl);
	else
		kfree(sysctl);
}
