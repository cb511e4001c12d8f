// SPDX-License-Identifier: GPL-2.0
/*
 * Which functions are recorded: what the expressions come to that are written to the files
 * "filter" and "notrace".
 *
 * What a list comes to is a set of call sites. It is made when the list is written, by
 * going through all symbols, and for a module's functions again when one comes.
 */
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
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>

#include <asm/barrier.h>

#include "expressions.h"
#include "mctracer.h"

#undef pr_fmt
#define pr_fmt(fmt) "mctracer: " fmt

struct walk {
	const struct mctracer_expressions *expressions;
	struct mctracer_hits *hits;
	bool may_end;		/* when the task is killed; but not if a module is to come */
	bool returns;		/* are wanted, too */
};

/* Who writes lists, one after the other. */
DEFINE_MUTEX(mctracer_lists_mutex);
/* What is written, and what it comes to. Inside the other; alone if a module comes. */
DEFINE_MUTEX(mctracer_sets_mutex);

static struct mctracer_expressions *lists[MCTRACER_FUNCTION_LISTS];	/* NULL: empty */

static const char * const list_names[MCTRACER_FUNCTION_LISTS] = {
	[MCTRACER_FILTER]	= "filter",
	[MCTRACER_NOTRACE]	= "notrace",
};

#ifdef CONFIG_MODULES
static bool is_of_module(unsigned long addr, const char *name)
{
	struct module *mod;

	guard(preempt)();
	mod = __module_address(addr);
	return mod && !strcmp(mod->name, name);
}

static int each_modules_symbol(const char *only, int (*fn)(void *, const char *, unsigned long),
			       void *data)
{
	return module_kallsyms_on_each_symbol(only, fn, data);
}
#else /* !CONFIG_MODULES */
static bool is_of_module(unsigned long addr, const char *name)
{
	return false;
}

static int each_modules_symbol(const char *only, int (*fn)(void *, const char *, unsigned long),
			       void *data)
{
	return 0;
}
#endif /* CONFIG_MODULES */

static int add_hit(struct mctracer_hits *to, unsigned long site, struct mctracer_expression *by,
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

/* All returns of the symbol @addr. */
static int add_returns(struct mctracer_hits *to, unsigned long addr, struct mctracer_expression *by)
{
	unsigned long site = mcount_next_return(addr), size, offset;
	int ret = 0;

	if (!site || !kallsyms_lookup_size_offset(addr, &size, &offset))
		return 0;
	for (; !ret && site && site - addr < size - offset; site = mcount_next_return(site + 1))
		ret = add_hit(to, site, by, true, mcount_is_tail(site));
	return ret;
}

/* The symbol @addr is matched by @e, if it is of its module. */
static int see_match(struct walk *walk, struct mctracer_expression *e, unsigned long addr)
{
	unsigned long site;
	int ret;

	if (e->module && !is_of_module(addr, e->module))
		return 0;
	e->symbols++;
	site = mcount_function_site(addr);
	ret = site ? add_hit(walk->hits, site, e, false, false) : 0;
	if (!ret && walk->returns)
		ret = add_returns(walk->hits, addr, e);
	return ret;
}

static int see_name(struct walk *walk, const char *name, unsigned long addr)
{
	struct mctracer_expression *e;
	int ret;

	hash_for_each_possible(walk->expressions->by_name, e, node, mctracer_expression_key(name)) {
		if (strcmp(e->name, name) || !list_empty(&e->globs))
			continue;
		ret = see_match(walk, e, addr);
		if (ret)
			return ret;
	}
	return 0;
}

static int see_symbol(void *data, const char *name, unsigned long addr)
{
	char plain[KSYM_NAME_LEN], whole[KSYM_NAME_LEN];
	const char *dot = strchr(name, '.'), *cold;
	struct walk *walk = data;
	struct mctracer_expression *e;
	int ret;

	cond_resched();
	if (walk->may_end && fatal_signal_pending(current))
		return -EINTR;
	plain[0] = '\0';
	if (dot && dot != name) {	/* few have one, and all symbols of the kernel come by */
		strscpy(plain, name, min_t(size_t, dot - name + 1, sizeof(plain)));
		cold = strstr(dot, ".cold");	/* the rarely run part of one that was cut in two */
		if (cold) {
			strscpy(whole, name, min_t(size_t, cold - name + 1, sizeof(whole)));
			name = whole;
		}
		if (cold == dot)
			plain[0] = '\0';
	}
	ret = see_name(walk, name, addr);
	if (!ret && *plain)
		ret = see_name(walk, plain, addr);
	if (ret)
		return ret;
	list_for_each_entry(e, &walk->expressions->globs, globs) {
		if (!glob_match(e->name, name) && !(*plain && glob_match(e->name, plain)))
			continue;
		ret = see_match(walk, e, addr);
		if (ret)
			return ret;
	}
	return 0;
}

static int compare_hits(const void *a, const void *b)
{
	const struct mctracer_hit *x = a, *y = b;

	if (x->site != y->site)
		return x->site < y->site ? -1 : 1;
	return x->by->order < y->by->order ? -1 : x->by->order > y->by->order;
}

/* The chosen ones of those that were hit; those before @hit have another site. */
static bool decide(const struct mctracer_hits *hits, size_t *hit)
{
	unsigned long site = hits->hits[*hit].site;
	struct mctracer_expression *by = NULL;
	bool chosen = false;

	for (; *hit < hits->nr && hits->hits[*hit].site == site; ++*hit) {
		if (by == hits->hits[*hit].by)
			continue;	/* another name of the same function */
		by = hits->hits[*hit].by;
		if ((!by->remove || chosen) && !hits->hits[*hit].returns)
			by->sites++;
		chosen = !by->remove;
	}
	return chosen;
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
		e->sites = 0;
		e->why = NULL;
	}
	if (!only)
		ret = kallsyms_on_each_symbol(see_symbol, &walk);
	ret = ret ?: each_modules_symbol(only, see_symbol, &walk);
	if (!ret && hits->nr)
		sort(hits->hits, hits->nr, sizeof(*hits->hits), compare_hits, NULL);
	return ret;
}

