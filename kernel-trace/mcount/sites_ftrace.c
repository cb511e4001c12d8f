// SPDX-License-Identifier: GPL-2.0
/*
 * Call sites with CONFIG_FUNCTION_TRACER: ftrace owns and patches them. mcount has a struct
 * ftrace_ops for the stub and others for the pre-handler, and sets which functions call each.
 *
 * Each ftrace_ops has its own trampoline. ftrace makes a site call it directly if no other ops
 * wants the function: then the call leads from the site straight to the stub, so the stack and the
 * registers are those that asm/mcount.h describes.
 *
 * If other ops want the function, too, the site calls ftrace_regs_caller, which calls them all one
 * after another, and mcount's mcount_ftrace_call() among them. mcount_ftrace_call() asks ftrace for
 * what BPF's trampolines get in this case: when all ops were called and the registers are restored,
 * ftrace continues at the stub as if the site had called the stub. That is impossible where BPF has
 * asked for this first, and forbidden where another user makes the function continue elsewhere, as
 * live patches and error injection do. In both cases mcount_ftrace_call() calls the plain hook
 * itself. If ops that are called later redirect the function, the hook misses the call.
 *
 * Functions can be selected anew while the hook is called: first the ops of the next pre-handler
 * are registered, then the functions of the hook's ops change, then the ops of the previous
 * pre-handler are unregistered. So a function that is in both selections calls all the time. A
 * function that two ops want meanwhile continues where the last of them requests: it makes one
 * call.
 *
 * Addresses of a module's functions stay on the lists when the module is unloaded. They have no
 * effect until another module is loaded in its place, and before any of its code runs functions are
 * selected anew.
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

/* Protects the variables below. Taken inside mcount_mutex; ftrace's locks are taken inside it. */
static DEFINE_MUTEX(sites_mutex);
/* True if functions must call the stub or the pre-handler. */
static bool calls;
/* The error because of which they do not; or 0. */
static int error;
/* The selection of the registered hook, called or not. */
static const struct mcount_selection *selection;

/*
 * A selection as lists: in @sites, functions that call the hook, the pre-handler, and nothing
 * follow each other.
 */
struct selected_sites {
	const struct mcount_selection *by;
	unsigned long *sites;
	size_t nr_hook, nr_pre_handler, nr, room;
	bool all_but;	/* all functions but the last two kinds call the hook */
	bool called;	/* some of the sites call the hook or the pre-handler now */
};

/* The @all_but of the hook's ops, while they are registered. */
static bool all_but;

static const char pre_handler_is_missed[] = KERN_WARNING
	pr_fmt("the pre-handler of %pS is not called: BPF or a live patch has the function\n");

/*
 * The function of mcount's ops if the site calls other ops, too. With preemption disabled, in any
 * context.
 */
static void mcount_ftrace_call(unsigned long site, unsigned long parent_ip, struct ftrace_ops *ops,
			       struct ftrace_regs *fregs)
{
	const bool pre_handler = ops->trampoline == (unsigned long)arch_mcount_pre_handler;
	const unsigned long ip = site + MCOUNT_SITE_SIZE;

	if (!ftrace_goes_elsewhere(site) && arch_mcount_ftrace_call(fregs, ip, pre_handler))
		return;
	if (!pre_handler) {
		READ_ONCE(mcount_hook)(ip, parent_ip);
		return;
	}
	if (mcount_no_pre_handler == READ_ONCE(mcount_pre_handler))
		return;
	if (!IS_ENABLED(CONFIG_MCOUNT_RETHOOK) || !mcount_rethook_plain(site, parent_ip))
		printk_deferred_once(pre_handler_is_missed, (void *)site);
}

NOKPROBE_SYMBOL(mcount_ftrace_call);

/*
 * FTRACE_OPS_FL_DYNAMIC makes ftrace wait until no CPU uses the ops any more.
 * FTRACE_OPS_FL_PERMANENT keeps kernel.ftrace_enabled at 1.
 */
#define SITES_OPS(stub) {							\
	.func = mcount_ftrace_call,						\
	.trampoline = (unsigned long)(stub),					\
	.flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_DYNAMIC |		\
		 FTRACE_OPS_FL_PERMANENT,					\
}

static struct ftrace_ops hook_ops = SITES_OPS(arch_mcount_stub);
static struct ftrace_ops pre_handler_ops[] = {
	SITES_OPS(arch_mcount_pre_handler),
	SITES_OPS(arch_mcount_pre_handler),
};

