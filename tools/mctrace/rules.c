// SPDX-License-Identifier: GPL-2.0
/* Read rule sets from files, and turn their triggers into lines of the file "triggers". */
#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "prototypes.h"
#include "rules.h"
#include "rules_parsed.h"
#include "traceable.h"
#include "util.h"

#ifndef RULES_DIR
#define RULES_DIR	"/usr/share/mctrace/rules"
#endif

/* --- reading --- */

/*
 * Return the path of the rules @name. An installed set takes precedence over a file in the current
 * directory, which may be the output being written: "object bio >bio".
 */
static char *find_file(const char *name)
{
	const char *own = getenv("MCTRACE_RULES");
	char *path;

	if (strchr(name, '/'))
		return xstrdup(name);
	if (own) {
		path = xasprintf("%s/%s.rules", own, name);
		if (!access(path, F_OK))
			return path;
		free(path);
	}
	path = xasprintf(RULES_DIR "/%s.rules", name);
	if (!access(path, F_OK))
		return path;
	if (access(name, F_OK))
		die("there are no rules for '%s': neither %s, nor a file in $MCTRACE_RULES", name,
		    path);
	free(path);
	return xstrdup(name);
}

static void __attribute__((noreturn)) refuse(const struct rules *rules, unsigned int line,
					     const char *what)
{
	die("%s, line %u: %s", rules->path, line, what);
}

static unsigned int parse_role(const char *text)
{
	if (!strncmp(text, "ret", 3))
		return MCTRACER_OBJECT_RETURNED;
	return *text >= '1' && *text <= '0' + MCTRACER_ARGS ? *text - '0' : 0;
}

/* Parse a trigger, for example "FUNCTION:follow 2 -> 1". */
static void parse_trigger(const struct rules *rules, struct rule *rule, char *line)
{
	char *colon = strchr(line, ':'), *arrow;

	if (colon && !strncmp(line, "mod:", 4))
		colon = strchr(colon + 1, ':');
	if (!colon || colon == line)
		refuse(rules, rule->line,
		       "a rule is FUNCTION:ACTION or a keyword with values: see mctrace-object(1)");
	*colon = '\0';
	rule->function = xstrdup(line);
	rule->text = xstrdup(colon + 1);
	arrow = strstr(rule->text, "->");
	if (strncmp(rule->text, "follow ", 7) || !arrow)
		return;
	rule->from = parse_role(rule->text + 7);
	rule->to = parse_role(arrow + 2 + strspn(arrow + 2, " \t"));
	if (!rule->from || !rule->to)
		refuse(rules, rule->line, "'follow N -> M' wants arguments: 1 to 6, or ret");
}

/* Return true if @text has a field with the result of the call: "{ret}", "{ret:int}". */
static bool needs_result(const char *text)
{
	return strstr(text, "{ret}") || strstr(text, "{ret:");
}

/* Parse "FUNCTION[:ARGUMENT] TEXT". */
static void parse_about(const struct rules *rules, struct rule *rule, char *line)
{
	size_t length = strcspn(line, " \t");
	char *colon;

	rule->function = xasprintf("%.*s", (int)length, line);
	rule->text = xstrdup(line + length + strspn(line + length, " \t"));
	if (!*rule->text || !*rule->function)
		refuse(rules, rule->line, "this wants a function and a text");
	rule->at_return = needs_result(rule->text);
	colon = strchr(rule->function, ':');
	if (!colon)
		return;
	*colon = '\0';
	rule->role = parse_role(colon + 1);
	if (!rule->role)
		refuse(rules, rule->line, "an argument must follow the colon: 1 to 6, or ret");
}

static void parse_header(const struct rules *rules, struct rule *rule, char *line)
{
	parse_about(rules, rule, line);
	if (!strcmp(rule->text, "eth"))
		rule->header = HEADER_ETH;
	else if (!strcmp(rule->text, "ip"))
		rule->header = HEADER_IP;
	else if (!strcmp(rule->text, "never"))
		rule->header = HEADER_NEVER;
	else
		refuse(rules, rule->line, "headers are 'eth', 'ip' or 'never'");
}