/* What @expressions choose, of the module @only or of everything. To be freed with kvfree(). */
static struct mctracer_sites *find_sites(struct mctracer_expressions *expressions, const char *only,
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
		if (decide(&hits, &i))
			set->sites[set->nr++] = site;
	}
	kvfree(hits.hits);
	return set;
}

struct mctracer_sites *mctracer_functions_all(void)
{
	struct mctracer_expressions *all = mctracer_expressions_alloc();
	struct mctracer_sites *sites = ERR_PTR(-ENOMEM);

	if (all && mctracer_expression_add(all, "*", NULL, NULL))
		sites = find_sites(all, NULL, false);
	mctracer_expressions_free(all);
	return sites;
}

static void free_set(struct mctracer_sites *set)
{
	if (set)
		mctracer_chosen_synchronize();
	kvfree(set);
}

static struct mctracer_sites *exchange_set(int which, struct mctracer_sites *set)
{
	struct mctracer_sites *old = mctracer_chosen[which];

	lockdep_assert_held(&mctracer_sets_mutex);
	smp_store_release(&mctracer_chosen[which], set);	/* filled before it is seen */
	return old;
}

#ifdef CONFIG_MODULES
/* @old without what is in @mod, and with @its; NULL if that is the same, or an error. */
static struct mctracer_sites *with_module(const struct mctracer_sites *old, struct module *mod,
					  const struct mctracer_sites *its)
{
	struct mctracer_sites *set;
	size_t i;

	set = kvmalloc(struct_size(set, sites, size_add(old->nr, its->nr)), GFP_KERNEL);
	if (!set)
		return ERR_PTR(-ENOMEM);
	set->nr = 0;
	for (i = 0; i < old->nr; i++)
		if (!within_module(old->sites[i], mod))
			set->sites[set->nr++] = old->sites[i];
	for (i = 0; i < its->nr; i++)
		set->sites[set->nr++] = its->sites[i];
	sort(set->sites, set->nr, sizeof(*set->sites), mctracer_compare_sites, NULL);
	if (set->nr == old->nr && !memcmp(set->sites, old->sites, set->nr * sizeof(*set->sites))) {
		kvfree(set);
		return NULL;
	}
	return set;
}

