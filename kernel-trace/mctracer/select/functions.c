// SPDX-License-Identifier: GPL-2.0
/*
 * Find the functions that the expressions in the files "filter" and "notrace" select.
 *
 * The result of each list is a set of call sites. A walk over all symbols makes the set when the
 * list is written; a walk over a module's symbols updates the set when the module is loaded.
 */
#include <linux/bitops.h>
#include <linux/cleanup.h>
#include <linux/errno.h>
#include <linux/glob.h>
#include <linux/hashtable.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/mcount.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/overflow.h>
#include <linux/preempt.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>

#include <asm/barrier.h>

#include "../record/record.h"
#include "../record/selected.h"
#include "../ring/cursor.h"
#include "expressions.h"
#include "select.h"

#undef pr_fmt
#define pr_fmt(fmt) "mctracer: " fmt

struct walk {
	const struct mctracer_expressions *expressions;
	struct mctracer_hits *hits;
	bool may_end;		/* stop if the task is killed; false while a module is loaded */
	bool returns;		/* find sites before returns, too */
	struct mctracer_hits of_modules;	/* their returns are found after the walk */
};

static struct mctracer_expressions *lists[MCTRACER_FUNCTION_LISTS];	/* NULL: empty */

static const char * const list_names[MCTRACER_FUNCTION_LISTS] = {
	[MCTRACER_FILTER]	= "filter",
	[MCTRACER_NOTRACE]	= "notrace",
};

#ifdef CONFIG_MODULES
static bool function_is_of_module(unsigned long addr, const char *name)
{
	struct module *mod;

	guard(preempt)();
	mod = __module_address(addr);
	return mod && !strcmp(mod->name, name);
}

static bool function_is_in_same_module(unsigned long a, unsigned long b)
{
	struct module *mod;

	guard(preempt)();
	mod = __module_address(a);
	return mod && within_module(b, mod);
}

static int function_each_module_symbol(const char *only,
				       int (*fn)(void *, const char *, unsigned long),
				       void *data)
{
	return module_kallsyms_on_each_symbol(only, fn, data);
}
#else /* !CONFIG_MODULES */
static bool function_is_of_module(unsigned long addr, const char *name)
{
	return false;
}

static bool function_is_in_same_module(unsigned long a, unsigned long b)
{
	return false;
}

static int function_each_module_symbol(const char *only,
				       int (*fn)(void *, const char *, unsigned long),
				       void *data)
{
	return 0;
}
#endif /* CONFIG_MODULES */

static int function_add_hit(struct mctracer_hits *to, unsigned long site,
			    struct mctracer_expression *by,
			    bool returns, bool tail)
{
	size_t room = to->room ? to->room * 2 : 64;
	struct mctracer_hit *hits;

	if (to->nr == to->room) {
		hits = kvrealloc(to->hits, array_size(room, sizeof(*hits)), GFP_KERNEL);
		if (!hits)
			return -ENOMEM;
		to->hits = hits;
		to->room = room;
	}
	to->hits[to->nr++] = (struct mctracer_hit) {
		.site = site, .by = by, .returns = returns, .tail = tail,
	};
	return 0;
}

/* Add all sites before returns of the function from @addr to @end, or to the end of its module. */
static int function_add_returns(struct mctracer_hits *to, unsigned long addr, unsigned long end,
				struct mctracer_expression *by)
{
	unsigned long site;
	int ret = 0;

	for (site = mcount_next_return(addr); !ret && site && site < end &&
	     (is_kernel(addr) || function_is_in_same_module(addr, site));
	     site = mcount_next_return(site + 1))
		ret = function_add_hit(to, site, by, true, mcount_is_tail(site));
	return ret;
}

static int function_add_kernel_returns(struct mctracer_hits *to, unsigned long addr,
				       struct mctracer_expression *by)
{
	unsigned long size, offset;

	if (!mcount_next_return(addr) || !kallsyms_lookup_size_offset(addr, &size, &offset))
		return 0;
	return function_add_returns(to, addr, addr + size - offset, by);
}