/* Parse "FUNCTION[:ARGUMENT] KEY TEXT". */
static void parse_label(const struct rules *rules, struct rule *rule, char *line)
{
	size_t length;
	char *text;

	parse_about(rules, rule, line);
	length = strcspn(rule->text, " \t");
	text = rule->text + length + strspn(rule->text + length, " \t");
	if (!*text)
		refuse(rules, rule->line, "a label wants a function, a key and a text");
	rule->key = xasprintf("%.*s", (int)length, rule->text);
	text = xstrdup(text);
	free(rule->text);
	rule->text = text;
}

static char *word_behind(char *line, const char *word)
{
	size_t length = strlen(word);

	if (strncmp(line, word, length) || !isspace((unsigned char)line[length]))
		return NULL;
	line += length;
	return line + strspn(line, " \t");
}

static const struct {
	const char *word;
	enum rule_kind kind;
	void (*parse)(const struct rules *rules, struct rule *rule, char *line);
} kinds[] = {
	{ "verdict", RULE_VERDICT, parse_about },
	{ "state", RULE_STATE, parse_about },
	{ "otherwise", RULE_OTHERWISE, parse_about },
	{ "label", RULE_LABEL, parse_label },
	{ "begins", RULE_BEGINS, parse_label },
	{ "header", RULE_HEADER, parse_header },
};

static void parse_line(struct rules *rules, char *line, unsigned int nr)
{
	struct rule rule = { .line = nr };
	char *rest = NULL;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(kinds) && !rest; i++) {
		rest = word_behind(line, kinds[i].word);
		if (!rest)
			continue;
		rule.kind = kinds[i].kind;
		kinds[i].parse(rules, &rule, rest);
	}
	if (!rest) {
		rule.optional = *line == '?';
		parse_trigger(rules, &rule, line + rule.optional);
	}
	rules->all = xrealloc(rules->all, rules->nr + 1, sizeof(*rules->all));
	rules->all[rules->nr++] = rule;
}

struct rules *rules_open(const char *name)
{
	struct rules *rules = xcalloc(1, sizeof(*rules));
	unsigned int nr = 0;
	char *text, *line, *rest, *end;

	rules->path = find_file(name);
	text = read_file(rules->path);
	if (!text)
		die_errno("%s", rules->path);
	rest = text;
	while ((line = strsep(&rest, "\n"))) {
		nr++;
		line += strspn(line, " \t");
		end = line + strlen(line);
		while (end > line && isspace((unsigned char)end[-1]))
			*--end = '\0';
		if (*line && *line != '#')
			parse_line(rules, line, nr);
	}
	free(text);
	if (!rules->nr)
		die("%s has no rules", rules->path);
	return rules;
}

void rules_free(struct rules *rules)
{
	unsigned int i;

	for (i = 0; i < rules->nr; i++) {
		free(rules->all[i].function);
		free(rules->all[i].text);
		free(rules->all[i].key);
	}
	for (i = 0; i < rules->nr_has; i++)
		free(rules->has[i].function);
	free(rules->has);
	free(rules->all);
	free(rules->known);
	free(rules->path);
	free(rules);
}

/* --- triggers --- */

struct types {
	const char *btf;
	struct prototypes *prototypes;
	bool looked;
};

static struct prototypes *types_of(struct types *types, bool needed)
{
	if (needed && !types->prototypes)
		types->prototypes = prototypes_open(types->btf);
	if (!types->looked) {
		types->looked = true;
		types->prototypes = prototypes_try(types->btf);
		if (!types->prototypes && types->btf)
			die_errno("the types in %s", types->btf);
		if (!types->prototypes)
			warning("the kernel's types are not known: rules with types are omitted");
	}
	return types->prototypes;
}

