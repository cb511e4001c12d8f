// SPDX-License-Identifier: GPL-2.0
/* Sets of rules, from their files to lines of the file "triggers", and to verdicts. */
#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "prototypes.h"
#include "rules.h"
#include "util.h"

#ifndef RULES_DIR
#define RULES_DIR	"/usr/share/mctrace/rules"
#endif

enum kind { TRIGGER, VERDICT, HEADER };

struct rule {
	enum kind kind;
	char *function;
	char *text;		/* behind the function: the action, or the verdict */
	unsigned int line;
	bool optional;
	unsigned int role;	/* of a verdict: which argument; 0: any */
	unsigned int from, to;	/* of "follow FROM -> TO" */
	enum rules_header header;
};

/* Whether there are rules for a symbol's function. */
struct known {
	bool looked;
	bool any;
};

struct rules {
	char *path;
	struct rule *all;
	unsigned int nr;
	struct known *known;	/* by the symbol's id */
	unsigned int nr_known;
};

/* --- reading --- */

/* A set goes before a file here, which may be what is being written: "object bio >bio". */
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
		die("there are no rules for '%s': neither %s nor, in $MCTRACE_RULES, others", name,
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

/* "FUNCTION:follow 2 -> 1" */
static void parse_trigger(const struct rules *rules, struct rule *rule, char *line)
{
	char *colon = strchr(line, ':'), *arrow;

	if (colon && !strncmp(line, "mod:", 4))
		colon = strchr(colon + 1, ':');
	if (!colon || colon == line)
		refuse(rules, rule->line, "a rule is FUNCTION:ACTION, 'verdict' or 'header'");
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

/* "FUNCTION[:ARGUMENT] TEXT" */
static void parse_about(const struct rules *rules, struct rule *rule, char *line)
{
	size_t length = strcspn(line, " \t");
	char *colon;

	rule->function = xasprintf("%.*s", (int)length, line);
	rule->text = xstrdup(line + length + strspn(line + length, " \t"));
	if (!*rule->text || !*rule->function)
		refuse(rules, rule->line, "this wants a function and a text");
	colon = strchr(rule->function, ':');
	if (!colon)
		return;
	*colon = '\0';
	rule->role = parse_role(colon + 1);
	if (!rule->role)
		refuse(rules, rule->line, "behind the colon is an argument: 1 to 6, or ret");
}

static void parse_header(const struct rules *rules, struct rule *rule, char *line)
{
	parse_about(rules, rule, line);
	if (!strcmp(rule->text, "eth"))
		rule->header = HEADER_ETH;
	else if (!strcmp(rule->text, "ip"))
		rule->header = HEADER_IP;
	else
		refuse(rules, rule->line, "headers are 'eth' or 'ip'");
}

static char *word_behind(char *line, const char *word)
{
	size_t length = strlen(word);

	if (strncmp(line, word, length) || !isspace((unsigned char)line[length]))
		return NULL;
	line += length;
	return line + strspn(line, " \t");
}

static void parse_line(struct rules *rules, char *line, unsigned int nr)
{
	struct rule rule = { .line = nr };
	char *verdict = word_behind(line, "verdict"), *header = word_behind(line, "header");

	if (verdict) {
		rule.kind = VERDICT;
		parse_about(rules, &rule, verdict);
	} else if (header) {
		rule.kind = HEADER;
		parse_header(rules, &rule, header);
	} else {
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
	return rules;
}

void rules_free(struct rules *rules)
{
	unsigned int i;

	for (i = 0; i < rules->nr; i++) {
		free(rules->all[i].function);
		free(rules->all[i].text);
	}
	free(rules->all);
	free(rules->known);
	free(rules->path);
	free(rules);
}

/* --- to triggers --- */

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
			warning("the kernel's types are not known: what needs them is left out");
	}
	return types->prototypes;
}

/* The action, with "{sk_buff.head}" replaced by its offset; NULL if that is left out. */
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
		if (offset < 0)
			die("%s, line %u: the kernel's types have no '%s', or it is of bits",
			    rules->path, rule->line, path);
		buffer_printf(&to, "%ld", offset);
		free(path);
		text = end;
	}
	buffer_char(&to, '\0');
	return to.data;
}

/* "foo", and what gcc makes of it: "foo.constprop.0". But not a part that is never entered. */
static bool is_function(const char *name, const char *asked)
{
	return !strstr(name, ".cold") &&
	       (is_named(name, asked) || (strpbrk(asked, "*?[") && !fnmatch(asked, name, 0)));
}

/* Each function once, also where several have that name. */
static bool put_triggers(struct buffer *to, const char *functions, const char *function,
			 const char *action)
{
	/* All functions of the kernel are gone through for each rule, and few begin like it. */
	size_t length, same = strcspn(function, "*?[\\");
	char name[512], last[512] = "";
	bool found = false;

	for (; *functions; functions += strcspn(functions, "\n"), functions += *functions == '\n') {
		if (strncmp(functions, function, same))
			continue;
		length = strcspn(functions, "\n ");
		if (length >= sizeof(name))
			continue;
		memcpy(name, functions, length);
		name[length] = '\0';
		if (!is_function(name, function))
			continue;
		found = true;
		if (strcmp(name, last))
			buffer_printf(to, "%s:%s\n", name, action);
		memcpy(last, name, length + 1);
	}
	return found;
}

