// SPDX-License-Identifier: GPL-2.0
/* Write expressions that select functions as the kernel reads them: see expressions.h. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "expressions.h"
#include "symbols.h"
#include "traceable.h"
#include "tracer.h"
#include "util.h"

#define MODULE_CHARACTERS \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

/* Return @word as "NAME [MODULE]", or NULL if it does not end with "[MODULE]". */
static char *with_blank(const char *word)
{
	const char *open = strrchr(word, '['), *end;

	if (!open || open == word)
		return NULL;
	end = open + 1 + strspn(open + 1, MODULE_CHARACTERS);
	if (end == open + 1 || strcmp(end, "]"))
		return NULL;
	return xasprintf("%.*s %s", (int)(open - word), word, open);
}

/* Return the lines of the tracer's file "functions", which is read once. */
static const char *all_functions(void)
{
	static char *functions;

	if (!functions)
		functions = tracer_read("functions");
	return functions;
}

/*
 * Return true if one of all functions matches: by its name alone if @glob, else by its name and
 * module.
 */
static bool any_matches(const char *pattern, bool glob)
{
	/* Few functions begin with the same letters: only these are compared. */
	const size_t same = strcspn(pattern, " *?[\\");
	struct traceable one = { .rest = all_functions() };

	while (traceable_next(&one)) {
		if (strncmp(one.title, pattern, same))
			continue;
		one.name[strcspn(one.name, ".")] = '\0';
		if (glob ? !fnmatch(pattern, one.name, 0) : is_matched(one.title, pattern))
			return true;
	}
	return false;
}

/* Append @word, which @rest of the line follows. A "!" before the name deselects functions. */
static void put_word(struct buffer *to, const char *word, const char *rest)
{
	const char *name = word + (*word == '!');
	char *module = with_blank(name);
	bool is_module = module && any_matches(module, false);
	bool is_glob = !is_module || any_matches(name, true);

	if (is_module)
		buffer_printf(to, "%.*s%s%s", (int)(name - word), word, module, rest);
	if (is_module && is_glob)
		buffer_char(to, '\n');
	if (is_glob)
		buffer_printf(to, "%s%s", word, rest);
	free(module);
}

char *expressions_for_kernel(const char *text, bool triggers)
{
	struct buffer to = { };
	char *word, *rest;
	size_t n;

	if (!strchr(text, ']'))
		return xstrdup(text);
	while (*text) {
		n = strspn(text, " \t\n");
		buffer_put(&to, text, n);
		text += n;
		n = strcspn(text, triggers ? ": \t\n" : " \t\n");
		word = xasprintf("%.*s", (int)n, text);
		text += n;
		n = triggers ? strcspn(text, "\n") : 0;
		rest = xasprintf("%.*s", (int)n, text);
		text += n;
		put_word(&to, word, rest);
		free(word);
		free(rest);
	}
	buffer_char(&to, '\0');
	return to.data;
}