static int function_note_symbol(void *data, const char *name, unsigned long addr)
{
	mctracer_cond_resched();
	return function_add_hit(data, addr, NULL, false, false);
}

/*
 * Add all sites before returns of walk->of_modules, where the walk has found functions. Each ends
 * at the next symbol of its module. Looking that up takes as long as the module has symbols, so
 * sort all symbols instead. If the module has gone since the walk, its symbols are missing.
 */
static int function_add_module_returns(struct walk *walk, const char *only)
{
	struct mctracer_hits symbols = {};
	unsigned long addr, end;
	size_t i, next = 0;
	int ret;

	ret = function_each_module_symbol(only, function_note_symbol, &symbols);
	if (!ret) {
		sort(symbols.hits, symbols.nr, sizeof(*symbols.hits), mctracer_compare_sites, NULL);
		sort(walk->of_modules.hits, walk->of_modules.nr, sizeof(*symbols.hits),
		     mctracer_compare_sites, NULL);
	}
	for (i = 0; !ret && i < walk->of_modules.nr; i++) {
		addr = walk->of_modules.hits[i].site;
		while (next < symbols.nr && symbols.hits[next].site <= addr)
			next++;
		end = next < symbols.nr ? symbols.hits[next].site : ULONG_MAX;
		if (next && symbols.hits[next - 1].site == addr)
			ret = function_add_returns(walk->hits, addr, end,
						   walk->of_modules.hits[i].by);
	}
	kvfree(symbols.hits);
	return ret;
}

#ifdef CONFIG_MODULES
/* Remember where @e matched, for when its module is gone. Return false if there is no memory. */
static bool function_remember_home(struct mctracer_expression *e, unsigned long addr)
{
	char name[MODULE_NAME_LEN] = "";
	struct module *mod;

	e->in_kernel |= is_kernel(addr);
	if (e->in_kernel)
		return true;
	scoped_guard(preempt) {
		mod = __module_address(addr);
		if (mod)
			strscpy(name, mod->name, sizeof(name));
	}
	return !*name || !mctracer_expression_add_home(e, name);
}
#else /* !CONFIG_MODULES */
static bool function_remember_home(struct mctracer_expression *e, unsigned long addr)
{
	return true;
}
#endif /* CONFIG_MODULES */

/* Add the sites of the symbol @addr, whose name @e matches, if the symbol is of @e's module. */
static int walk_match(struct walk *walk, struct mctracer_expression *e, unsigned long addr)
{
	unsigned long site;
	int ret;

	if (e->module && !function_is_of_module(addr, e->module))
		return 0;
	e->symbols++;
	site = mcount_function_site(addr);
	e->traceable |= !!site;
	/* Where only data has such a name, the expression waits for nothing. */
	if (site && !e->module && !function_remember_home(e, addr))
		return -ENOMEM;
	ret = site ? function_add_hit(walk->hits, site, e, false, false) : 0;
	if (ret || !walk->returns)
		return ret;
	return is_kernel(addr) ? function_add_kernel_returns(walk->hits, addr, e) :
				 function_add_hit(&walk->of_modules, addr, e, true, false);
}

static int walk_name(struct walk *walk, const char *name, unsigned long addr)
{
	struct mctracer_expression *e;
	int ret;

	if (!walk->expressions->has_names)
		return 0;
	hash_for_each_possible(walk->expressions->by_name, e, node, mctracer_expression_key(name)) {
		if (strcmp(e->name, name) || !list_empty(&e->globs))
			continue;
		ret = walk_match(walk, e, addr);
		if (ret)
			return ret;
	}
	return 0;
}