static struct ftrace_ops *current_pre_handler_ops = pre_handler_ops;

/* Return what @site must do for @of: catching its return needs the pre-handler. */
static enum mcount_site mcount_ftrace_kind(const struct mcount_selection *of, unsigned long site)
{
	const unsigned long at = mcount_sees_returns(of) ? mcount_rethook_site(site) : 0;

	return at && of->return_kind(at) != MCOUNT_NOTHING ? MCOUNT_PRE_HANDLER : of->kind(site);
}

/*
 * Append @site to the list of its kind. The first site of each later list moves to the end of that
 * list to make room.
 */
static int mcount_ftrace_add_site(unsigned long site, void *data)
{
	struct selected_sites *next = data;
	enum mcount_site kind;
	unsigned long *more;
	size_t behind_pre_handler;

	if (next->nr == next->room) {
		next->room = 2 * next->room ?: PAGE_SIZE / sizeof(*more);
		more = kvrealloc(next->sites, next->room * sizeof(*more), GFP_KERNEL);
		if (!more)
			return -ENOMEM;
		next->sites = more;
	}
	next->sites[next->nr++] = site;
	kind = mcount_ftrace_kind(next->by, site);
	if (kind == MCOUNT_NOTHING)
		return 0;

	behind_pre_handler = next->nr_hook + next->nr_pre_handler;
	swap(next->sites[next->nr - 1], next->sites[behind_pre_handler]);
	if (kind == MCOUNT_PRE_HANDLER) {
		next->nr_pre_handler++;
		return 0;
	}
	swap(next->sites[behind_pre_handler], next->sites[next->nr_hook]);
	next->nr_hook++;
	return 0;
}

static int mcount_ftrace_select(struct selected_sites *next, const struct mcount_selection *of)
{
	int ret;

	*next = (struct selected_sites) { .by = of, .all_but = true };
	if (!of || !of->kind)
		return 0;
	ret = ftrace_walk_locations(NULL, mcount_ftrace_add_site, next);
	if (ret)
		return ret;
	/* Use the shorter list. A module can't leave out functions by address. */
	next->all_but = !__is_defined(MODULE) && next->nr_hook > next->nr / 2;
	return 0;
}

static int mcount_ftrace_set_filter(struct ftrace_ops *ops, unsigned long *sites, size_t nr)
{
	return ftrace_set_filter_ips(ops, sites, nr, 0, 1);
}

static int mcount_ftrace_set_notrace(struct ftrace_ops *ops, unsigned long *sites, size_t nr)
{
	return ftrace_set_notrace_ips(ops, sites, nr, 0, 1);
}

/*
 * Unregister, and empty both lists; ftrace_free_filter() must not be used for ops that are used
 * again.
 */
static void mcount_ftrace_unregister(struct ftrace_ops *ops)
{
	if (ops->flags & FTRACE_OPS_FL_ENABLED)
		unregister_ftrace_function(ops);
	mcount_ftrace_set_filter(ops, NULL, 0);
	mcount_ftrace_set_notrace(ops, NULL, 0);
}

/* An empty filter means all functions to ftrace: without any function, do not register. */
static int mcount_register_pre_handler(struct ftrace_ops *ops, const struct selected_sites *next)
{
	int ret;

	if (!next->nr_pre_handler)
		return 0;
	ret = mcount_ftrace_set_filter(ops, next->sites + next->nr_hook, next->nr_pre_handler) ?:
	      register_ftrace_function(ops);
	if (ret)
		mcount_ftrace_unregister(ops);
	return ret;
}

/*
 * Empty the list of functions that do not call the hook, if @all_but, else the list of those that
 * do.
 */
static int mcount_ftrace_empty_list(bool all_but)
{
	return all_but ? mcount_ftrace_set_notrace(&hook_ops, NULL, 0) :
	       mcount_ftrace_set_filter(&hook_ops, NULL, 0);
}

static int mcount_ftrace_set_hook_list(const struct selected_sites *next)
{
	if (next->all_but)
		return mcount_ftrace_set_notrace(&hook_ops, next->sites + next->nr_hook,
						 next->nr - next->nr_hook);
	return mcount_ftrace_set_filter(&hook_ops, next->sites, next->nr_hook);
}