/*
 * Return the action with each member, such as "{sk_buff.head}", replaced by its offset; NULL if an
 * optional line lacks types or a member. The caller frees the text.
 */
static char *with_offsets(const struct rules *rules, const struct rule *rule, struct types *types)
{
	struct buffer to = { };
	const char *text, *end;
	char *path;
	long offset;

	for (text = rule->text; *text; text++) {
		if (*text != '{') {
			buffer_char(&to, *text);
			continue;
		}
		end = strchr(text, '}');
		if (!end)
			refuse(rules, rule->line, "a brace is not closed");
		if (!types_of(types, !rule->optional)) {
			buffer_free(&to);
			return NULL;
		}
		path = xasprintf("%.*s", (int)(end - text - 1), text + 1);
		offset = prototypes_offset(types->prototypes, path);
		if (offset < 0 && rule->optional) {
			free(path);
			buffer_free(&to);
			return NULL;
		}
		if (offset < 0)
			die("%s, line %u: the kernel's types have no '%s', or it is a bit field",
			    rules->path, rule->line, path);
		buffer_printf(&to, "%ld", offset);
		free(path);
		text = end;
	}
	buffer_char(&to, '\0');
	return to.data;
}

/*
 * A copy that gcc makes, "foo.constprop.0", is foo, too; but not a cold part, which is never
 * entered.
 */
bool rules_is_function(const char *name, const char *asked)
{
	return !strstr(name, ".cold") &&
	       (is_named(name, asked) || (strpbrk(asked, "*?[") && !fnmatch(asked, name, 0)));
}

/*
 * Append a trigger for each function that matches; once, if several have the same name. Return
 * false if none matches.
 */
static bool put_triggers(struct buffer *to, const char *functions, const char *function,
			 const char *action)
{
	/* Compare the fixed beginning first, because few functions have it. */
	const size_t same = strcspn(function, "*?[\\");
	struct traceable one = { .rest = functions };
	char last[sizeof(one.name)] = "";
	bool found = false;

	while (traceable_next(&one)) {
		if (strncmp(one.name, function, same) || !rules_is_function(one.name, function))
			continue;
		found = true;
		if (strcmp(one.name, last))
			buffer_printf(to, "%s:%s\n", one.name, action);
		memcpy(last, one.name, sizeof(last));
	}
	return found;
}

/* Explain why @rule can't be a trigger: the tracer lacks its function. End mctrace. */
static void __attribute__((noreturn)) refuse_function(const struct rules *rules,
						      const struct rule *rule, bool running)
{
	char *symbols = running ? read_file("/proc/kallsyms") : NULL, *line, *rest = symbols;
	char name[128];

	while (rest && (line = strsep(&rest, "\n")))
		if (sscanf(line, "%*x %*[tTwW] %127s", name) == 1 &&
		    rules_is_function(name, rule->function))
			die("%s, line %u: %s can't be traced", rules->path, rule->line,
			    rule->function);
	die("%s, line %u: this kernel has no function %s%s", rules->path, rule->line,
	    rule->function, running ? ", or has inlined it" : " to be traced");
}

char *rules_triggers(const struct rules *rules, const char *functions, const char *btf,
		     bool running)
{
	struct types types = { .btf = btf };
	struct buffer to = { };
	const struct rule *rule;
	size_t before;
	char *action;

	for (rule = rules->all; rule < rules->all + rules->nr; rule++) {
		if (rule->kind != RULE_TRIGGER)
			continue;
		before = to.length;
		if (!put_triggers(&to, functions, rule->function, "")) {
			if (!rule->optional)
				refuse_function(rules, rule, running);
			continue;
		}
		to.length = before;
		action = with_offsets(rules, rule, &types);
		if (action)
			put_triggers(&to, functions, rule->function, action);
		free(action);
	}
	if (types.prototypes)
		prototypes_close(types.prototypes);
	if (!to.length)
		die("%s: this kernel has none of these functions, or none that can be traced",
		    rules->path);
	buffer_char(&to, '\0');
	return to.data;
}
