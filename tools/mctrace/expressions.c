// SPDX-License-Identifier: GPL-2.0
/* Write expressions that select functions as the kernel reads them: see expressions.h. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "expressions.h"
#include "symbols.h"
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

/*
 * Return true if one of @functions, the lines of the tracer's file, matches: by its name alone if
 * @glob, else by its name and module.
 */
static bool any_matches(const char *functions, const char *pattern, bool glob)
{
	/* Few functions begin with the same letters: only these are compared. */
	size_t length, same = strcspn(pattern, " *?[\\");
	char title[512];

	for (; *functions; functions += length + (functions[length] == '\n')) {
		length = strcspn(functions, "\n");
		if (strncmp(functions, pattern, same))
			continue;
		snprintf(title, sizeof(title), "%.*s", (int)length, functions);
		if (glob)
			title[strcspn(title, " .")] = '\0';
		if (glob ? !fnmatch(pattern, title, 0) : is_matched(title, pattern))
			return true;
	}
	return false;
}

/* Append @word, which @rest of the line follows. A "!" before the name deselects functions. */
static void put_word(struct buffer *to, const char *word, const char *rest, const char *functions)
{
	const char *name = word + (*word == '!');
	char *module = with_blank(name);
	bool is_module = module && any_matches(functions, module, false);
	bool is_glob = !is_module || any_matches(functions, name, true);

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
	char *functions, *word, *rest;
	size_t n;

	if (!strchr(text, ']'))
		return xstrdup(text);
	functions = tracer_read("functions");
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
		put_word(&to, word, rest, functions);
		free(word);
		free(rest);
	}
	free(functions);
	buffer_char(&to, '\0');
	return to.data;
}
