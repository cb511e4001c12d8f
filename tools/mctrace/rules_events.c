// SPDX-License-Identifier: GPL-2.0
/*
 * Apply the rules of a set to events: verdicts, labels, headers, and which object is derived from
 * which.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prototypes.h"
#include "rules.h"
#include "rules_parsed.h"
#include "util.h"

/* Return what rules a function has. Search only once for each function, because most have none. */
static const struct rules_known *known_of(struct rules *rules, const struct symbol *symbol)
{
	unsigned int nr = rules->nr_known, i;
	struct rules_known *known;

	if (symbol->id >= nr) {
		rules->nr_known = 2 * symbol->id + 64;
		rules->known = xrealloc(rules->known, rules->nr_known, sizeof(*rules->known));
		memset(rules->known + nr, 0, (rules->nr_known - nr) * sizeof(*rules->known));
	}
	known = &rules->known[symbol->id];
	if (known->looked)
		return known;
	known->looked = true;
	for (i = 0; i < rules->nr; i++) {
		if (!rules_is_function(symbol->name, rules->all[i].function))
			continue;
		known->any = true;
		known->at_return |= rules->all[i].at_return;
		known->begins |= rules->all[i].kind == RULE_BEGINS;
	}
	return known;
}

static bool has_rules(struct rules *rules, const struct symbol *symbol)
{
	return known_of(rules, symbol)->any;
}

bool rules_need_return(struct rules *rules, const struct symbol *symbol)
{
	return known_of(rules, symbol)->at_return;
}

bool rules_name_begun(struct rules *rules, const struct symbol *symbol)
{
	return known_of(rules, symbol)->begins;
}

struct search {
	const char *name;
	bool found;
};

static void compare_name(void *arg, uint64_t address, const char *name, size_t length,
			 const char *module, size_t module_length)
{
	struct search *search = arg;

	(void)address, (void)module, (void)module_length;
	search->found |= strlen(search->name) == length && !memcmp(search->name, name, length);
}

/*
 * Return true if the recorded kernel has @function as a symbol: it is not inlined into all its
 * callers.
 */
static bool has_function(struct rules *rules, const struct symbols *symbols, const char *function)
{
	struct search search = { .name = function };
	unsigned int i;

	for (i = 0; i < rules->nr_has; i++)
		if (!strcmp(rules->has[i].function, function))
			return rules->has[i].has;
	symbols_each(symbols, &search, compare_name);
	rules->has = xrealloc(rules->has, rules->nr_has + 1, sizeof(*rules->has));
	rules->has[rules->nr_has++] = (struct rules_has) { xstrdup(function), search.found };
	return search.found;
}

/* --- fields --- */

/*
 * Append @value as @type: "enum NAME", "int", "bool", "u16", "u32", "u64"; else in hexadecimal
 * digits.
 */
static void put_number(struct buffer *to, const struct rules_at *at, const char *type,
		       uint64_t value)
{
	const char *constant = NULL;
	char name[64];

	if (sscanf(type, "enum %63s", name) == 1) {
		if (at->types)
			constant = prototypes_constant(at->types, name, (int)value);
		if (constant)
			buffer_puts(to, constant);
		else
			buffer_printf(to, "%d", (int)value);
	} else if (!strcmp(type, "int")) {
		buffer_printf(to, "%d", (int)value);
	} else if (!strcmp(type, "bool")) {
		buffer_puts(to, (uint8_t)value ? "true" : "false");
	} else if (!strcmp(type, "u16")) {
		buffer_printf(to, "%u", (uint16_t)value);
	} else if (!strcmp(type, "u32")) {
		buffer_printf(to, "%" PRIu32, (uint32_t)value);
	} else if (!strcmp(type, "u64")) {
		buffer_printf(to, "%" PRIu64, value);
	} else {
		buffer_printf(to, "0x%" PRIx64, value);
	}
}

/*
 * Append recorded memory: as a string, or as a number of at most eight bytes; "?" if there is none.
 */
