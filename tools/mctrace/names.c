// SPDX-License-Identifier: GPL-2.0
/* A table of names, by an open hash table (FNV-1a, linear probing) that is at most half full. */
#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "util.h"

static uint32_t *slot_of(const struct names *names, const char *name)
{
	uint32_t mask = names->nr_slots - 1, i = 2166136261U;
	const unsigned char *c;

	for (c = (const unsigned char *)name; *c; c++)
		i = (i ^ *c) * 16777619U;
	for (i &= mask; names->slots[i] && strcmp(names->all[names->slots[i] - 1], name);)
		i = (i + 1) & mask;
	return &names->slots[i];
}

static void grow(struct names *names)
{
	uint32_t i;

	free(names->slots);
	names->nr_slots = names->nr_slots ? 2 * names->nr_slots : 1024;
	names->slots = xcalloc(names->nr_slots, sizeof(*names->slots));
	names->all = xrealloc(names->all, names->nr_slots / 2, sizeof(*names->all));
	for (i = 0; i < names->nr; i++)
		*slot_of(names, names->all[i]) = i + 1;
}

uint32_t names_number(struct names *names, const char *name)
{
	uint32_t *slot;

	if (2 * names->nr >= names->nr_slots)
		grow(names);
	slot = slot_of(names, name);
	if (!*slot) {
		names->all[names->nr] = xstrdup(name);
		*slot = ++names->nr;
	}
	return *slot - 1;
}

void names_free(struct names *names)
{
	uint32_t i;

	for (i = 0; i < names->nr; i++)
		free(names->all[i]);
	free(names->all);
	free(names->slots);
	*names = (struct names) { };
}