static int mcount_ftrace_register_hook(const struct selected_sites *next)
{
	int ret = mcount_ftrace_set_hook_list(next) ?: mcount_ftrace_empty_list(!next->all_but) ?:
		  register_ftrace_function(&hook_ops);

	if (ret)
		mcount_ftrace_unregister(&hook_ops);
	all_but = next->all_but;
	return ret;
}

static void mcount_ftrace_unset(void)
{
	mcount_ftrace_unregister(&hook_ops);
	mcount_ftrace_unregister(current_pre_handler_ops);
}

/* Neither the new nor the old selection can be set: make no function call, rather than some. */
static void mcount_ftrace_give_up(int why)
{
	mcount_ftrace_unset();
	if (ftrace_is_dead()) {
		pr_err_once("ftrace is dead: call sites stay as they are\n");
		return;
	}
	calls = false;
	WRITE_ONCE(error, why);
	pr_err("no function calls a hook any more\n");
}

/*
 * Change the functions of the hook's ops while the hook is called. If the next selection uses the
 * other one of the two lists, the present list stays until the new one is in effect, so that the
 * functions in both selections call all the time. It also stays until no CPU can have seen the new
 * list empty: ops with both lists empty want all functions.
 */
static int mcount_ftrace_change_hook(const struct selected_sites *next)
{
	int ret = mcount_ftrace_set_hook_list(next);

	if (ret || next->all_but == all_but)
		return ret;
	synchronize_rcu();
	ret = mcount_ftrace_empty_list(all_but);
	if (!ret)
		all_but = next->all_but;
	else if (mcount_ftrace_empty_list(next->all_but))
		mcount_ftrace_give_up(ret);
	return ret;
}

static int mcount_ftrace_set_hook(const struct selected_sites *next)
{
	if (!next->all_but && !next->nr_hook) {
		mcount_ftrace_unregister(&hook_ops);
		return 0;
	}
	if (!(hook_ops.flags & FTRACE_OPS_FL_ENABLED))
		return mcount_ftrace_register_hook(next);
	return mcount_ftrace_change_hook(next);
}

static int mcount_ftrace_set_both(struct ftrace_ops *pre_handler, const struct selected_sites *next)
{
	int ret = mcount_register_pre_handler(pre_handler, next);

	if (ret)
		return ret;
	ret = mcount_ftrace_set_hook(next);
	if (!ret && ftrace_is_dead())
		ret = -ENODEV;
	if (ret)
		mcount_ftrace_unregister(pre_handler);
	return ret;
}

/*
 * Try again if a module is unloaded meanwhile, which makes the addresses of its functions invalid.
 */
static int mcount_ftrace_try_set(struct ftrace_ops *pre_handler, const struct mcount_selection *of)
{
	struct selected_sites next;
	int tries = 3, ret;

	do {
		ret = mcount_ftrace_select(&next, of) ?: mcount_ftrace_set_both(pre_handler, &next);
		kvfree(next.sites);
	} while (ret == -EINVAL && --tries);
	return ret == -EINVAL ? -EAGAIN : ret;
}

/* Make the functions that @of selects call the hook or the pre-handler. */
static int mcount_ftrace_set(const struct mcount_selection *of)
{
	struct ftrace_ops *pre_handler = current_pre_handler_ops == pre_handler_ops ?
					 pre_handler_ops + 1 : pre_handler_ops;
	int ret = mcount_ftrace_try_set(pre_handler, of);

	if (ret) {
		pr_err("ftrace can't make functions call the hook: %pe%s\n", ERR_PTR(ret),
		       ret == -EBUSY ? ", kernel.ftrace_enabled is 0" : "");
		return ret;
	}
	mcount_ftrace_unregister(current_pre_handler_ops);
	current_pre_handler_ops = pre_handler;
	return 0;
}

int mcount_sites_set(bool call, const struct mcount_selection *new_selection, bool again)
{
	int ret = 0;

	guard(mutex)(&sites_mutex);
	if (call && (!calls || selection != new_selection || again)) {
		if (IS_ENABLED(CONFIG_MCOUNT_RETHOOK))
			ret = mcount_rethook_prepare(new_selection);
		ret = ret ?: mcount_ftrace_set(new_selection);
		if (ret)
			return ret;
	} else if (!call && calls) {
		mcount_ftrace_unset();
	}
	calls = call;
	selection = new_selection;
	WRITE_ONCE(error, 0);
	return 0;
}

int mcount_sites_error(void)
{
	return READ_ONCE(error);
}

