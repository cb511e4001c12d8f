// SPDX-License-Identifier: GPL-2.0
/*
 * mcount's own call sites: their table, and their patching.
 *
 * At each call site the compiler has left a NOP, or, where it can't, a call of the stub that boot
 * turns into a NOP. While a hook must be called, the sites that it has selected are calls of the
 * stub or of the pre-handler, and all other sites are NOPs. Otherwise all sites are NOPs.
 *
 * mcount writes nothing but these three instructions, and the returns described below, and only
 * over another one of them. It does not remember the state of a site, but looks at the site. A site
 * that holds anything else belongs to another user, or the table is wrong: then mcount changes no
 * site any more. That is always safe, because a call only leads to the stub, and the stub returns
 * when there is no hook to call.
 *
 * For the same reason mcount just forgets a site whose memory is freed.
 *
 * With CONFIG_MCOUNT_RETURNS there is a second table: of NOPs before each return, and before each
 * jump that takes a return's place. They become calls of stubs of their own, but only if the hook's
 * selection wants so. Otherwise those before returns are not NOPs, but returns like the instruction
 * behind them, so that they cost nothing.
 */
#include <linux/bsearch.h>
#include <linux/cleanup.h>
#include <linux/cpuhplock.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/mcount.h>
#include <linux/memory.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/sort.h>

#include <asm/sections.h>

#include "mcount.h"

#undef pr_fmt
#define pr_fmt(fmt) "mcount: " fmt

#define SITES_BUILT_AS_CALLS	(!IS_ENABLED(CONFIG_MCOUNT_NOPS))

/*
 * Protects the variables below. Taken inside mcount_mutex; cpus_read_lock() and then text_mutex are
 * taken inside sites_mutex.
 */
static DEFINE_MUTEX(sites_mutex);
/* True if sites are calls, ... */
static bool calls = SITES_BUILT_AS_CALLS;
/* ... all of them, if this is NULL. The selection of the registered hook, called or not. */
static const struct mcount_selection *selection;
/* True if sites before returns may be calls. */
static bool returns_called;
/* True if a site did not hold what it should. */
static bool broken;
/*
 * A table of the kernel's own sites, ascending, relative to _stext, which takes half the size of
 * pointers. A lookup takes no lock: only @nr changes, when @sites is complete and once more at the
 * end of boot.
 */
struct table {
	u32 *sites;
	unsigned int nr;
};

static struct table kernel_entries, kernel_returns;
/* The modules with call sites, ... */
static LIST_HEAD(modules_with_sites);
/* ... and how many others are left alone, because a site of theirs did not hold what it should. */
static unsigned int nr_left_alone;

typedef int (*site_fn)(void *site, bool returns);

static __always_inline int mcount_each_in_table(const struct table *table, site_fn fn, bool returns)
{
	unsigned int i;
	int ret;

	for (i = 0; i < table->nr; i++) {
		ret = fn(_stext + table->sites[i], returns);
		if (ret)
			return ret;
	}
	return 0;
}

/* Call @fn for the kernel's sites. Skip those before returns while they are unused and stay so. */
static __always_inline int mcount_each_kernel_site(site_fn fn)
{
	return mcount_each_in_table(&kernel_entries, fn, false) ?:
	       (returns_called ? mcount_each_in_table(&kernel_returns, fn, true) : 0);
}

#ifdef CONFIG_MODULES
/*
 * Return true if @addr lies in text of @mod that is still there. Init sections are freed after
 * MODULE_STATE_LIVE is announced: mcount_module_live() waits for sites_mutex, which the caller
 * holds.
 */
static bool mcount_module_has_text(struct module *mod, unsigned long addr)
{
	return within_module_mem_type(addr, mod, MOD_TEXT) ||
	       (mod->state != MODULE_STATE_LIVE &&
		within_module_mem_type(addr, mod, MOD_INIT_TEXT));
}