char *rules_triggers(const struct rules *rules, const char *functions, const char *btf)
{
	struct types types = { .btf = btf };
	struct buffer to = { };
	const struct rule *rule;
	size_t before;
	char *action;

	for (rule = rules->all; rule < rules->all + rules->nr; rule++) {
		if (rule->kind != TRIGGER)
			continue;
		before = to.length;
		if (!put_triggers(&to, functions, rule->function, "")) {
			if (!rule->optional)
				die("%s, line %u: this kernel has no function %s to be traced",
				    rules->path, rule->line, rule->function);
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

/* --- at events --- */

/* Most functions have no rule: that is to be found out once. */
static bool has_rules(struct rules *rules, const struct symbol *symbol)
{
	unsigned int nr = rules->nr_known, i;
	struct known *known;

	if (symbol->id >= nr) {
		rules->nr_known = 2 * symbol->id + 64;
		rules->known = xrealloc(rules->known, rules->nr_known, sizeof(*rules->known));
		memset(rules->known + nr, 0, (rules->nr_known - nr) * sizeof(*rules->known));
	}
	known = &rules->known[symbol->id];
	if (known->looked)
		return known->any;
	known->looked = true;
	for (i = 0; i < rules->nr; i++)
		known->any |= is_function(symbol->name, rules->all[i].function);
	return known->any;
}

/* "{comm}", "{pid}", "{arg2}" or "{arg3:enum NAME}", between its braces. */
static void put_field(struct buffer *to, struct prototypes *types, const struct event *event,
		      const char *field)
{
	const struct mctracer_state *state = event->state;
	char comm[MCTRACER_COMM_LEN + 1], name[64];
	const char *constant = NULL;
	unsigned int arg;

	if (!strcmp(field, "comm")) {
		event_comm(event, comm);
		buffer_puts(to, comm);
	} else if (!strcmp(field, "pid")) {
		buffer_number(to, state->pid, 1);
	} else if (sscanf(field, "arg%u", &arg) != 1 || !arg || arg > state->nr_args) {
		buffer_char(to, '?');
	} else {
		if (types && sscanf(field, "arg%*u:enum %63s", name) == 1)
			constant = prototypes_constant(types, name, (int)state->args[arg - 1]);
		if (constant)
			buffer_puts(to, constant);
		else if (strchr(field, ':'))
			buffer_printf(to, "%d", (int)state->args[arg - 1]);
		else
			buffer_printf(to, "0x%llx", (unsigned long long)state->args[arg - 1]);
	}
}

static void put_verdict(struct buffer *to, struct prototypes *types, const struct event *event,
			const char *text)
{
	char field[96];
	size_t length;

	for (; *text; text++) {
		length = *text == '{' ? strcspn(text, "}") : 0;
		if (!length || !text[length]) {
			buffer_char(to, *text);
			continue;
		}
		snprintf(field, sizeof(field), "%.*s", (int)length - 1, text + 1);
		put_field(to, types, event, field);
		text += length;
	}
}

/*
 * Find the condition that @text begins with: "{FIELD}=VALUE TEXT", or "!=". Set @value to the
 * VALUE, and return its length; or return 0 if @text begins with none.
 */
static size_t find_condition(const char *text, const char **value, bool *differs)
{
	const char *at = *text == '{' ? strchr(text, '}') : NULL;

	if (!at)
		return 0;
	*differs = *++at == '!';
	at += *differs;
	if (*at != '=')
		return 0;
	*value = at + 1;
	return strcspn(*value, " \t");
}

static bool condition_holds(struct prototypes *types, const struct event *event,
			    const char *text, const char *value, size_t length, bool differs)
{
	struct buffer is = { };
	char field[96];
	bool same;

	snprintf(field, sizeof(field), "%.*s", (int)strcspn(text, "}") - 1, text + 1);
	put_field(&is, types, event, field);
	same = is.length == length && !memcmp(is.data, value, length);
	buffer_free(&is);
	return same != differs;
}

/* Return the text behind the conditions of a verdict, or NULL if one does not hold. */
static const char *skip_conditions(struct prototypes *types, const struct event *event,
				   const char *text)
{
	const char *value;
	size_t length;
	bool differs;

	while ((length = find_condition(text, &value, &differs))) {
		if (!condition_holds(types, event, text, value, length, differs))
			return NULL;
		text = value + length + strspn(value + length, " \t");
	}
	return text;
}

unsigned int rules_verdict(struct rules *rules, struct prototypes *types,
			   const struct symbol *symbol, const struct event *event,
			   unsigned int role, struct buffer *text)
{
	const struct rule *rule;
	const char *verdict;
	unsigned int i;

	if (!has_rules(rules, symbol))
		return RULES_NOT;
	for (i = 0; i < rules->nr; i++) {
		rule = &rules->all[i];
		if (rule->kind != VERDICT || (rule->role && rule->role != role) ||
		    !is_function(symbol->name, rule->function))
			continue;
		verdict = skip_conditions(types, event, rule->text);
		if (!verdict)
			continue;
		put_verdict(text, types, event, verdict);
		return i;
	}
	return RULES_NOT;
}

enum rules_header rules_header(struct rules *rules, const struct symbol *symbol)
{
	unsigned int i;

	for (i = 0; has_rules(rules, symbol) && i < rules->nr; i++)
		if (rules->all[i].kind == HEADER &&
		    is_function(symbol->name, rules->all[i].function))
			return rules->all[i].header;
	return HEADER_NONE;
}

bool rules_derives(struct rules *rules, const struct symbol *symbol, unsigned int from,
		   unsigned int to)
{
	unsigned int i;

	for (i = 0; has_rules(rules, symbol) && i < rules->nr; i++)
		if (rules->all[i].from == from && rules->all[i].to == to &&
		    is_function(symbol->name, rules->all[i].function))
			return true;
	return false;
}
