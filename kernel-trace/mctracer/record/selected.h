/* SPDX-License-Identifier: GPL-2.0 */
/* Look up whether a function is selected or has triggers. */
#ifndef _KERNEL_TRACE_MCTRACER_SELECTED_H
#define _KERNEL_TRACE_MCTRACER_SELECTED_H

#include <linux/compiler.h>
#include <linux/mcount.h>
#include <linux/mutex.h>
#include <linux/types.h>
#include <asm/sections.h>

/* Writers of lists hold the first; code that changes sets holds the second, inside the first. */
extern struct mutex mctracer_lists_mutex;
extern struct mutex mctracer_sets_mutex;

enum mctracer_function_list {
	MCTRACER_FILTER,	/* functions that are recorded; empty: all */
	MCTRACER_NOTRACE,	/* of these, functions that are not recorded */
	MCTRACER_FUNCTION_LISTS,
};

/* Call sites and sites before returns, ascending. */
struct mctracer_sites {
	size_t nr;
	unsigned long sites[];
};

static __always_inline int mctracer_compare_sites(const void *a, const void *b)
{
	unsigned long x = *(const unsigned long *)a, y = *(const unsigned long *)b;

	return x < y ? -1 : x > y;
}

/* The sites that each list selects; NULL: the list is empty. Changed only by functions.c. */
extern struct mctracer_sites *mctracer_selected[MCTRACER_FUNCTION_LISTS];

struct mctracer_trigger;

/* A trigger at the call site of one of its functions, or at a site before a return. */
struct mctracer_triggered {
	unsigned long site;
	struct mctracer_trigger *trigger;
	unsigned long __percpu *hits;	/* calls or returns that met the condition */
	struct mctracer_hit_block *block;	/* the block that hits is in */
	bool dropped;		/* the table that replaced this one lacks it */
	bool recorded;		/* lists and mode select the call or return, too */
	bool counts;		/* the pre-handler only counts here */
	bool returns;		/* the site is before a return */
	bool begins;		/* a call site: the trigger's return needs data of the call */
	bool tail;		/* the site is before a jump to another function, ... */
	bool unknown;		/* ... so the returned value that the trigger needs is unknown */
};

/*
 * A table of @nr entries, ascending by site, between two entries of site 0. Entries of one site are
 * in the order in which the triggers act.
 */
struct mctracer_triggered_sites {
	size_t nr;
	struct mctracer_triggered **by_trigger;	/* by trigger, then by site */
	struct mctracer_triggered sites[];
};

/* The table that hooks use; NULL: no triggers. Changed only by triggers.c. */
extern struct mctracer_triggered_sites *mctracer_triggered;
extern bool mctracer_returns_triggered;	/* it has sites before returns */

/* Returns are recorded, too. Changed only by tracer.c. */
extern bool mctracer_graph;

/* Functions without triggers call the pre-handler, too. Changed only by tracer.c. */
extern bool mctracer_pre_handler_everywhere;

/* Return any entry of @site in @all, or NULL. Other entries of @site are next to it. */
static __always_inline const struct mctracer_triggered *
mctracer_triggered_at(const struct mctracer_triggered_sites *all, unsigned long site)
{
	const struct mctracer_triggered *base, *at;
	size_t n;

	if (!all)
		return NULL;
	base = all->sites + 1;
	for (n = all->nr; n; n /= 2) {
		at = base + n / 2;
		if (site == at->site)
			return at;
		if (site > at->site) {
			base = at + 1;
			n--;
		}
	}
	return NULL;
}

/* Return any entry of @site in the current table, or NULL. With preemption disabled. */
static __always_inline const struct mctracer_triggered *
mctracer_find_triggered(unsigned long site)
{
	return mctracer_triggered_at(READ_ONCE(mctracer_triggered), site);
}

/* Return true if filter and notrace select @site. Any context, with preemption disabled. */
bool mctracer_site_selected(unsigned long site);
/*
 * Return the enum mcount_site of the function at @ip. Any context, only in a hook, for its own ip.
 */
unsigned long mctracer_ip_kind(unsigned long ip);
/* For mcount: return what @site must do. Any context; preemption may be enabled. */
enum mcount_site mctracer_site_kind(unsigned long site);
enum mcount_site mctracer_return_kind(unsigned long site);
/* Wait until no hook uses sets, tables and maps that were replaced before. May sleep. */
void mctracer_selected_synchronize(void);
/* Return true unless each function just calls the hook. */
bool mctracer_functions_selected(void);

/*
 * For hooks where call sites are static: a map from a hook's ip to its enum mcount_site. tracer.c
 * registers the hooks that read the map only while there is one.
 */
#define MCTRACER_MAP_STEP	4

extern u8 *mctracer_map;
extern unsigned long mctracer_map_size;

static __always_inline unsigned long mctracer_map_index(unsigned long ip)
{
	return (ip - (unsigned long)_stext) / MCTRACER_MAP_STEP;
}

/*
 * Make a map of the selected functions and triggers; NULL if each function just calls the hook, or
 * if call sites are dynamic. Free *@map with vfree(). May sleep. Under mctracer_sets_mutex. Return
 * 0 or -ENOMEM.
 */
int mctracer_map_make(u8 **map);

#endif /* _KERNEL_TRACE_MCTRACER_SELECTED_H */