static int mcount_each_of_module(struct module *mod, const unsigned long *sites, unsigned int nr,
				 site_fn fn, bool returns)
{
	unsigned int i;
	int ret;

	for (i = 0; i < nr; i++) {
		if (!mcount_module_has_text(mod, sites[i]))
			continue;
		ret = fn((void *)sites[i], returns);
		if (ret)
			return ret;
	}
	return 0;
}

static int mcount_each_module_site(struct module *mod, site_fn fn)
{
	return mcount_each_of_module(mod, mod->mcount_sites, mod->num_mcount_sites, fn, false) ?:
	       (returns_called ? mcount_each_of_module(mod, mod->mcount_returns,
						       mod->num_mcount_returns, fn, true) : 0);
}

/*
 * Call @fn for the sites of all modules. If a site of a module holds anything unexpected, leave
 * this module alone from now on, as it is.
 */
static __always_inline int mcount_each_modules_site(site_fn fn)
{
	struct module *mod, *next;

	list_for_each_entry_safe(mod, next, &modules_with_sites, mcount_list) {
		if (!mcount_each_module_site(mod, fn))
			continue;
		pr_err("no call site of %s will be changed any more\n", mod->name);
		list_del_init(&mod->mcount_list);
		nr_left_alone++;
	}
	return 0;
}

static int mcount_compare_addresses(const void *a, const void *b)
{
	unsigned long x = *(const unsigned long *)a, y = *(const unsigned long *)b;

	return x < y ? -1 : x > y;
}

/* True even before the module is on the list, because a kprobe may be set earlier. */
static bool mcount_is_module_site(unsigned long addr)
{
	struct module *mod;

	guard(preempt)();
	mod = __module_text_address(addr);
	return mod && (bsearch(&addr, mod->mcount_sites, mod->num_mcount_sites, sizeof(addr),
			       mcount_compare_addresses) ||
		       bsearch(&addr, mod->mcount_returns, mod->num_mcount_returns, sizeof(addr),
			       mcount_compare_addresses));
}
#else /* !CONFIG_MODULES */
static int mcount_each_module_site(struct module *mod, site_fn fn)
{
	return 0;
}

static int mcount_each_modules_site(site_fn fn)
{
	return 0;
}

static bool mcount_is_module_site(unsigned long addr)
{
	return false;
}
#endif /* CONFIG_MODULES */

/* Call @fn for the sites of @only, or of the kernel and all modules if @only is NULL. */
static __always_inline int mcount_each_site(struct module *only, site_fn fn)
{
	if (only)
		return mcount_each_module_site(only, fn);
	return mcount_each_kernel_site(fn) ?: mcount_each_modules_site(fn);
}

/* A selection that equals no other: some sites are calls, and can't be changed any more. */
static const struct mcount_selection unknown;

/* The first and the last site that must change. */
static void *first_to_change, *last_to_change;

static int mcount_refuse_site(void *site)
{
	pr_err("the call site %pS holds %*ph, not what mcount puts there\n", site,
	       MCOUNT_SITE_SIZE, site);
	return -EIO;
}

/*
 * Reschedule between sites. Most calls are avoided, because cond_resched() is traced where it is a
 * function.
 */
static void mcount_sites_resched(void)
{
	if (need_resched())
		cond_resched();
}

static enum mcount_site mcount_wanted_kind(void *site, bool returns)
{
	if (!calls)
		return MCOUNT_NOTHING;
	if (returns)
		return mcount_sees_returns(selection) ?
		       selection->return_kind((unsigned long)site) :
						     MCOUNT_NOTHING;
	return selection && selection->kind ? selection->kind((unsigned long)site) : MCOUNT_HOOK;
}

/*
 * Check a site, and note whether it must change. Inlined into the loop, because each change looks
 * at all sites.
 */
static __always_inline int mcount_check_site(void *site, bool returns)
{
	int kind = arch_mcount_site_kind(site, returns);

	mcount_sites_resched();
	if (kind < 0)
		return mcount_refuse_site(site);
	if (kind != mcount_wanted_kind(site, returns)) {
		first_to_change = min(first_to_change ?: site, site);
		last_to_change = max(last_to_change, site);
	}
	return 0;
}

