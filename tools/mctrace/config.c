// SPDX-License-Identifier: GPL-2.0
/*
 * Read the settings of "mctrace start --config" from a file with lines "KEY = VALUE", and write
 * them to the tracer. Each error ends mctrace, and names the file, the line and the word.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "expressions.h"
#include "session.h"
#include "setup.h"
#include "tracer.h"
#include "util.h"

/* A word, or a trigger, that is written to a file of the tracer. */
struct item {
	const char *file;
	char *word;
	unsigned int line;
};

static const char *config_path;
static struct item *items;
static unsigned int nr_items;

/* End mctrace with @reason, and name the line. */
static void config_die(unsigned int line, const char *reason)
{
	die("%s line %u: %s", config_path, line, reason);
}

static void add_item(const char *file, const char *word, unsigned int line)
{
	items = xrealloc(items, nr_items + 1, sizeof(*items));
	items[nr_items++] = (struct item) {
		.file = file,
		.word = xasprintf("%s\n", word),
		.line = line,
	};
}

/* Add each word; but a module, "[MODULE]", belongs to the word before. */
static void add_words(const char *file, char *value, unsigned int line)
{
	char *word, *next, *saved, *both;

	for (word = strtok_r(value, " \t", &saved); word; word = next) {
		next = strtok_r(NULL, " \t", &saved);
		if (!next || *next != '[') {
			add_item(file, word, line);
			continue;
		}
		both = xasprintf("%s %s", word, next);
		add_item(file, both, line);
		free(both);
		next = strtok_r(NULL, " \t", &saved);
	}
}

static void take_filter(struct setup *setup, char *value, unsigned int line)
{
	(void)setup;
	add_words("filter", value, line);
}

static void take_notrace(struct setup *setup, char *value, unsigned int line)
{
	(void)setup;
	add_words("notrace", value, line);
}

static void take_trigger(struct setup *setup, char *value, unsigned int line)
{
	(void)setup;
	add_item("triggers", value, line);
}

static void take_options(struct setup *setup, char *value, unsigned int line)
{
	(void)setup;
	add_words("options", value, line);
}

static void take_mode(struct setup *setup, char *value, unsigned int line)
{
	if (strcmp(value, "graph") && strcmp(value, "function"))
		config_die(line, xasprintf("mode is function or graph, not '%s'", value));
	setup->graph = !strcmp(value, "graph");
}

static void check_number(const char *key, const char *value, unsigned int line)
{
	if (strspn(value, "0123456789") != strlen(value) || strlen(value) > 9)
		config_die(line, xasprintf("%s is a number, not '%s'", key, value));
}

static void take_size(struct setup *setup, char *value, unsigned int line)
{
	check_number("ring-size", value, line);
	if (!atoi(value))
		config_die(line, "a ring of 0 KiB records nothing");
	setup->chosen_kb = true;
	add_item("buffer_size_kb", value, line);
}

static void take_dump(struct setup *setup, char *value, unsigned int line)
{
	(void)setup;
	check_number("dump", value, line);
	add_item(TRACER_DUMP, value, line);
}

/* Only check keep: it is for the program that saves recordings. */
static void take_keep(struct setup *setup, char *value, unsigned int line)
{
	(void)setup;
	check_number("keep", value, line);
	if (!atoi(value))
		config_die(line, "keep is 1 or more");
}

static const struct {
	const char *name;
	void (*take)(struct setup *setup, char *value, unsigned int line);
} keys[] = {
	{ "dump",	take_dump },
	{ "filter",	take_filter },
	{ "keep",	take_keep },
	{ "mode",	take_mode },
	{ "notrace",	take_notrace },
	{ "options",	take_options },
	{ "ring-size",	take_size },
	{ "trigger",	take_trigger },
};

/* Return the key that @name may have been meant for; NULL: none. */
static const char *key_meant(const char *name)
{
	struct guess guess = { .typed = name };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++)
		guess_consider(&guess, keys[i].name);
	return guess.meant;
}

/* Return @text without white space at its begin and end, which is cut off. */
static char *trimmed(char *text)
{
	char *end;

	while (isspace((unsigned char)*text))
		text++;
	for (end = text + strlen(text); end > text && isspace((unsigned char)end[-1]);)
		*--end = '\0';
	return text;
}

static void take_line(struct setup *setup, char *text, unsigned int line)
{
	char *name = trimmed(text), *value;
	const char *meant;
	size_t i;

	if (!*name || *name == '#')
		return;
	value = strchr(name, '=');
	if (!value)
		config_die(line, xasprintf("'%s' has no '=': a line is KEY = VALUE", name));
	*value++ = '\0';
	name = trimmed(name);
	value = trimmed(value);
	for (i = 0; i < ARRAY_SIZE(keys) && strcmp(keys[i].name, name); i++)
		;
	if (i == ARRAY_SIZE(keys)) {
		meant = key_meant(name);
		config_die(line, xasprintf("there is no key '%s'%s%s%s", name,
					   meant ? ": did you mean '" : "", meant ?: "",
					   meant ? "'?" : ""));
	}
	if (!*value)
		config_die(line, xasprintf("'%s' has no value", name));
	keys[i].take(setup, value, line);
}

void config_read(const char *path, struct setup *setup)
{
	char *text = read_file(path), *line, *next;
	unsigned int nr = 0;

	if (!text)
		die_errno("%s", path);
	config_path = path;
	for (line = text; *line; line = next) {
		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = '\0';
		take_line(setup, line, ++nr);
	}
	free(text);
}

static int word_length(const struct item *item)
{
	return strcspn(item->word, "\n");
}

/* Warn if the rings keep their size. */
static void set_size(const struct item *item)
{
	if (session_try(item->file, item->word))
		return;
	if (errno != EBUSY)
		config_die(item->line, xasprintf("rings of %.*s KiB: %s", word_length(item),
						 item->word, strerror(errno)));
	warning("%s line %u: ring-size is ignored: the rings lie in reserved memory, or are mapped",
		config_path, item->line);
}

static void set_option(const struct item *item)
{
	if (!session_try(item->file, item->word))
		config_die(item->line, xasprintf("option '%.*s': %s", word_length(item), item->word,
						 errno == EINVAL ? "there is no such option" :
								   strerror(errno)));
}

void config_apply(void)
{
	const struct item *item;
	char *place, *text;

	for (item = items; item < items + nr_items; item++) {
		if (!strcmp(item->file, "buffer_size_kb")) {
			set_size(item);
			continue;
		}
		if (!strcmp(item->file, "options")) {
			set_option(item);
			continue;
		}
		place = xasprintf("%s line %u: ", config_path, item->line);
		if (!strcmp(item->file, TRACER_DUMP) && !tracer_has(TRACER_DUMP))
			die("%sthis kernel can't print calls when it crashes: it has no %s", place,
			    TRACER_DUMP);
		text = expressions_for_kernel(item->word, !strcmp(item->file, "triggers"));
		session_add(item->file, text, place);
		free(text);
		free(place);
	}
}