static void put_data(struct buffer *to, const struct rules_at *at, const char *type)
{
	const struct mctracer_state *state = at->event->state;
	char text[MCTRACER_DATA_MAX + 1];
	uint64_t value = 0;

	if (!state->nr_data) {
		buffer_char(to, '?');
	} else if (!strcmp(type, "string")) {
		snprintf(text, sizeof(text), "%.*s", (int)state->nr_data,
			 (const char *)state->data);
		replace_controls(text, "");
		buffer_puts(to, text);
	} else {
		memcpy(&value, state->data, state->nr_data < 8 ? state->nr_data : 8);
		put_number(to, at, type, value);
	}
}

/*
 * Append the value of a field: "comm", "pid", "caller", "has F", "ret:T", "data:T", "arg2:T"; "?"
 * if not known.
 */
static void put_field(struct buffer *to, struct rules *rules, const struct rules_at *at,
		      const char *field)
{
	const struct mctracer_state *state = at->event->state;
	const char *colon = strchr(field, ':'), *type = colon ? colon + 1 : "";
	char comm[MCTRACER_COMM_LEN + 1];
	unsigned int arg;

	if (!strcmp(field, "comm")) {
		event_comm(at->event, comm);
		buffer_puts(to, comm);
	} else if (!strcmp(field, "pid")) {
		buffer_number(to, state->pid, 1);
	} else if (!strcmp(field, "caller") && at->event->found == FOUND_CALL) {
		buffer_puts(to, symbol_of(at->symbols, state->parent_ip)->name);
	} else if (!strncmp(field, "has ", 4)) {
		buffer_puts(to, has_function(rules, at->symbols, field + 4) ? "yes" : "no");
	} else if (!strcmp(field, "ret") || !strncmp(field, "ret:", 4)) {
		if (at->returned && state->has & MCTRACER_HAS_RESULT)
			put_number(to, at, type, state->result);
		else
			buffer_char(to, '?');
	} else if (!strncmp(field, "data:", 5)) {
		put_data(to, at, type);
	} else if (sscanf(field, "arg%u", &arg) == 1 && arg && arg <= state->nr_args) {
		put_number(to, at, type, state->args[arg - 1]);
	} else {
		buffer_char(to, '?');
	}
}

static void put_text(struct buffer *to, struct rules *rules, const struct rules_at *at,
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
		put_field(to, rules, at, field);
		text += length;
	}
}

/* --- conditions --- */

struct condition {
	char field[96];
	char operator[3];
	const char *value;
	size_t length;		/* of @value */
};

/*
 * Parse the condition at the beginning of @text: "{FIELD}=VALUE TEXT", or "!=", "<" or ">" for "=".
 * Return false if @text begins with none.
 */
static bool find_condition(struct condition *condition, const char *text)
{
	const char *at = *text == '{' ? strchr(text, '}') : NULL;
	size_t length;

	if (!at)
		return false;
	snprintf(condition->field, sizeof(condition->field), "%.*s", (int)(at - text) - 1,
		 text + 1);
	at++;
	length = *at == '!' && at[1] == '=' ? 2 : strchr("=<>", *at) && *at;
	if (!length)
		return false;
	snprintf(condition->operator, sizeof(condition->operator), "%.*s", (int)length, at);
	condition->value = at + length;
	condition->length = strcspn(condition->value, " \t");
	return condition->length;
}

/* Return false for an enum field if there are no types: the constant's name is not known. */
static bool is_known(const struct rules_at *at, const char *field)
{
	return at->types || !strstr(field, ":enum ");
}

/*
 * Return true if @condition holds. An unknown field is "?": different from each other value, and
 * neither less nor more.
 */
static bool condition_holds(struct rules *rules, const struct rules_at *at,
			    const struct condition *condition)
{
	struct buffer is = { };
	bool same, holds;

	if (is_known(at, condition->field))
		put_field(&is, rules, at, condition->field);
	else
		buffer_char(&is, '?');
	same = is.length == condition->length && !memcmp(is.data, condition->value, is.length);
	buffer_char(&is, '\0');
	switch (*condition->operator) {
	case '=':
		holds = same;
		break;
	case '!':
		holds = !same;
		break;
	case '<':
		holds = *is.data != '?' && strtoll(is.data, NULL, 0) <
			strtoll(condition->value, NULL, 0);
		break;
	default:
		holds = *is.data != '?' && strtoll(is.data, NULL, 0) >
			strtoll(condition->value, NULL, 0);
		break;
	}
	buffer_free(&is);
	return holds;
}

