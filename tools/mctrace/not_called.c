// SPDX-License-Identifier: GPL-2.0
/* Explain why a function has no calls in a recording. */
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "functions.h"
#include "traceable.h"
#include "tracer.h"
#include "util.h"
#include "view.h"

struct search {
	const char *name;
	bool found;
};

static void look_at(void *arg, uint64_t address, const char *name, size_t length,
		    const char *module, size_t module_length)
{
	struct search *search = arg;
	char *title;

	(void)address;
	if (search->found || strncmp(name, search->name, strcspn(search->name, " [")))
		return;
	title = xasprintf("%.*s%s%.*s%s", (int)length, name, module_length ? " [" : "",
			  (int)module_length, module, module_length ? "]" : "");
	search->found = is_named(title, search->name);
	free(title);
}

static bool is_in_kernel(const struct view *view, const char *name)
{
	struct search search = { .name = name };

	symbols_each(view->symbols, &search, look_at);
	return search.found;
}

static bool is_running_kernel(const struct recording *from)
{
	const char *version = recording_info(from, "version");
	struct utsname name;

	return !uname(&name) && version && !strcmp(version, name.version);
}

/* Return true if the running kernel is the recording's and can't trace the function. */
static bool is_not_traced(const struct view *view, const char *name)
{
	char *all = is_running_kernel(view->from) ? read_file(tracer_path("functions")) : NULL;
	struct traceable one = { .rest = all };
	bool found = !all;

	while (!found && traceable_next(&one))
		found = is_named(one.title, name);
	free(all);
	return !found;
}

static bool was_met(const struct view *view, const char *name)
{
	const struct functions *met = symbols_sums(view->symbols);
	size_t i;

	for (i = 0; i < functions_nr(met); i++)
		if (is_named(functions_title(met, i), name))
			return true;
	return false;
}

static const char *why(const struct view *view, const char *name)
{
	if (!view->from->nr_symbols)
		return "";
	if (!is_in_kernel(view, name))
		return ": the kernel has no function of this name, unless it is inlined";
	if (is_not_traced(view, name))
		return ": it can't be traced, see 'mctrace list'";
	if (was_met(view, name))
		return view->select ? ": no call of it is selected" :
		       ": it calls others there, but its own calls were not recorded";
	if (recording_number(view->from, "chosen"))
		return ": not all functions were recorded";
	return "";
}

void die_not_called(const struct view *view, const char *name, const char *meant)
{
	/* Of several kernels only the last one is still known. */
	if (meant && (view->several || !is_in_kernel(view, name)))
		die("%s was not called in %s: did you mean %s", name, view->title, meant);
	die("%s was not called in %s%s", name, view->title,
	    view->several ? "" : why(view, name));
}
