// SPDX-License-Identifier: GPL-2.0
/* A hash table of structures that contain a struct hash_entry: see hash_table.h. */
#include <stdlib.h>

#include "hash_table.h"
#include "util.h"

uint64_t hash_number(uint64_t number)
{
	number *= 0x9e3779b97f4a7c15ULL;
	return number ^ number >> 32;
}

uint64_t hash_text(const char *text, uint64_t more)
{
	for (; *text; text++)
		more = (more ^ (unsigned char)*text) * 0x100000001b3ULL;	/* FNV-1a */
	return hash_number(more);
}

/* Put the entries of each slot into one of two slots, in the same order. */
static void grow(struct hash_table *table)
{
	struct hash_entry **old = table->slots, *entry, **ends[2], ***end;
	size_t nr = table->nr_slots, i;

	table->nr_slots = nr ? 2 * nr : 64;
	table->slots = xcalloc(table->nr_slots, sizeof(*table->slots));
	for (i = 0; i < nr; i++) {
		ends[0] = &table->slots[i];
		ends[1] = &table->slots[i + nr];
		for (entry = old[i]; entry; entry = entry->next) {
			end = &ends[!!(entry->hash & nr)];
			**end = entry;
			entry->at = *end;
			*end = &entry->next;
		}
		*ends[0] = NULL;
		*ends[1] = NULL;
	}
	free(old);
}

void hash_add(struct hash_table *table, struct hash_entry *entry, uint64_t hash)
{
	struct hash_entry **slot;

	if (table->nr == table->nr_slots)
		grow(table);
	table->nr++;
	slot = &table->slots[hash & (table->nr_slots - 1)];
	*entry = (struct hash_entry) { .next = *slot, .at = slot, .hash = hash };
	if (*slot)
		(*slot)->at = &entry->next;
	*slot = entry;
}

void hash_remove(struct hash_table *table, struct hash_entry *entry)
{
	*entry->at = entry->next;
	if (entry->next)
		entry->next->at = entry->at;
	table->nr--;
}

static struct hash_entry *same_hash(struct hash_entry *entry, uint64_t hash)
{
	while (entry && entry->hash != hash)
		entry = entry->next;
	return entry;
}

struct hash_entry *hash_first(const struct hash_table *table, uint64_t hash)
{
	if (!table->nr)
		return NULL;
	return same_hash(table->slots[hash & (table->nr_slots - 1)], hash);
}

struct hash_entry *hash_next(const struct hash_entry *entry)
{
	return same_hash(entry->next, entry->hash);
}

void hash_free(struct hash_table *table)
{
	free(table->slots);
	*table = (struct hash_table) { };
}
