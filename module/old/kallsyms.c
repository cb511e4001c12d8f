// SPDX-License-Identifier: GPL-2.0
/* Visits symbols in kernels that pass each symbol's module, and that visit all modules at once. */
#include "compat.h"

struct seen {
	mctracer_compat_see *see;
	const char *only;
	void *data;
};

static int see(void *data, const char *name, struct module *mod, unsigned long addr)
{
	const struct seen *seen = data;

	if (seen->only && (!mod || strcmp(mod->name, seen->only)))
		return 0;
	return seen->see(seen->data, name, addr);
}

int mctracer_compat_on_each_symbol(mctracer_compat_see *see_symbol, void *data)
{
	struct seen seen = { .see = see_symbol, .data = data };

	return static_call(mctracer_kallsyms_on_each_symbol)(see, &seen);
}

int mctracer_compat_on_modules_symbol(const char *only, mctracer_compat_see *see_symbol, void *data)
{
	struct seen seen = { .see = see_symbol, .only = only, .data = data };

	return static_call(mctracer_module_kallsyms_on_each_symbol)(see, &seen);
}