const char *mcount_sites_restriction(void)
{
	return ftrace_is_dead() ? "ftrace is dead: no call site can be changed any more" : NULL;
}

unsigned long mcount_function_site(unsigned long func)
{
	return ftrace_location_range(func, func + MCOUNT_SITE_OFFSET);
}

#ifdef CONFIG_MODULES
/*
 * Return true if @ops wants @site. ftrace_ops_test() checks that its last argument, the registers,
 * is not NULL, but does not use the registers.
 */
static bool mcount_ftrace_wants(struct ftrace_ops *ops, unsigned long site)
{
	return ops->flags & FTRACE_OPS_FL_ENABLED && ftrace_ops_test(ops, site, ops);
}

/* Return what ftrace makes @site call for mcount, once its module runs. */
static enum mcount_site mcount_ftrace_kind_now(unsigned long site)
{
	if (mcount_ftrace_wants(current_pre_handler_ops, site))
		return MCOUNT_PRE_HANDLER;
	return mcount_ftrace_wants(&hook_ops, site) ? MCOUNT_HOOK : MCOUNT_NOTHING;
}

/* Append @site to the list of its kind if its kind must change. */
static int mcount_ftrace_add_changed(unsigned long site, void *data)
{
	struct selected_sites *changed = data;
	const enum mcount_site now = mcount_ftrace_kind_now(site);

	if (now == mcount_ftrace_kind(changed->by, site))
		return 0;
	changed->called |= now != MCOUNT_NOTHING;
	return mcount_ftrace_add_site(site, changed);
}

static bool mcount_ftrace_is_on(const struct ftrace_ops *ops)
{
	return ops->flags & FTRACE_OPS_FL_ENABLED;
}

/* Return true if the sites of @changed only begin to call, and the ops for that are in use. */
static bool mcount_ftrace_can_add(const struct selected_sites *changed)
{
	return !changed->called &&
	       (!changed->nr_pre_handler || mcount_ftrace_is_on(current_pre_handler_ops)) &&
	       (!changed->nr_hook || (mcount_ftrace_is_on(&hook_ops) && !all_but));
}

static int mcount_ftrace_add_to(struct ftrace_ops *ops, unsigned long *sites, size_t nr)
{
	return nr ? ftrace_set_filter_ips(ops, sites, nr, 0, 0) : 0;
}

/*
 * Change the sites of @changed, all of one module. Most often they only begin to call something:
 * then add them to the others, in time that does not depend on a grace period.
 */
static int mcount_ftrace_set_changed(const struct selected_sites *changed)
{
	if (!mcount_ftrace_can_add(changed))
		return mcount_ftrace_set(selection);
	return mcount_ftrace_add_to(current_pre_handler_ops, changed->sites + changed->nr_hook,
				    changed->nr_pre_handler) ?:
	       mcount_ftrace_add_to(&hook_ops, changed->sites, changed->nr_hook);
}

/*
 * Called before the module's first instruction runs. If all functions are selected, ftrace handles
 * the module by itself. Otherwise the lists may contain addresses of an earlier module. Most
 * modules have no selected function, and then nothing changes.
 */
static int mcount_ftrace_module_event(struct notifier_block *nb, unsigned long event, void *data)
{
	struct selected_sites changed = {};
	struct module *mod = data;
	int ret;

	if (event != MODULE_STATE_COMING)
		return NOTIFY_DONE;
	guard(mutex)(&sites_mutex);
	changed.by = selection;
	if (!calls || !selection || !selection->kind)
		return NOTIFY_DONE;
	/* A dead ftrace has not found the module's call sites. */
	ret = ftrace_is_dead() ? -ENODEV :
				 ftrace_walk_locations(mod, mcount_ftrace_add_changed, &changed);
	if (!ret && changed.nr)
		ret = mcount_ftrace_set_changed(&changed);
	kvfree(changed.sites);
	if (ret) {
		pr_err("the functions of %s can't be selected\n", mod->name);
		mcount_ftrace_give_up(ret);
	}
	return NOTIFY_OK;
}

/* Before other notifiers, which may look at the text. */
static struct notifier_block module_notifier = {
	.notifier_call	= mcount_ftrace_module_event,
	.priority	= MCOUNT_MODULE_PRIORITY,
};

static int __init mcount_ftrace_init(void)
{
	return register_module_notifier(&module_notifier);
}
early_initcall(mcount_ftrace_init);
#endif /* CONFIG_MODULES */