/* Return the text after the conditions; NULL if one does not hold. */
static const char *skip_conditions(struct rules *rules, const struct rules_at *at,
				   const char *text)
{
	struct condition condition;

	while (find_condition(&condition, text)) {
		if (!condition_holds(rules, at, &condition))
			return NULL;
		text = condition.value + condition.length;
		text += strspn(text, " \t");
	}
	return text;
}

/* Return true if @rule applies to object @at->role of the call or return @at. */
static bool is_for(const struct rule *rule, const struct symbol *symbol,
		   const struct rules_at *at)
{
	return (!rule->role || rule->role == at->role) && rule->at_return == at->returned &&
	       rules_is_function(symbol->name, rule->function);
}

static enum rules_said said_by(enum rule_kind kind)
{
	return kind == RULE_VERDICT ? RULES_VERDICT :
	       kind == RULE_STATE ? RULES_STATE : RULES_OTHERWISE;
}

enum rules_said rules_verdict(struct rules *rules, const struct symbol *symbol,
			      const struct rules_at *at, unsigned int *worth,
			      struct buffer *text)
{
	const struct rule *rule;
	const char *verdict;
	unsigned int i;

	for (i = 0; has_rules(rules, symbol) && i < rules->nr; i++) {
		rule = &rules->all[i];
		if ((rule->kind != RULE_VERDICT && rule->kind != RULE_STATE &&
		     rule->kind != RULE_OTHERWISE) || !is_for(rule, symbol, at))
			continue;
		verdict = skip_conditions(rules, at, rule->text);
		if (!verdict)
			continue;
		if (!strcmp(verdict, "-"))
			return RULES_NOTHING;
		put_text(text, rules, at, verdict);
		*worth = i;
		return said_by(rule->kind);
	}
	return RULES_NOTHING;
}

static const char *find_label(struct rules *rules, enum rule_kind kind,
			      const struct symbol *symbol, const struct rules_at *at,
			      unsigned int *next, struct buffer *text)
{
	const struct rule *rule;
	const char *label;

	while (has_rules(rules, symbol) && *next < rules->nr) {
		rule = &rules->all[(*next)++];
		if (rule->kind != kind || !is_for(rule, symbol, at))
			continue;
		label = skip_conditions(rules, at, rule->text);
		if (!label)
			continue;
		put_text(text, rules, at, label);
		return rule->key;
	}
	return NULL;
}

const char *rules_label(struct rules *rules, const struct symbol *symbol,
			const struct rules_at *at, unsigned int *next, struct buffer *text)
{
	return find_label(rules, RULE_LABEL, symbol, at, next, text);
}

const char *rules_begun_label(struct rules *rules, const struct symbol *symbol,
			      const struct rules_at *at, unsigned int *next,
			      struct buffer *text)
{
	return find_label(rules, RULE_BEGINS, symbol, at, next, text);
}

bool rules_have_label(const struct rules *rules, const char *key)
{
	unsigned int i;

	for (i = 0; i < rules->nr; i++)
		if (rules->all[i].key && !strcmp(rules->all[i].key, key))
			return true;
	return false;
}

bool rules_have_header(const struct rules *rules, enum rules_header header)
{
	unsigned int i;

	for (i = 0; i < rules->nr; i++)
		if (rules->all[i].kind == RULE_HEADER && rules->all[i].header == header)
			return true;
	return false;
}

enum rules_header rules_header(struct rules *rules, const struct symbol *symbol)
{
	unsigned int i;

	for (i = 0; has_rules(rules, symbol) && i < rules->nr; i++)
		if (rules->all[i].kind == RULE_HEADER &&
		    rules_is_function(symbol->name, rules->all[i].function))
			return rules->all[i].header;
	return HEADER_NONE;
}

bool rules_derives(struct rules *rules, const struct symbol *symbol, unsigned int from,
		   unsigned int to)
{
	unsigned int i;

	for (i = 0; has_rules(rules, symbol) && i < rules->nr; i++)
		if (rules->all[i].from == from && rules->all[i].to == to &&
		    rules_is_function(symbol->name, rules->all[i].function))
			return true;
	return false;
}
