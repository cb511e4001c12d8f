// SPDX-License-Identifier: GPL-2.0
/* The functions that were met in recordings, in a table of names: see functions.h. */
#include <stdlib.h>
#include <string.h>

#include "functions.h"
#include "names.h"
#include "util.h"

struct function {
	char *name;
	const char *title;
	uint64_t address;
};

struct functions {
	bool by_name;
	struct names keys;	/* "ADDRESS TITLE", or " TITLE" if by name */
	struct function *all;	/* by id, which is the number of the function's key */
	uint32_t room;
};

struct functions *functions_new(bool by_name)
{
	struct functions *functions = xcalloc(1, sizeof(*functions));

	functions->by_name = by_name;
	return functions;
}

uint32_t functions_id(struct functions *functions, uint64_t address, const char *name,
		      size_t length, const char *title)
{
	uint32_t nr = functions->keys.nr, id;
	char *key;

	if (functions->by_name)
		key = xasprintf(" %s", title);
	else
		key = xasprintf("%llx %s", (unsigned long long)address, title);
	id = names_number(&functions->keys, key);
	free(key);
	if (id < nr)
		return id;
	if (id == functions->room) {
		functions->room = functions->room ? 2 * functions->room : 4096;
		functions->all = xrealloc(functions->all, functions->room,
					  sizeof(*functions->all));
	}
	functions->all[id] = (struct function) {
		.name = xasprintf("%.*s", (int)length, name),
		.title = strchr(functions->keys.all[id], ' ') + 1,
		.address = address,
	};
	return id;
}

uint32_t functions_nr(const struct functions *functions)
{
	return functions->keys.nr;
}

const char *functions_name(const struct functions *functions, uint32_t id)
{
	return functions->all[id].name;
}

const char *functions_title(const struct functions *functions, uint32_t id)
{
	return functions->all[id].title;
}

uint64_t functions_address(const struct functions *functions, uint32_t id)
{
	return functions->all[id].address;
}

void functions_free(struct functions *functions)
{
	uint32_t id;

	for (id = 0; id < functions->keys.nr; id++)
		free(functions->all[id].name);
	free(functions->all);
	names_free(&functions->keys);
	free(functions);
}
