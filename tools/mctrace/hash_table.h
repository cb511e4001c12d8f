/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A hash table of structures that contain a struct hash_entry. Adding, finding and removing take
 * constant time on average. The table never looks into the structures: the user compares the keys
 * of entries with equal hashes.
 */
#ifndef _MCTRACE_HASH_TABLE_H
#define _MCTRACE_HASH_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct hash_entry {
	struct hash_entry *next;	/* in the same slot, the latest first */
	struct hash_entry **at;		/* the pointer to this entry */
	uint64_t hash;
};

/* Zeroes are an empty table. */
struct hash_table {
	struct hash_entry **slots;
	size_t nr_slots;	/* a power of two */
	size_t nr;		/* of entries */
};

/* Return a hash of @number. Different numbers have different hashes. */
uint64_t hash_number(uint64_t number);
/* Return a hash of @text and of @more, the hash of the key's other parts. */
uint64_t hash_text(const char *text, uint64_t more);
void hash_add(struct hash_table *table, struct hash_entry *entry, uint64_t hash);
void hash_remove(struct hash_table *table, struct hash_entry *entry);
/* Return the latest entry with this hash; NULL if there is none. */
struct hash_entry *hash_first(const struct hash_table *table, uint64_t hash);
/* Return the entry with @entry's hash that was added before @entry; NULL if there is none. */
struct hash_entry *hash_next(const struct hash_entry *entry);
/* Free the table's own memory. The entries belong to the user. */
void hash_free(struct hash_table *table);

#endif /* _MCTRACE_HASH_TABLE_H */
