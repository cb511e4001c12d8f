/* SPDX-License-Identifier: GPL-2.0 */
/* Looking up whether a function is chosen. */
#ifndef _KERNEL_TRACE_MCTRACER_CHOSEN_H
#define _KERNEL_TRACE_MCTRACER_CHOSEN_H

#include <linux/compiler.h>
#include <linux/mcount.h>
#include <linux/types.h>
#include <asm/sections.h>

enum mctracer_function_list {
	MCTRACER_FILTER,	/* those that are recorded; empty: all */
	MCTRACER_NOTRACE,	/* of these, those that are not */
	MCTRACER_FUNCTION_LISTS,
};

/* Call sites, ascending; also those before returns. */
struct mctracer_sites {
	size_t nr;
	unsigned long sites[];
};

static __always_inline int mctracer_compare_sites(const void *a, const void *b)
{
	unsigned long x = *(const unsigned long *)a, y = *(const unsigned long *)b;

	return x < y ? -1 : x > y;
}

/* What the lists come to; NULL: the list is empty. Changed by functions.c alone. */
extern struct mctracer_sites *mctracer_chosen[MCTRACER_FUNCTION_LISTS];

struct mctracer_trigger;

/* One at a function that has triggers, or at one of its returns. */
struct mctracer_triggered {
	unsigned long site;
	struct mctracer_trigger *trigger;
	unsigned long __percpu *hits;	/* how often it was called, or returned as it is to */
	struct mctracer_hit_block *block;	/* which hits are part of */
	bool dropped;		/* the table that has replaced this one does not have it */
	bool recorded;		/* the call, or return, is recorded, too */
	bool counts;		/* this is all there is to be done */
	bool returns;		/* it is a return */
	bool begins;		/* a call of which something is to be known when it returns */
	bool tail;		/* it is a jump to another function, ... */
	bool unknown;		/* ... so what that is to know is not known here */
};

/* Ascending, and between two of site 0. Of one site in the order in which they act. */
struct mctracer_triggered_sites {
	size_t nr;
	struct mctracer_triggered **by_trigger;	/* the same by trigger, then ascending */
	struct mctracer_triggered sites[];
};

/* NULL: there is none. Changed by triggers.c alone. */
extern struct mctracer_triggered_sites *mctracer_triggered;
extern bool mctracer_returns_triggered;	/* some of these are returns */

/* Returns are recorded, too. Changed by tracer.c alone. */
extern bool mctracer_graph;

/* Functions without triggers call the gate, too. Changed by tracer.c alone. */
extern bool mctracer_gate_everywhere;

/* One of @site in @all, or NULL; others of that site are beside it. */
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

/* The same of those that there are now. With preemption disabled. */
static __always_inline const struct mctracer_triggered *
mctracer_find_triggered(unsigned long site)
{
	return mctracer_triggered_at(READ_ONCE(mctracer_triggered), site);
}

/* In a hook, for its ip, or with preemption disabled, for a call site. Any context. */
bool mctracer_site_chosen(unsigned long site);
unsigned long mctracer_ip_kind(unsigned long ip);	/* an enum mcount_site */
/* For mcount; any context that may be preempted. */
enum mcount_site mctracer_site_kind(unsigned long site);
enum mcount_site mctracer_return_kind(unsigned long site);
/* What these looked at before is not in use any more. May sleep. */
void mctracer_chosen_synchronize(void);
/* Whether not simply all are. */
bool mctracer_functions_chosen(void);

/*
 * For hooks where call sites are static: by a hook's ip, its enum mcount_site. Hooks that
 * look are registered only while there is a map; tracer.c sees to that.
 */
#define MCTRACER_MAP_STEP	4

extern u8 *mctracer_map;
extern unsigned long mctracer_map_size;

static __always_inline unsigned long mctracer_map_index(unsigned long ip)
{
	return (ip - (unsigned long)_stext) / MCTRACER_MAP_STEP;
}

/*
 * A map of what is chosen now, while that can't change; NULL if all are, or if nobody
 * looks. To be freed with vfree(). -ENOMEM. May sleep.
 */
int mctracer_map_make(u8 **map);

#endif /* _KERNEL_TRACE_MCTRACER_CHOSEN_H */