static int mcount_queue_site(void *site, bool returns)
{
	enum mcount_site kind;

	if (site < first_to_change || site > last_to_change)
		return 0;
	mcount_sites_resched();
	kind = mcount_wanted_kind(site, returns);
	if (arch_mcount_site_kind(site, returns) != kind)
		arch_mcount_site_queue(site, kind, returns);
	return 0;
}

/*
 * Make the sites of @only, or all if it is NULL, what @new_selection selects. All are checked
 * before the first one is changed. Hotplug is locked out, because a starting CPU can't handle the
 * breakpoints of text patching yet.
 */
static int mcount_change_sites(struct module *only, bool call,
			       const struct mcount_selection *new_selection)
{
	const struct mcount_selection *old_selection = selection;
	bool old_calls = calls, sees_returns = call && mcount_sees_returns(new_selection);
	int ret;

	lockdep_assert_held(&sites_mutex);

	guard(cpus_read_lock)();
	guard(mutex)(&text_mutex);
	calls = call;
	selection = new_selection;
	returns_called |= sees_returns;
	first_to_change = NULL;
	last_to_change = NULL;
	ret = mcount_each_site(only, mcount_check_site);
	if (ret) {
		if (!only) {
			broken = true;
			pr_err("no call site will be changed any more\n");
		}
		calls = old_calls;
		selection = old_selection;
		return ret;
	}
	if (first_to_change)
		mcount_each_site(only, mcount_queue_site);
	arch_mcount_sites_finish();
	returns_called = sees_returns;
	return 0;
}

/*
 * Return true if @of is a real selection. A client of all entries and no returns has no filter, so
 * all such clients count as equal.
 */
static bool mcount_is_selective(const struct mcount_selection *of)
{
	return of && (of->kind || mcount_sees_returns(of));
}

/* Always 0: a module whose sites can't be changed is left out, and all other sites work. */
int mcount_sites_error(void)
{
	return 0;
}

const char *mcount_sites_restriction(void)
{
	if (READ_ONCE(broken))
		return "no call site can be changed any more";
	return READ_ONCE(nr_left_alone) ? "the call sites of a module can't be changed" : NULL;
}

int mcount_sites_set(bool call, const struct mcount_selection *new_selection, bool again)
{
	int ret;

	if (!mcount_is_selective(new_selection))
		new_selection = NULL;

	guard(mutex)(&sites_mutex);
	if (calls == call && (selection == new_selection || !call) && !again) {
		selection = new_selection;
		return 0;
	}
	if (!kernel_entries.sites)
		return -ENOMEM;
	ret = broken ? -EIO : mcount_change_sites(NULL, call, new_selection);
	/* The owner may unload, so do not trust the cached selection. */
	if (ret && !call && selection)
		selection = &unknown;
	return ret;
}

