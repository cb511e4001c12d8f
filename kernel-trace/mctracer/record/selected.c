// SPDX-License-Identifier: GPL-2.0
/*
 * Look up whether a function is selected, in the sets of call sites that functions.c makes, and
 * what its call site must do.
 *
 * Where call sites are static, hooks look up each call. For the kernel's own functions they use a
 * map with a byte for each MCTRACER_MAP_STEP bytes of text; no two functions are so close that they
 * share a byte. Hooks run where no sanitizer can, and read the map before they disable preemption.
 */
#include <linux/bsearch.h>
#include <linux/cleanup.h>
#include <linux/compiler.h>
#include <linux/cpu.h>
#include <linux/mcount.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/string.h>
#include <linux/vmalloc.h>
#include <asm/barrier.h>
#include <asm/sections.h>

#include "follow.h"
#include "selected.h"

/* Serializes writers of lists. */
DEFINE_MUTEX(mctracer_lists_mutex);
/* Protects lists and sets. Inside mctracer_lists_mutex; alone while a module is loaded. */
DEFINE_MUTEX(mctracer_sets_mutex);

struct mctracer_sites *mctracer_selected[MCTRACER_FUNCTION_LISTS];
struct mctracer_triggered_sites *mctracer_triggered;
bool mctracer_returns_triggered;
enum mctracer_following mctracer_following, mctracer_follow_triggered;
bool mctracer_pre_handler_everywhere;
bool mctracer_graph;
u8 *mctracer_map;
unsigned long mctracer_map_size;

static __always_inline bool site_set_has(const struct mctracer_sites *set, unsigned long site)
{
	/* Walks over all sites mostly miss, so test the bounds first. */
	if (!set->nr || site < set->sites[0] || site > set->sites[set->nr - 1])
		return false;
	return __inline_bsearch(&site, set->sites, set->nr, sizeof(site),
				mctracer_compare_sites);
}

static __always_inline bool site_is_selected(unsigned long site)
{
	const struct mctracer_sites *only = READ_ONCE(mctracer_selected[MCTRACER_FILTER]);
	const struct mctracer_sites *never = READ_ONCE(mctracer_selected[MCTRACER_NOTRACE]);

	return (!only || site_set_has(only, site)) && !(never && site_set_has(never, site));
}

bool mctracer_site_selected(unsigned long site)
{
	return site_is_selected(site);
}

static __always_inline enum mcount_site site_kind(unsigned long site)
{
	if (READ_ONCE(mctracer_pre_handler_everywhere) || mctracer_find_triggered(site))
		return MCOUNT_PRE_HANDLER;
	return site_is_selected(site) ? MCOUNT_HOOK : MCOUNT_NOTHING;
}

unsigned long mctracer_ip_kind(unsigned long ip)
{
	guard(preempt_notrace)();
	return site_kind(ip - MCOUNT_SITE_SIZE);
}

enum mcount_site mctracer_site_kind(unsigned long site)
{
	guard(preempt_notrace)();
	return site_kind(site);
}

enum mcount_site mctracer_return_kind(unsigned long site)
{
	guard(preempt_notrace)();
	if (mctracer_find_triggered(site))
		return MCOUNT_PRE_HANDLER;
	return READ_ONCE(mctracer_graph) && !mctracer_is_following() && site_is_selected(site) ?
	       MCOUNT_HOOK : MCOUNT_NOTHING;
}

bool mctracer_functions_selected(void)
{
	return READ_ONCE(mctracer_selected[MCTRACER_FILTER]) ||
	       READ_ONCE(mctracer_selected[MCTRACER_NOTRACE]) ||
	       READ_ONCE(mctracer_triggered) || READ_ONCE(mctracer_pre_handler_everywhere);
}

void mctracer_selected_synchronize(void)
{
	/* RCU does not watch a CPU that comes online: wait until such CPUs are online. */
	cpus_read_lock();
	cpus_read_unlock();
	synchronize_rcu();
}

/* Store @value in @map for each site of @set. */
static void map_mark_sites(u8 *map, const struct mctracer_sites *set, u8 value)
{
	unsigned long at;
	size_t i;

	for (i = 0; set && i < set->nr; i++) {
		at = mctracer_map_index(set->sites[i] + MCOUNT_SITE_SIZE);
		if (at < mctracer_map_size)
			map[at] = value;
	}
}

static void map_mark_triggered(u8 *map)
{
	const struct mctracer_triggered_sites *all = mctracer_triggered;
	unsigned long at;
	size_t i;

	for (i = 1; all && i <= all->nr; i++) {
		at = mctracer_map_index(all->sites[i].site + MCOUNT_SITE_SIZE);
		if (at < mctracer_map_size)
			map[at] = MCOUNT_PRE_HANDLER;
	}
}

int mctracer_map_make(u8 **map)
{
	const struct mctracer_sites *only = mctracer_selected[MCTRACER_FILTER];
	unsigned long size = mctracer_map_index((unsigned long)_etext);

	*map = NULL;
	if (IS_ENABLED(CONFIG_MCOUNT_DYNAMIC) || !mctracer_functions_selected())
		return 0;
	*map = vmalloc(size);
	if (!*map)
		return -ENOMEM;
	mctracer_map_size = size;
	memset(*map, only ? MCOUNT_NOTHING : MCOUNT_HOOK, size);
	map_mark_sites(*map, only, MCOUNT_HOOK);
	map_mark_sites(*map, mctracer_selected[MCTRACER_NOTRACE], MCOUNT_NOTHING);
	map_mark_triggered(*map);
	if (READ_ONCE(mctracer_pre_handler_everywhere))
		memset(*map, MCOUNT_PRE_HANDLER, size);
	return 0;
}
