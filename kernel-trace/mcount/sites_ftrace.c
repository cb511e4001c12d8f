// SPDX-License-Identifier: GPL-2.0
/*
 * Call sites beside ftrace: with CONFIG_FUNCTION_TRACER they are ftrace's, and what they are to
 * call is asked for by a struct ftrace_ops for the stub and another for the gate.
 *
 * Each brings its own trampoline, which ftrace has a site call if nobody else wants to know of
 * the function: then a call leads from the site straight to the stub, so the stack and the
 * registers are those that asm/mcount.h tells of.
 *
 * If others want to know, too, the site calls ftrace_regs_caller, which calls them all one after
 * another, and us in call_in_turn(). What that asks for is what BPF's trampolines get from ftrace
 * in this case: when all were called and the registers are as they were, it goes on at the stub as
 * if the site had called that. It can't where BPF has asked, and must not where somebody has the
 * function go on elsewhere, as live patches do and errors that are injected: then only a plain
 * hook is called, in its turn, unless that is known too late.
 *
 * Functions can be chosen anew while they call: first the next gate's ops come, then those of the
 * hook change, then those of the gate before go. So who is in both choices calls all the time. A
 * function that two of them ask for meanwhile goes on where the last of them says: it is one call.
 *
 * Addresses of a module's functions stay on the lists when it goes. They mean nothing until there
 * is another one in its place, and before any of that runs functions are chosen anew.
 */
#include <linux/cleanup.h>
#include <linux/compiler.h>
#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/mcount.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "../ftrace_internal.h"
#include "../trace.h"
#include "mcount.h"

#undef pr_fmt
#define pr_fmt(fmt) "mcount: " fmt

/* Protects what follows. Taken inside mcount_mutex; ftrace's locks are taken inside of it. */
static DEFINE_MUTEX(sites_mutex);
/* Are functions to call anything? */
static bool calls;
/* Why they do not, though they should; or 0. */
static int error;
/* Which: the registered hook's choice, be it called or not. */
static const struct mcount_choice *choice;

/* Which functions call the hook, the gate, and nobody, one behind the other. */
struct chosen {
	const struct mcount_choice *by;
	unsigned long *sites;
	size_t nr_hook, nr_gate, nr, room;
	bool all_but;	/* The hook is called from all that call neither the gate nor nobody */
};

/* What the hook's ops say now, if they are registered. */
static bool all_but;

static const char gate_is_missed[] = KERN_WARNING
	pr_fmt("the gate of %pS is not called: BPF or a live patch has the function\n");

/* Others are called, too. With preemption disabled, in any context. */
static void call_in_turn(unsigned long site, unsigned long parent_ip, struct ftrace_ops *ops,
			 struct ftrace_regs *fregs)
{
	const bool gate = ops->trampoline == (unsigned long)arch_mcount_gate;
	const unsigned long ip = site + MCOUNT_SITE_SIZE;

	if (!ftrace_goes_elsewhere(site) && arch_mcount_ftrace_call(fregs, ip, gate))
		return;
	if (!gate)
		READ_ONCE(mcount_hook)(ip, parent_ip);
	else
		printk_deferred_once(gate_is_missed, (void *)site);
}

NOKPROBE_SYMBOL(call_in_turn);

/*
 * DYNAMIC has ftrace wait until nobody looks at them any more, PERMANENT has kernel.ftrace_enabled
 * stay 1.
 */
#define SITES_OPS(stub) {							\
	.func = call_in_turn,							\
	.trampoline = (unsigned long)(stub),					\
	.flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_DYNAMIC |		\
		 FTRACE_OPS_FL_PERMANENT,					\
}

static struct ftrace_ops hook_ops = SITES_OPS(arch_mcount_stub);
static struct ftrace_ops gate_ops[] = { SITES_OPS(arch_mcount_gate), SITES_OPS(arch_mcount_gate) };
static struct ftrace_ops *current_gate_ops = gate_ops;

