/* SPDX-License-Identifier: GPL-2.0 */
/* A table of addresses: each address has a number that the caller sets. */
#ifndef _MCTRACE_ADDRESSES_H
#define _MCTRACE_ADDRESSES_H

#include <stddef.h>
#include <stdint.h>

/* Zeroes are an empty table. */
struct addresses {
	struct address_slot {
		uint64_t address;
		uint32_t number;	/* 0: empty */
	} *slots;			/* by hash of the address */
	size_t nr_slots;		/* a power of two */
	size_t nr;
};

/* Give @address a number other than 0. */
void addresses_set(struct addresses *addresses, uint64_t address, uint32_t number);
/* Return the number of @address; 0: it has none. The table must not be empty. */
uint32_t addresses_number(const struct addresses *addresses, uint64_t address);
/* Free the table's memory, and make it an empty table. */
void addresses_free(struct addresses *addresses);

#endif /* _MCTRACE_ADDRESSES_H */