bool mctracer_functions_module_coming(struct module *mod)
{
	struct mctracer_sites *old, *its, *set;
	bool changed = false;
	int i;

	guard(mutex)(&mctracer_sets_mutex);
	for (i = 0; i < MCTRACER_FUNCTION_LISTS; i++) {
		old = mctracer_chosen[i];
		if (!old)
			continue;
		its = find_sites(lists[i], mod->name, true);
		set = IS_ERR(its) ? its : with_module(old, mod, its);
		if (IS_ERR(set)) {
			pr_warn("%s: no memory for the functions of %s\n", list_names[i],
				mod->name);
		} else if (set) {
			free_set(exchange_set(i, set));
			changed = true;
		}
		if (!IS_ERR(its))
			kvfree(its);
	}
	return changed;
}
#endif /* CONFIG_MODULES */

int mctracer_functions_check(const char *file, struct mctracer_expressions *expressions)
{
	struct mctracer_expression *e, *next;
	const char *why;

	list_for_each_entry_safe(e, next, &expressions->list, list) {
		if (!e->fresh || e->sites)
			continue;
		if (e->remove && e->had_equal) {	/* that was all it was for */
			mctracer_expression_drop(e);
			continue;
		}
		if (e->module && !mctracer_module_is_loaded(e->module)) {
			if (e->may_wait)
				continue;
			return mctracer_expression_refuse(file, -ENOENT, e->module,
				      "no such module (if it will come: FUNCTION:mod:MODULE)");
		}
		if (!e->symbols)
			why = "no such function, or it is inlined wherever it is called";
		else if (e->remove)
			why = "nothing that it matches was chosen before";
		else if (e->why)
			why = e->why;
		else
			why = "not traceable: it has no call site";
		return mctracer_expression_refuse(file, -ENOENT, e->name, why);
	}
	return 0;
}

/* What @expressions come to: NULL if there is none. */
static struct mctracer_sites *set_of(int which, struct mctracer_expressions *expressions)
{
	struct mctracer_sites *set;
	int ret;

	if (list_empty(&expressions->list))
		return NULL;
	set = find_sites(expressions, NULL, true);
	if (IS_ERR(set))
		return set;
	ret = mctracer_functions_check(list_names[which], expressions);
	if (!ret && !list_empty(&expressions->list))
		return set;
	kvfree(set);
	return ERR_PTR(ret);	/* or NULL: the last was removed */
}

/* Modules may have come since @old was made. If there is no memory to do it again, without them. */
static void put_back(int which, struct mctracer_expressions *expressions,
		     struct mctracer_sites *old)
{
	struct mctracer_sites *set = expressions ? find_sites(expressions, NULL, true) : NULL;

	lists[which] = expressions;
	if (IS_ERR(set)) {
		set = old;
		old = NULL;
	}
	free_set(exchange_set(which, set));
	kvfree(old);
}

static int set_expressions(int which, struct mctracer_expressions *new, int (*apply)(u8 *map))
{
	struct mctracer_sites *set, *old_set;
	struct mctracer_expressions *old;
	u8 *map = NULL;
	int ret;

	mutex_lock(&mctracer_sets_mutex);
	set = set_of(which, new);
	if (IS_ERR(set)) {
		mutex_unlock(&mctracer_sets_mutex);
		mctracer_expressions_free(new);
		return PTR_ERR(set);
	}
	if (!set) {
		mctracer_expressions_free(new);
		new = NULL;
	}
	old = lists[which];
	lists[which] = new;
	old_set = exchange_set(which, set);
	ret = mctracer_map_make(&map);
	mutex_unlock(&mctracer_sets_mutex);

	ret = ret ?: apply(map);
	if (ret) {
		mutex_lock(&mctracer_sets_mutex);
		put_back(which, old, old_set);
		mutex_unlock(&mctracer_sets_mutex);
		mctracer_expressions_free(new);
		return ret;
	}
	free_set(old_set);
	mctracer_expressions_free(old);
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
	return set_expressions(which, expressions, apply);
}

void mctracer_functions_show(enum mctracer_function_list which, struct seq_file *m)
{
	guard(mutex)(&mctracer_sets_mutex);
	if (lists[which])
		mctracer_expressions_show(lists[which], m);
}
