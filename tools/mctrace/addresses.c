// SPDX-License-Identifier: GPL-2.0
/* A table of addresses, by an open hash table (linear probing) that is at most half full. */
#include <stdlib.h>

#include "addresses.h"
#include "util.h"

static struct address_slot *slot_of(const struct addresses *addresses, uint64_t address)
{
	uint64_t hash = address * 0x9e3779b97f4a7c15ULL;
	size_t mask = addresses->nr_slots - 1, i = (hash >> 32 ^ hash) & mask;

	while (addresses->slots[i].number && addresses->slots[i].address != address)
		i = (i + 1) & mask;
	return &addresses->slots[i];
}

static void grow(struct addresses *addresses)
{
	struct address_slot *old = addresses->slots;
	size_t nr = addresses->nr_slots, i;

	addresses->nr_slots = nr ? 2 * nr : 1024;
	addresses->slots = xcalloc(addresses->nr_slots, sizeof(*addresses->slots));
	for (i = 0; i < nr; i++)
		if (old[i].number)
			*slot_of(addresses, old[i].address) = old[i];
	free(old);
}

void addresses_set(struct addresses *addresses, uint64_t address, uint32_t number)
{
	struct address_slot *slot;

	if (2 * addresses->nr >= addresses->nr_slots)
		grow(addresses);
	slot = slot_of(addresses, address);
	addresses->nr += !slot->number;
	*slot = (struct address_slot) { address, number };
}

uint32_t addresses_number(const struct addresses *addresses, uint64_t address)
{
	return slot_of(addresses, address)->number;
}

void addresses_free(struct addresses *addresses)
{
	free(addresses->slots);
	*addresses = (struct addresses) { };
}