static int walk_symbol(void *data, const char *name, unsigned long addr)
{
	/* Clearing both for each symbol would take most of the time. */
	char plain[KSYM_NAME_LEN] __uninitialized, whole[KSYM_NAME_LEN] __uninitialized;
	struct walk *walk = data;
	struct mctracer_expression *e;
	const char *dot, *cold;
	int ret;

	mctracer_cond_resched();
	if (walk->may_end && fatal_signal_pending(current))
		return -EINTR;
	if (!test_bit((u8)*name, walk->expressions->first))
		return 0;
	plain[0] = '\0';
	dot = strchr(name, '.');
	if (dot && dot != name) {	/* few of the many symbols have one */
		strscpy(plain, name, min_t(size_t, dot - name + 1, sizeof(plain)));
		cold = strstr(dot, ".cold");	/* the rarely run part of a split function */
		if (cold) {
			strscpy(whole, name, min_t(size_t, cold - name + 1, sizeof(whole)));
			name = whole;
		}
		if (cold == dot)
			plain[0] = '\0';
	}
	ret = walk_name(walk, name, addr);
	if (!ret && *plain)
		ret = walk_name(walk, plain, addr);
	if (ret)
		return ret;
	list_for_each_entry(e, &walk->expressions->globs, globs) {
		if (!glob_match(e->name, name) && !(*plain && glob_match(e->name, plain)))
			continue;
		ret = walk_match(walk, e, addr);
		if (ret)
			return ret;
	}
	return 0;
}

static int function_compare_hits(const void *a, const void *b)
{
	const struct mctracer_hit *x = a, *y = b;

	if (x->site != y->site)
		return x->site < y->site ? -1 : 1;
	return x->by->order < y->by->order ? -1 : x->by->order > y->by->order;
}

/*
 * Return true if the site of hit number *@hit, the first of its site, is selected. Advance *@hit to
 * the next site.
 */
static bool function_hit_is_selected(const struct mctracer_hits *hits, size_t *hit)
{
	unsigned long site = hits->hits[*hit].site;
	struct mctracer_expression *by = NULL;
	bool selected = false;

	for (; *hit < hits->nr && hits->hits[*hit].site == site; ++*hit) {
		if (by == hits->hits[*hit].by)
			continue;	/* another name of the same function */
		by = hits->hits[*hit].by;
		if ((!by->remove || selected) && !hits->hits[*hit].returns)
			by->sites++;
		selected = !by->remove;
	}
	return selected;
}

int mctracer_functions_find(struct mctracer_expressions *expressions, const char *only,
			    bool returns, struct mctracer_hits *hits)
{
	struct walk walk = {
		.expressions = expressions, .hits = hits, .may_end = !only, .returns = returns,
	};
	struct mctracer_expression *e;
	unsigned int order = 0;
	int ret = 0;

	*hits = (struct mctracer_hits) {};
	list_for_each_entry(e, &expressions->list, list) {
		e->order = order++;
		e->symbols = 0;
		e->traceable = false;
		e->sites = 0;
		e->why = NULL;
	}
	if (!only)
		ret = kallsyms_on_each_symbol(walk_symbol, &walk);
	ret = ret ?: function_each_module_symbol(only, walk_symbol, &walk);
	if (!ret && walk.of_modules.nr)
		ret = function_add_module_returns(&walk, only);
	kvfree(walk.of_modules.hits);
	if (!ret && hits->nr)
		sort(hits->hits, hits->nr, sizeof(*hits->hits), function_compare_hits, NULL);
	return ret;
}

/*
 * Return the set of sites that @expressions select, in the module @only or, if NULL, everywhere; or
 * an ERR_PTR(). Free it with kvfree().
 */
static struct mctracer_sites *function_find_sites(struct mctracer_expressions *expressions,
						  const char *only,
						  bool returns)
{
	struct mctracer_hits hits;
	struct mctracer_sites *set;
	unsigned long site;
	size_t i;
	int ret;

	ret = mctracer_functions_find(expressions, only, returns, &hits);
	set = ret ? NULL : kvmalloc(struct_size(set, sites, hits.nr), GFP_KERNEL);
	if (!set) {
		kvfree(hits.hits);
		return ERR_PTR(ret ?: -ENOMEM);
	}
	set->nr = 0;
	for (i = 0; i < hits.nr;) {
		site = hits.hits[i].site;
		if (function_hit_is_selected(&hits, &i))
			set->sites[set->nr++] = site;
	}
	kvfree(hits.hits);
	return set;
}

