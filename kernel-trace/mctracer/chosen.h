/* SPDX-License-Identifier: GPL-2.0 */
/* Looking up whether a function is chosen. */
#ifndef _KERNEL_TRACE_MCTRACER_CHOSEN_H
#define _KERNEL_TRACE_MCTRACER_CHOSEN_H

#include <linux/compiler.h>
#include <linux/types.h>
#include <asm/sections.h>

enum mctracer_function_list {
	MCTRACER_FILTER,	/* those that are recorded; empty: all */
	MCTRACER_NOTRACE,	/* of these, those that are not */
	MCTRACER_FUNCTION_LISTS,
};

/* Call sites, ascending. */
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

/* In a hook, for its ip, or with preemption disabled, for a call site. Any context. */
bool mctracer_site_chosen(unsigned long site);
unsigned long mctracer_ip_chosen(unsigned long ip);
/* What these looked at before is not in use any more. May sleep. */
void mctracer_chosen_synchronize(void);
/* Whether not simply all are. */
bool mctracer_functions_chosen(void);

/*
 * For hooks where call sites are static: by a hook's ip, whether it is chosen. Hooks that
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
