// SPDX-License-Identifier: GPL-2.0
/* Make the triggers that record strings which arguments point to. */
#include <ctype.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "strings.h"
#include "traceable.h"
#include "util.h"

/* A parsed line "FUNCTION:[followed:]args[:COUNT]". */
struct line {
	char *function;		/* without the module */
	char *module;		/* NULL: any */
	char *when;		/* "followed:" or "" */
	char *count;		/* ":5" or "" */
};

struct found {
	char *name;
	char *place;		/* NULL: no string */
};

static char *without_spaces(char *text)
{
	char *end = text + strlen(text);

	while (end > text && isspace((unsigned char)end[-1]))
		*--end = '\0';
	return text + strspn(text, " \t");
}

/* Return where ":args" begins, if "args" is the whole action; else NULL. */
static char *find_args(char *text)
{
	char *at;

	for (at = strstr(text, ":args"); at; at = strstr(at + 1, ":args"))
		if (!at[5] || strchr(": \t", at[5]))
			return at;
	return NULL;
}

/*
 * Split the module from line->function: "mod:MODULE", "FUNCTION:mod:MODULE" or "FUNCTION [MODULE]".
 * Return false if the line is of no use.
 */
static bool split_module(struct line *line)
{
	char *name = line->function, *at = strstr(name, ":mod:");

	if (!strncmp(name, "mod:", 4)) {
		line->function = "*";
		line->module = name + 4;
	} else if (at) {
		*at = '\0';
		line->module = at + 5;
	} else if (strpbrk(name, " \t")) {
		at = strpbrk(name, " \t");
		*at++ = '\0';
		at += strspn(at, " \t");
		if (*at != '[' || !strchr(at, ']'))
			return false;
		line->module = at + 1;
		*strchr(at, ']') = '\0';
	}
	return *line->function && *line->function != '!';
}

static bool split(struct line *line, char *text)
{
	char *at = find_args(text), *colon;

	*line = (struct line) { .when = "", .count = "" };
	text[strcspn(text, "#")] = '\0';
	if (!at || *text == '!')
		return false;
	*at = '\0';
	line->count = without_spaces(at + 5);
	line->function = without_spaces(text);
	colon = strrchr(line->function, ':');
	if (colon && !strcmp(without_spaces(colon + 1), "followed")) {
		*colon = '\0';
		line->when = "followed:";
	}
	return split_module(line);
}

/*
 * Return true if @line matches the function. Exclude what gcc makes of a function,
 * "foo.constprop.0", because its arguments may differ.
 */
static bool is_asked(const struct line *line, const char *name, const char *module)
{
	if (line->module && (!module || strcmp(module, line->module)))
		return false;
	return !strchr(name, '.') && !fnmatch(line->function, name, 0);
}

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct found *)a)->name, ((const struct found *)b)->name);
}

/* Return all functions that @line matches, sorted, so that equal names are adjacent. */
static struct found *find(const struct line *line, const char *functions, struct prototypes *types,
			  size_t *nr)
{
	struct traceable one = { .rest = functions };
	const char *module, *place;
	struct found *all = NULL;

	for (*nr = 0; traceable_next(&one);) {
		module = *one.module ? one.module : NULL;
		if (!is_asked(line, one.name, module))
			continue;
		place = prototypes_string(types, one.name, module);
		all = xrealloc(all, *nr + 1, sizeof(*all));
		all[(*nr)++] = (struct found) {
			xstrdup(one.name), place ? xstrdup(place) : NULL,
		};
	}
	if (*nr)
		qsort(all, *nr, sizeof(*all), compare);
	return all;
}

static bool same_name(const struct found *all, size_t nr, size_t i, size_t other)
{
	return other < nr && !strcmp(all[i].name, all[other].name);
}

/*
 * Append a trigger for each function of @line. Omit functions that share a name, because their
 * types can't be told apart. Omit all if the line has a count and several functions, because a
 * count applies to all functions of a line together.
 */
static void put_line(struct buffer *to, struct line *line, const char *functions,
		     struct prototypes *types)
{
	struct found *all;
	size_t nr, i;

	all = find(line, functions, types, &nr);
	for (i = 0; i < nr; i++)
		if (all[i].place && !same_name(all, nr, i, i - 1) &&
		    !same_name(all, nr, i, i + 1) && (nr == 1 || !*line->count))
			buffer_printf(to, "%s:%sdata %s%s\n", all[i].name, line->when,
				      all[i].place, line->count);
	for (i = 0; i < nr; i++) {
		free(all[i].name);
		free(all[i].place);
	}
	free(all);
}

char *strings_triggers(const char *triggers, const char *functions, struct prototypes *types)
{
	char *lines = xstrdup(triggers), *rest = lines, *line;
	struct buffer to = { };
	struct line parts;

	/* The tracer records one piece of memory a call. */
	if (!strstr(triggers, ":data "))
		while ((line = strsep(&rest, "\n")))
			if (split(&parts, line))
				put_line(&to, &parts, functions, types);
	free(lines);
	buffer_char(&to, '\0');
	return to.data;
}