struct mctracer_sites *mctracer_functions_all(void)
{
	CLASS(mctracer_own_work, own)();
	struct mctracer_expressions *all = mctracer_expressions_alloc();
	struct mctracer_sites *sites = ERR_PTR(-ENOMEM);

	if (all && mctracer_expression_add(all, "*", NULL, NULL))
		sites = function_find_sites(all, NULL, false);
	mctracer_expressions_free(all);
	return sites;
}

/* Free @set after waiting for hooks that use it: under no mutex that loading a module takes. */
static void function_free_set(struct mctracer_sites *set)
{
	if (set)
		mctracer_selected_synchronize();
	kvfree(set);
}

/* Notes about modules, and modules that are being loaded now; under mctracer_sets_mutex. */
static unsigned int modules_seen, modules_coming;

unsigned int mctracer_modules_seen(void)
{
	return READ_ONCE(modules_seen);
}

bool mctracer_module_came(unsigned int since)
{
	lockdep_assert_held(&mctracer_sets_mutex);
	return modules_seen != since || modules_coming;
}

/* Make hooks use @set. Return the set before. */
static struct mctracer_sites *function_exchange_set(int which, struct mctracer_sites *set)
{
	struct mctracer_sites *old = mctracer_selected[which];

	lockdep_assert_held(&mctracer_sets_mutex);
	smp_store_release(&mctracer_selected[which], set);	/* contents before the pointer */
	return old;
}

#ifdef CONFIG_MODULES
static bool function_set_has_module(const struct mctracer_sites *set, struct module *mod)
{
	size_t i;

	for (i = 0; i < set->nr; i++)
		if (within_module(set->sites[i], mod))
			return true;
	return false;
}

/* Memory for a set that has more sites than the current one. */
struct spare {
	struct mctracer_sites *set;
	size_t room;
};

/* Fill @set with the sites of @old outside of @mod, and @its. Return false if it equals @old. */
static bool function_fill_with_module(struct mctracer_sites *set, const struct mctracer_sites *old,
				      struct module *mod, const struct mctracer_sites *its)
{
	size_t i;

	set->nr = 0;
	for (i = 0; i < old->nr; i++)
		if (!within_module(old->sites[i], mod))
			set->sites[set->nr++] = old->sites[i];
	for (i = 0; i < its->nr; i++)
		set->sites[set->nr++] = its->sites[i];
	sort(set->sites, set->nr, sizeof(*set->sites), mctracer_compare_sites, NULL);
	return set->nr != old->nr ||
	       memcmp(set->sites, old->sites, set->nr * sizeof(*set->sites));
}

/*
 * Add the sites in @mod that list @which selects. If that changes the set, store the set before at
 * @gone. Return 0, -ENOMEM, or -ENOSPC if @spare needs room for spare->room sites.
 */
static int function_try_add_module(int which, struct module *mod, struct spare *spare,
				   struct mctracer_sites **gone)
{
	struct mctracer_sites *its __free(kvfree) = NULL;
	struct mctracer_sites *old;

	guard(mutex)(&mctracer_sets_mutex);
	old = mctracer_selected[which];
	if (!old)
		return 0;
	its = function_find_sites(lists[which], mod->name, true);
	if (IS_ERR(its))
		return PTR_ERR(its);
	if (!its->nr && !function_set_has_module(old, mod))
		return 0;
	if (!spare->set || size_add(old->nr, its->nr) > spare->room) {
		spare->room = size_add(old->nr, its->nr);
		return -ENOSPC;
	}
	if (function_fill_with_module(spare->set, old, mod, its)) {
		*gone = function_exchange_set(which, spare->set);
		spare->set = NULL;
	}
	return 0;
}

