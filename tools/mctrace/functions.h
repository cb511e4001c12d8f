/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The functions that were met in recordings. Each has an id, and the ids begin at 0. In the table
 * of one recording a function's address, name and module identify it. In a table of several
 * recordings only name and module do, because the kernels may differ.
 */
#ifndef _MCTRACE_FUNCTIONS_H
#define _MCTRACE_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct functions;

/* @by_name: for several recordings. */
struct functions *functions_new(bool by_name);
/*
 * Return the id of a function, which is added if it is new. @name has @length bytes. @title is the
 * name with the module: it distinguishes functions of two modules that were at one address in turn.
 */
uint32_t functions_id(struct functions *functions, uint64_t address, const char *name,
		      size_t length, const char *title);
uint32_t functions_nr(const struct functions *functions);
const char *functions_name(const struct functions *functions, uint32_t id);
const char *functions_title(const struct functions *functions, uint32_t id);
/* Return the address at which the function begins. Not if by name. */
uint64_t functions_address(const struct functions *functions, uint32_t id);
void functions_free(struct functions *functions);

#endif /* _MCTRACE_FUNCTIONS_H */
