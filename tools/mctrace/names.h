/* SPDX-License-Identifier: GPL-2.0 */
/* A table of names: each different name has a number, and the numbers begin at 0. */
#ifndef _MCTRACE_NAMES_H
#define _MCTRACE_NAMES_H

#include <stdint.h>

/* Zeroes are an empty table. */
struct names {
	char **all;		/* by number */
	uint32_t nr;
	uint32_t *slots;	/* numbers + 1 by hash of the name; 0: empty */
	uint32_t nr_slots;	/* a power of two */
};

/* Return the number of @name. Add a copy of the name if it is new. */
uint32_t names_number(struct names *names, const char *name);
/* Free the table's memory, and make it an empty table. */
void names_free(struct names *names);

#endif /* _MCTRACE_NAMES_H */