/* Add the sites in @mod that list @which selects. Return true if the set has changed. */
static bool function_add_module(int which, struct module *mod)
{
	struct mctracer_sites *gone = NULL;
	struct spare spare = {};
	bool changed;
	int ret;

	ret = function_try_add_module(which, mod, &spare, &gone);
	while (ret == -ENOSPC) {
		kvfree(spare.set);
		spare.set = kvmalloc(struct_size(spare.set, sites, spare.room), GFP_KERNEL);
		ret = spare.set ? function_try_add_module(which, mod, &spare, &gone) : -ENOMEM;
	}
	kvfree(spare.set);
	if (ret)
		mctracer_report_failure("filter or notrace: functions of a module that came", ret);
	changed = gone;
	function_free_set(gone);
	return changed;
}

void mctracer_modules_note(bool begin)
{
	guard(mutex)(&mctracer_sets_mutex);
	WRITE_ONCE(modules_seen, modules_seen + 1);
	modules_coming += begin ? 1 : -1;
}

bool mctracer_functions_module_coming(struct module *mod)
{
	bool changed = false;
	int i;

	for (i = 0; i < MCTRACER_FUNCTION_LISTS; i++)
		changed |= function_add_module(i, mod);
	return changed;
}
#endif /* CONFIG_MODULES */

/*
 * Return true if @e, with which the list @in deselects, has done its work. With @selects an earlier
 * expression selects functions: with "mod:", or if @e waits for a module like the expression that
 * it removed, @e is also for those of a module that is loaded later.
 */
static bool function_has_deselected(const struct mctracer_expressions *in,
				    const struct mctracer_expression *e, bool selects)
{
	if (!e->remove || e->sites)
		return false;
	if (!selects)
		return e->had_equal || !e->fresh;
	if (!e->had_equal || e->may_wait)
		return false;
	return !mctracer_expression_waits(e) || !mctracer_expression_may_deselect(in, e);
}

int mctracer_functions_check(const char *file, struct mctracer_expressions *expressions)
{
	struct mctracer_expression *e, *next;
	bool selects = false;	/* an expression before e selects functions */
	const char *why;

	list_for_each_entry_safe(e, next, &expressions->list, list) {
		mctracer_cond_resched();
		if (fatal_signal_pending(current))
			return -EINTR;
		if (function_has_deselected(expressions, e, selects)) {
			mctracer_expression_drop(e);
			continue;
		}
		selects |= !e->remove;
		if (!e->fresh || e->sites)
			continue;
		if (!selects)
			return mctracer_expression_refuse(file, -ENOENT, e->name,
				      "no function was selected before");
		if (e->may_wait || ((!e->module || e->had_equal) && mctracer_expression_waits(e)))
			continue;	/* a module's init functions may be gone */
		if (e->module && !mctracer_module_is_loaded(e->module))
			return mctracer_expression_refuse(file, -ENOENT, e->module,
				      "is not loaded (to wait for it: FUNCTION:mod:MODULE)");
		if (!e->symbols)
			why = "no such function, or it is inlined wherever it is called";
		else if (e->remove && e->traceable)
			continue;	/* for modules that are loaded later */
		else if (e->why)
			why = e->why;
		else
			why = "not traceable: it has no call site";
		return mctracer_expression_refuse(file, -ENOENT, e->name, why);
	}
	return 0;
}

/* Return the set for @expressions, NULL if none is left, or an ERR_PTR(). */
static struct mctracer_sites *function_make_set(int which, struct mctracer_expressions *expressions)
{
	struct mctracer_sites *set;
	int ret;

	if (list_empty(&expressions->list))
		return NULL;
	set = function_find_sites(expressions, NULL, true);
	if (IS_ERR(set))
		return set;
	ret = mctracer_functions_check(list_names[which], expressions);
	if (!ret && !list_empty(&expressions->list))
		return set;
	kvfree(set);
	return ERR_PTR(ret);	/* or NULL: the last was removed */
}

/* A list and its set before a change, and modules_seen when the new set was made. */
struct change {
	struct mctracer_expressions *before;
	struct mctracer_sites *set_before;
	unsigned int modules;
};