/* Behind the last of its kind: the first of each later kind makes room, and becomes the last. */
static int add_site(unsigned long site, void *data)
{
	struct chosen *next = data;
	enum mcount_site kind;
	unsigned long *more;
	size_t behind_gate;

	if (next->nr == next->room) {
		next->room = 2 * next->room ?: PAGE_SIZE / sizeof(*more);
		more = kvrealloc(next->sites, next->room * sizeof(*more), GFP_KERNEL);
		if (!more)
			return -ENOMEM;
		next->sites = more;
	}
	next->sites[next->nr++] = site;
	kind = next->by->kind(site);
	if (kind == MCOUNT_NOTHING)
		return 0;

	behind_gate = next->nr_hook + next->nr_gate;
	swap(next->sites[next->nr - 1], next->sites[behind_gate]);
	if (kind == MCOUNT_GATE) {
		next->nr_gate++;
		return 0;
	}
	swap(next->sites[behind_gate], next->sites[next->nr_hook]);
	next->nr_hook++;
	return 0;
}

static int choose(struct chosen *next, const struct mcount_choice *of)
{
	int ret;

	*next = (struct chosen) { .by = of, .all_but = true };
	if (!of || !of->kind)
		return 0;
	ret = ftrace_walk_locations(NULL, add_site, next);
	if (ret)
		return ret;
	/* The shorter list. From a module none can be left out by address. */
	next->all_but = !__is_defined(MODULE) && next->nr_hook > next->nr / 2;
	return 0;
}

static int only_for(struct ftrace_ops *ops, unsigned long *sites, size_t nr)
{
	return ftrace_set_filter_ips(ops, sites, nr, 0, 1);
}

static int not_for(struct ftrace_ops *ops, unsigned long *sites, size_t nr)
{
	return ftrace_set_notrace_ips(ops, sites, nr, 0, 1);
}

/* ftrace_free_filter() is for ops that won't be used again. */
static void unregister_ops(struct ftrace_ops *ops)
{
	if (ops->flags & FTRACE_OPS_FL_ENABLED)
		unregister_ftrace_function(ops);
	only_for(ops, NULL, 0);
	not_for(ops, NULL, 0);
}

/* To ftrace, only for no functions would be for all. */
static int register_gate(struct ftrace_ops *ops, const struct chosen *next)
{
	int ret;

	if (!next->nr_gate)
		return 0;
	ret = only_for(ops, next->sites + next->nr_hook, next->nr_gate) ?:
	      register_ftrace_function(ops);
	if (ret)
		unregister_ops(ops);
	return ret;
}

/* The one of those that call it, or of those that do not. */
static int empty_list(bool all_but)
{
	return all_but ? not_for(&hook_ops, NULL, 0) : only_for(&hook_ops, NULL, 0);
}

static int tell_hook(const struct chosen *next)
{
	if (next->all_but)
		return not_for(&hook_ops, next->sites + next->nr_hook, next->nr - next->nr_hook);
	return only_for(&hook_ops, next->sites, next->nr_hook);
}

static int register_hook(const struct chosen *next)
{
	int ret = tell_hook(next) ?: empty_list(!next->all_but) ?:
		  register_ftrace_function(&hook_ops);

	if (ret)
		unregister_ops(&hook_ops);
	all_but = next->all_but;
	return ret;
}

static void unset_sites(void)
{
	unregister_ops(&hook_ops);
	unregister_ops(current_gate_ops);
}

/* Neither what is to call can be had, nor what did: rather none than some. */
static void give_up(int why)
{
	unset_sites();
	if (ftrace_is_dead()) {
		pr_err_once("ftrace is dead: the functions that call go on, others can't\n");
		return;
	}
	calls = false;
	WRITE_ONCE(error, why);
	pr_err("nobody is called any more\n");
}

/*
 * While it is called. Where now the other list is to tell, the one that did goes on until that
 * one holds, too: those that are in both choices call all the time. And until nobody has
 * seen it empty: to whom both are empty all are chosen.
 */
static int change_hook(const struct chosen *next)
{
	int ret = tell_hook(next);

	if (ret || next->all_but == all_but)
		return ret;
	synchronize_rcu();
	ret = empty_list(all_but);
	if (!ret)
		all_but = next->all_but;
	else if (empty_list(next->all_but))
		give_up(ret);
	return ret;
}

static int set_hook(const struct chosen *next)
{
	if (!next->all_but && !next->nr_hook) {
		unregister_ops(&hook_ops);
		return 0;
	}
	if (!(hook_ops.flags & FTRACE_OPS_FL_ENABLED))
		return register_hook(next);
	return change_hook(next);
}