static int mcount_compare_offsets(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

static bool mcount_is_recorded_site(const unsigned long *loc, const unsigned long *stop,
				    unsigned long addr)
{
	for (; loc < stop; loc++)
		if (*loc == addr)
			return true;
	return false;
}

/* Search the addresses that the compiler recorded, while there is no table yet: for debuggers. */
static bool __ref mcount_is_early_site(unsigned long addr)
{
	return system_state < SYSTEM_FREEING_INITMEM &&
	       (mcount_is_recorded_site(__start_mcount_loc, __stop_mcount_loc, addr) ||
		mcount_is_recorded_site(__start_return_loc, __stop_return_loc, addr));
}

static bool mcount_is_in_table(const struct table *table, u32 offset)
{
	return bsearch(&offset, table->sites, READ_ONCE(table->nr), sizeof(offset),
		       mcount_compare_offsets);
}

bool mcount_is_site(unsigned long addr)
{
	u32 offset = addr - (unsigned long)_stext;

	if (!is_kernel(addr))
		return mcount_is_module_site(addr);
	if (!READ_ONCE(kernel_entries.nr))
		return mcount_is_early_site(addr);
	return mcount_is_in_table(&kernel_entries, offset) ||
	       mcount_is_in_table(&kernel_returns, offset);
}

#ifdef CONFIG_MODULES
static unsigned long mcount_module_next_return(unsigned long addr)
{
	unsigned int low = 0, high, middle;
	struct module *mod;

	guard(preempt)();
	mod = __module_text_address(addr);
	high = mod ? mod->num_mcount_returns : 0;
	while (low < high) {
		middle = low + (high - low) / 2;
		if (mod->mcount_returns[middle] < addr)
			low = middle + 1;
		else
			high = middle;
	}
	return mod && low < mod->num_mcount_returns ? mod->mcount_returns[low] : 0;
}
#else
static unsigned long mcount_module_next_return(unsigned long addr)
{
	return 0;
}
#endif

unsigned long mcount_next_return(unsigned long addr)
{
	unsigned int low = 0, high = READ_ONCE(kernel_returns.nr), nr = high, middle;
	u32 offset = addr - (unsigned long)_stext;

	if (!is_kernel(addr))
		return mcount_module_next_return(addr);
	while (low < high) {
		middle = low + (high - low) / 2;
		if (kernel_returns.sites[middle] < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low < nr ? (unsigned long)_stext + kernel_returns.sites[low] : 0;
}

bool mcount_is_unreached(unsigned long addr)
{
	unsigned long site = addr - MCOUNT_SITE_SIZE;

	return mcount_is_site(site) && arch_mcount_holds_return((void *)site);
}

bool mcount_is_tail(unsigned long site)
{
	return IS_ENABLED(CONFIG_MCOUNT_RETURNS) && arch_mcount_is_tail((void *)site);
}

static void __init mcount_drop_init_sites(struct table *table)
{
	unsigned int nr;

	for (nr = table->nr; nr; nr--)
		if (is_kernel_text((unsigned long)_stext + table->sites[nr - 1]))
			break;
	WRITE_ONCE(table->nr, nr);
}

/*
 * Drop the sites of init text, which lie behind all other sites. Called before
 * SYSTEM_FREEING_INITMEM, because from then on init text counts as data.
 */
void __init mcount_free_init_mem(void)
{
	guard(mutex)(&sites_mutex);
	mcount_drop_init_sites(&kernel_entries);
	mcount_drop_init_sites(&kernel_returns);
}

/*
 * Return true if @addr is a site at a function's entry. A site before a return does not count: the
 * cold part of a function may begin with one.
 */
static bool mcount_is_entry_site(unsigned long addr)
{
	return mcount_is_site(addr) && mcount_next_return(addr) != addr;
}

/* The site is at most MCOUNT_SITE_OFFSET behind the function's first byte. */
unsigned long mcount_function_site(unsigned long func)
{
	if (mcount_is_entry_site(func))
		return func;
	if (MCOUNT_SITE_OFFSET && mcount_is_entry_site(func + MCOUNT_SITE_OFFSET))
		return func + MCOUNT_SITE_OFFSET;
	return 0;
}

/*
 * Make a site before a return a return, see arch_mcount_site_init(). Skip init text, which runs
 * only once. A site that holds anything unexpected is reported later, when it must change.
 */
static int __init_or_module mcount_hold_return(void *site, bool returns)
{
	if (is_kernel_inittext((unsigned long)site))
		return 0;
	if (arch_mcount_site_kind(site, returns) == MCOUNT_NOTHING)
		arch_mcount_site_init(site, returns);
	return 0;
}

#ifdef CONFIG_MODULES
/*
 * Prepare a module's sites while its tables and text can be written. The tables are sorted because
 * patching takes fewer batches in ascending order.
 */
void mcount_module_init(struct module *mod)
{
	sort(mod->mcount_sites, mod->num_mcount_sites, sizeof(*mod->mcount_sites),
	     mcount_compare_addresses, NULL);
	sort(mod->mcount_returns, mod->num_mcount_returns, sizeof(*mod->mcount_returns),
	     mcount_compare_addresses, NULL);
	mcount_each_of_module(mod, mod->mcount_returns, mod->num_mcount_returns, mcount_hold_return,
			      true);
}

/* Called before the module's first instruction runs. */
static void mcount_module_coming(struct module *mod)
{
	guard(mutex)(&sites_mutex);
	INIT_LIST_HEAD(&mod->mcount_list);
	if (broken)
		return;
	if ((calls == SITES_BUILT_AS_CALLS && !selection) ||
	    !mcount_change_sites(mod, calls, selection)) {
		list_add_tail(&mod->mcount_list, &modules_with_sites);
		return;
	}
	pr_err("no call site of %s will be changed\n", mod->name);
	nr_left_alone++;
}

static void mcount_module_going(struct module *mod)
{
	guard(mutex)(&sites_mutex);
	if (list_empty(&mod->mcount_list) && !broken)
		nr_left_alone--;
	list_del_init(&mod->mcount_list);
}

/*
 * Wait for walks that still see the module's init sections; later ones skip them, see
 * mcount_module_has_text().
 */
static void mcount_module_live(void)
{
	guard(mutex)(&sites_mutex);
}

static int mcount_module_event(struct notifier_block *nb, unsigned long event, void *data)
{
	struct module *mod = data;

	if (!mod->num_mcount_sites)
		return NOTIFY_DONE;

	switch (event) {
	case MODULE_STATE_COMING:
		mcount_module_coming(mod);
		break;
	case MODULE_STATE_LIVE:
		mcount_module_live();
		break;
	case MODULE_STATE_GOING:
		mcount_module_going(mod);
		break;
	}
	return NOTIFY_OK;
}

/* Before other notifiers, which may look at the text or set kprobes. */
static struct notifier_block module_notifier = {
	.notifier_call	= mcount_module_event,
	.priority	= MCOUNT_MODULE_PRIORITY,
};

static void mcount_watch_modules(void)
{
	register_module_notifier(&module_notifier);
}
#else /* !CONFIG_MODULES */
static void mcount_watch_modules(void)
{
}
#endif /* CONFIG_MODULES */

/*
 * Build a table of the recorded addresses in text and init text. Other text is not mapped, does not
 * run or is discarded, and weak functions leave zeroes.
 */
static int __init mcount_make_table(struct table *table, const unsigned long *loc,
				    const unsigned long *stop, bool sorted)
{
	unsigned int nr = 0;

	table->sites = kvmalloc_array(stop - loc, sizeof(*table->sites), GFP_KERNEL);
	if (!table->sites)
		return -ENOMEM;
	for (; loc < stop; loc++)
		if (is_kernel_text(*loc) || is_kernel_inittext(*loc))
			table->sites[nr++] = *loc - (unsigned long)_stext;
	if (!sorted)
		sort(table->sites, nr, sizeof(*table->sites), mcount_compare_offsets, NULL);
	WRITE_ONCE(table->nr, nr);
	return 0;
}

static int __init mcount_sites_init(void)
{
	if (IS_ENABLED(CONFIG_MCOUNT_RETURNS) &&
	    mcount_make_table(&kernel_returns, __start_return_loc, __stop_return_loc, false))
		return -ENOMEM;
	if (mcount_make_table(&kernel_entries, __start_mcount_loc, __stop_mcount_loc,
			      IS_ENABLED(CONFIG_BUILDTIME_MCOUNT_SORT)))
		return -ENOMEM;

	pr_info("%u call sites\n", kernel_entries.nr);
	if (IS_ENABLED(CONFIG_MCOUNT_RETURNS))
		pr_info("%u call sites before returns\n", kernel_returns.nr);
	mcount_watch_modules();
	mcount_each_in_table(&kernel_returns, mcount_hold_return, true);
	return mcount_sites_set(false, NULL, false);
}
early_initcall(mcount_sites_init);