/* Exchange list @which and its set. Return -EAGAIN if a module was loaded meanwhile. */
static int function_exchange_list(int which, struct mctracer_expressions *expressions,
				  struct mctracer_sites *set, struct change *change)
{
	guard(mutex)(&mctracer_sets_mutex);
	if (modules_seen != change->modules)
		return -EAGAIN;
	change->before = lists[which];
	lists[which] = expressions;
	change->set_before = function_exchange_set(which, set);
	return 0;
}

/*
 * Replace list @which with *@expressions, which becomes NULL if it is empty. O(n log n) for n
 * sites, repeated for each module that is loaded meanwhile. Return 0 or an error.
 */
static int function_begin_change(int which, struct mctracer_expressions **expressions,
				 struct change *change)
{
	struct mctracer_sites *set;
	int ret;

	do {
		change->modules = mctracer_modules_seen();
		set = *expressions ? function_make_set(which, *expressions) : NULL;
		if (IS_ERR(set))
			return PTR_ERR(set);
		if (!set) {
			mctracer_expressions_free(*expressions);
			*expressions = NULL;
		}
		ret = function_exchange_list(which, *expressions, set, change);
		if (ret)
			kvfree(set);
	} while (ret);
	return 0;
}

/*
 * Restore the list before the change. If modules were loaded meanwhile, make its set anew; since
 * errors are rare, that may allocate memory under mctracer_sets_mutex. Without memory, the set
 * lacks the functions of these modules.
 */
static void function_undo_change(int which, const struct change *change)
{
	struct mctracer_sites *set, *again = NULL;

	scoped_guard(mutex, &mctracer_sets_mutex) {
		lists[which] = change->before;
		set = function_exchange_set(which, change->set_before);
		if (change->before && mctracer_module_came(change->modules)) {
			again = function_find_sites(change->before, NULL, true);
			if (!IS_ERR(again))
				again = function_exchange_set(which, again);
		}
	}
	function_free_set(set);
	if (IS_ERR(again))
		mctracer_report_failure("filter or notrace: functions of a module that came",
					PTR_ERR(again));
	else
		function_free_set(again);
}

static int function_set_expressions(int which, struct mctracer_expressions *new,
				    int (*apply)(u8 *map))
{
	struct change change;
	u8 *map = NULL;
	int ret;

	ret = function_begin_change(which, &new, &change);
	if (ret) {
		mctracer_expressions_free(new);
		return ret;
	}
	scoped_guard(mutex, &mctracer_sets_mutex)
		ret = mctracer_map_make(&map);
	ret = ret ?: apply(map);
	if (ret) {
		function_undo_change(which, &change);
		mctracer_expressions_free(new);
		return ret;
	}
	function_free_set(change.set_before);
	mctracer_expressions_free(change.before);
	return 0;
}

int mctracer_functions_set(enum mctracer_function_list which, char *text, bool append,
			   int (*apply)(u8 *map))
{
	struct mctracer_expressions *expressions;
	int ret = 0;

	guard(mutex)(&mctracer_lists_mutex);
	expressions = mctracer_expressions_alloc();
	if (!expressions)
		return -ENOMEM;
	if (append)
		ret = mctracer_expressions_copy(lists[which], expressions);
	ret = ret ?: mctracer_expressions_parse(expressions, text, list_names[which]);
	if (ret) {
		mctracer_expressions_free(expressions);
		return ret;
	}
	return function_set_expressions(which, expressions, apply);
}

bool mctracer_function_show(unsigned long address, struct seq_file *m)
{
	char buffer[KSYM_NAME_LEN], *module;
	unsigned long size, offset;
	const char *name;

	guard(rcu)();	/* keeps the module's name valid */
	name = kallsyms_lookup(address, &size, &offset, &module, buffer);
	if (!name)
		return false;
	seq_puts(m, name);
	if (module)
		seq_printf(m, " [%s]", module);
	return true;
}

void mctracer_functions_show(enum mctracer_function_list which, struct seq_file *m)
{
	guard(mutex)(&mctracer_sets_mutex);
	if (lists[which])
		mctracer_expressions_show(lists[which], m);
}