static int set_both(struct ftrace_ops *gate, const struct chosen *next)
{
	int ret = register_gate(gate, next);

	if (ret)
		return ret;
	ret = set_hook(next);
	if (!ret && ftrace_is_dead())
		ret = -ENODEV;
	if (ret)
		unregister_ops(gate);
	return ret;
}

/* A module that goes meanwhile makes its functions' addresses invalid: then once more. */
static int choose_and_set(struct ftrace_ops *gate, const struct mcount_choice *of)
{
	struct chosen next;
	int tries = 3, ret;

	do {
		ret = choose(&next, of) ?: set_both(gate, &next);
		kvfree(next.sites);
	} while (ret == -EINVAL && --tries);
	return ret == -EINVAL ? -EAGAIN : ret;
}

/* Have those call the hook and the gate that @of wants. */
static int set_sites(const struct mcount_choice *of)
{
	struct ftrace_ops *gate = current_gate_ops == gate_ops ? gate_ops + 1 : gate_ops;
	int ret = choose_and_set(gate, of);

	if (ret) {
		pr_err("ftrace has no function call a hook: %pe%s\n", ERR_PTR(ret),
		       ret == -EBUSY ? ", kernel.ftrace_enabled is 0" : "");
		return ret;
	}
	unregister_ops(current_gate_ops);
	current_gate_ops = gate;
	return 0;
}

int mcount_sites_set(bool call, const struct mcount_choice *new_choice, bool again)
{
	int ret;

	guard(mutex)(&sites_mutex);
	if (call && (!calls || choice != new_choice || again)) {
		ret = set_sites(new_choice);
		if (ret)
			return ret;
	} else if (!call && calls) {
		unset_sites();
	}
	calls = call;
	choice = new_choice;
	WRITE_ONCE(error, 0);
	return 0;
}

int mcount_sites_error(void)
{
	return READ_ONCE(error);
}

unsigned long mcount_function_site(unsigned long func)
{
	return ftrace_location_range(func, func + MCOUNT_SITE_OFFSET);
}

unsigned long mcount_next_return(unsigned long addr)
{
	return 0;
}

bool mcount_is_tail(unsigned long site)
{
	return false;
}

#ifdef CONFIG_MODULES
/* Any address will do for the registers, which ftrace does not look at. */
static bool asks_for(struct ftrace_ops *ops, unsigned long site)
{
	return ops->flags & FTRACE_OPS_FL_ENABLED && ftrace_ops_test(ops, site, ops);
}

/* What ftrace has @site call for us, once its module runs. */
static enum mcount_site kind_now(unsigned long site)
{
	if (asks_for(current_gate_ops, site))
		return MCOUNT_GATE;
	return asks_for(&hook_ops, site) ? MCOUNT_HOOK : MCOUNT_NOTHING;
}

/* 1 ends the walk. */
static int differs(unsigned long site, void *of)
{
	const struct mcount_choice *wanted = of;

	return kind_now(site) != wanted->kind(site);
}

/*
 * Before the module's first instruction runs. If all are called from, it is ftrace that knows. Else
 * the lists may have what was there before. Most modules have nothing that is chosen, and nothing
 * is changed for them.
 */
static int module_event(struct notifier_block *nb, unsigned long event, void *data)
{
	struct module *mod = data;
	int ret;

	if (event != MODULE_STATE_COMING)
		return NOTIFY_DONE;
	guard(mutex)(&sites_mutex);
	if (!calls || !choice || !choice->kind ||
	    !ftrace_walk_locations(mod, differs, (void *)choice))
		return NOTIFY_DONE;
	ret = set_sites(choice);
	if (ret) {
		pr_err("the functions of %s can't be chosen\n", mod->name);
		give_up(ret);
	}
	return NOTIFY_OK;
}

/* Before others, that may look at the text. */
static struct notifier_block module_notifier = {
	.notifier_call	= module_event,
	.priority	= MCOUNT_MODULE_PRIORITY,
};

static int __init mcount_sites_init(void)
{
	return register_module_notifier(&module_notifier);
}
early_initcall(mcount_sites_init);
#endif /* CONFIG_MODULES */
