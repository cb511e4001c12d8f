// SPDX-License-Identifier: GPL-2.0
/* Print an event as a line of the kernel's format (see kernel/trace/mctracer), or as JSON. */
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "calls.h"
#include "json.h"
#include "prototypes.h"
#include "select.h"
#include "text.h"
#include "util.h"

#define NS_PER_S	1000000000ULL

/* The kernel's limits: the text must forget the same calls. */
#define MAX_DEPTH	128
#define MAX_TASKS	4096

struct who {
	unsigned int cpu;
	uint32_t pid;
	char comm[MCTRACER_COMM_LEN];
	char text[64];
	size_t length;
};

/* Whole seconds, and their text: "12." */
struct seconds {
	uint64_t nr;
	char text[24];
	size_t length;
};

struct text {
	struct symbols *symbols;
	struct calls *calls;
	struct prototypes *prototypes;	/* NULL: print arguments as numbers */
	bool strings;			/* recorded memory is a string of an argument */
	bool times;
	bool estimates;		/* a ring, which may have few times: mark estimated ones */
	bool contexts;
	struct who who;			/* of the latest line */
	struct seconds seconds;		/* of the latest time */
	struct buffer line;		/* the line so far */
};

static bool has_option(const struct recording *from, const char *name)
{
	const char *options = recording_info(from, "options");
	size_t length = strlen(name);

	for (; options && *options; options += strcspn(options, " "), options += *options == ' ')
		if (strcspn(options, " ") == length && !strncmp(options, name, length))
			return true;
	return false;
}

struct text *text_new(const struct recording *from, struct symbols *symbols)
{
	struct text *text = xcalloc(1, sizeof(*text));

	text->symbols = symbols;
	text->calls = calls_new(MAX_DEPTH, MAX_TASKS);
	text->strings = recording_number(from, "strings");
	text->times = has_option(from, "time");
	text->estimates = from->is_raw;
	text->contexts = has_option(from, "context");
	return text;
}

void text_name_arguments(struct text *text, struct prototypes *prototypes)
{
	text->prototypes = prototypes;
}

void text_free(struct text *text)
{
	calls_free(text->calls);
	buffer_free(&text->line);
	free(text);
}

/* --- open calls --- */

static void remember_call(struct text *text, const struct event *event)
{
	const struct mctracer_state *state = event->state;
	struct call call = {
		.symbol = symbol_of(text->symbols, state->ip), .parent_ip = state->parent_ip,
		.ns = event->ns, .exact = event->exact,
	};

	calls_enter(text->calls, calls_of(text->calls, state->pid, event->cpu), &call);
}

/* End and return the call that @event returns from; NULL: not known. */
static const struct call *end_call(struct text *text, const struct event *event)
{
	const struct mctracer_state *state = event->state;
	struct task_calls *task = calls_find(text->calls, state->pid, event->cpu);
	const struct call *call;

	call = task ? calls_which(task, symbol_of(text->symbols, state->ip)) : NULL;
	if (call)
		task->nr = call - task->calls;
	return call;
}

/*
 * Update the open calls by an event, also by events that are not shown. Return a return's call,
 * valid until the next event.
 */
static const struct call *follow(struct text *text, const struct event *event)
{
	uint64_t which = event->state->value;

	if (event->cut)
		calls_forget(text->calls);
	switch (event->found) {
	case FOUND_CALL:
		remember_call(text, event);
		break;
	case FOUND_RETURN:
		return end_call(text, event);
	case FOUND_MARK:
		if (which == MCTRACER_MARK_MARK || which == MCTRACER_MARK_SNAPSHOT)
			break;
		fallthrough;	/* calls may be missing */
	case FOUND_GAP:
		calls_forget(text->calls);
		break;
	default:
		break;
	}
	return NULL;
}

static uint64_t took(const struct event *event, const struct call *call)
{
	return event->ns > call->ns ? event->ns - call->ns : 0;
}

/* --- parts of lines --- */

static void put_address(struct text *text, uint32_t address)
{
	const struct symbol *symbol = symbol_of(text->symbols, address);

	buffer_put(&text->line, symbol->text, symbol->length);
}

void text_seconds(struct buffer *to, uint64_t ns)
{
	buffer_number(to, ns / NS_PER_S, 1);
	buffer_char(to, '.');
	buffer_number(to, ns % NS_PER_S, 9);
}

/* Append a time. Cache the text of the seconds, which rarely change. */
static void put_time(struct text *text, const struct event *event)
{
	struct seconds *seconds = &text->seconds;

	if (event->ns / NS_PER_S != seconds->nr || !seconds->length) {
		seconds->nr = event->ns / NS_PER_S;
		seconds->length = snprintf(seconds->text, sizeof(seconds->text), "%llu.",
					   (unsigned long long)seconds->nr);
	}
	buffer_puts(&text->line, text->estimates && !event->exact ? "[~" : "[");
	buffer_put(&text->line, seconds->text, seconds->length);
	buffer_number(&text->line, event->ns % NS_PER_S, 9);
	buffer_puts(&text->line, "] ");
}

/* Append a context in the letters of ftrace's latency format. */
void text_context(struct buffer *to, uint32_t context)
{
	static const char resched[] = ".npN";
	uint32_t depth = context & MCTRACER_PREEMPT_DEPTH, flags;
	char irq;

	if (context & MCTRACER_CONTEXT_UNKNOWN) {
		buffer_puts(to, "---- ");
		return;
	}
	if (context & MCTRACER_NMI)
		irq = context & MCTRACER_HARDIRQ ? 'Z' : 'z';
	else if (context & MCTRACER_HARDIRQ)
		irq = context & MCTRACER_SOFTIRQ ? 'H' : 'h';
	else
		irq = context & MCTRACER_SOFTIRQ ? 's' : '.';
	flags = (context & MCTRACER_NEED_RESCHED ? 1 : 0) |
		(context & MCTRACER_PREEMPT_RESCHED ? 2 : 0);
	buffer_char(to, context & MCTRACER_IRQS_OFF ? 'd' : '.');
	buffer_char(to, resched[flags]);
	buffer_char(to, irq);
	buffer_char(to, depth ? "0123456789abcdef"[depth < 15 ? depth : 15] : '.');
	buffer_char(to, ' ');
}

/* Append "CPU 2: hackbench:11867 ". Cache the text, which rarely changes. */
static void put_who(struct text *text, const struct event *event)
{
	const struct mctracer_state *state = event->state;
	char comm[MCTRACER_COMM_LEN + 1];
	struct who *who = &text->who;

	if (!who->length || who->cpu != event->cpu || who->pid != state->pid ||
	    memcmp(who->comm, state->comm, sizeof(who->comm))) {
		who->cpu = event->cpu;
		who->pid = state->pid;
		memcpy(who->comm, state->comm, sizeof(who->comm));
		event_comm(event, comm);
		who->length = snprintf(who->text, sizeof(who->text), "CPU %u: %s:%u ", event->cpu,
				       comm, state->pid);
	}
	buffer_put(&text->line, who->text, who->length);
}

/* Append a result: as a number if it looks like an int or an error, else as an address. */
static void put_result(struct text *text, uint64_t result)
{
	char buf[32];

	if (!(result >> 32) || result >= 0xffffffffff000000ULL)
		snprintf(buf, sizeof(buf), " %d", (int32_t)result);
	else
		snprintf(buf, sizeof(buf), " 0x%llx", (unsigned long long)result);
	buffer_puts(&text->line, buf);
}

/* Return true if @data is printable text up to a NUL or to its end. */
static bool is_string(const uint8_t *data, uint32_t nr)
{
	uint32_t i;

	for (i = 0; i < nr && data[i]; i++)
		if ((data[i] < ' ' || data[i] > '~') && data[i] != '\n' && data[i] != '\t')
			return false;
	return nr;
}

static void quote_string(struct buffer *to, const uint8_t *data, uint32_t nr)
{
	uint32_t i;

	buffer_char(to, '"');
	for (i = 0; i < nr && data[i]; i++) {
		if (strchr("\"\\\n\t", data[i]))
			buffer_char(to, '\\');
		if (data[i] == '\n' || data[i] == '\t')
			buffer_char(to, data[i] == '\n' ? 'n' : 't');
		else
			buffer_char(to, data[i]);
	}
	buffer_puts(to, i < nr ? "\"" : "\"...");
}

/*
 * Append arguments by name and type, with the recorded string. Return false if the types are not
 * known.
 */
static bool put_named_args(struct text *text, const struct mctracer_state *state)
{
	const struct symbol *symbol = symbol_of(text->symbols, state->ip);
	const char *open = strchr(symbol->text, '['), *named;
	bool with = text->strings && is_string(state->data, state->nr_data);
	struct buffer string = { };
	char module[64];

	snprintf(module, sizeof(module), "%.*s", open ? (int)strcspn(open + 1, "]") : 0,
		 open ? open + 1 : "");
	if (with)
		quote_string(&string, state->data, state->nr_data);
	buffer_char(&string, '\0');
	named = arguments_of(text->prototypes, symbol->name, open ? module : NULL, state->args,
			     state->nr_args, with ? string.data : NULL);
	buffer_free(&string);
	if (!named)
		return false;
	buffer_puts(&text->line, " (");
	buffer_puts(&text->line, named);
	buffer_char(&text->line, ')');
	return true;
}

static void put_args(struct text *text, const struct mctracer_state *state)
{
	uint32_t i;

	if (text->prototypes && state->nr_args && put_named_args(text, state)) {
		if (!text->strings)
			text_data(&text->line, state->data, state->nr_data);
		return;
	}
	for (i = 0; i < state->nr_args; i++)
		buffer_printf(&text->line, "%s0x%llx", i ? ", " : " (",
			      (unsigned long long)state->args[i]);
	if (state->nr_args)
		buffer_char(&text->line, ')');
	text_data(&text->line, state->data, state->nr_data);
}

/* Append the objects of an event. " +#3:1": object 3 begins to be followed and is argument 1. */
void text_objects(struct buffer *to, const struct mctracer_state *state)
{
	unsigned int role;
	uint64_t object;
	uint32_t i;

	for (i = 0; i < state->nr_objects; i++) {
		object = state->objects[i];
		role = object >> MCTRACER_OBJECT_ROLE_SHIFT & MCTRACER_OBJECT_ROLE;
		buffer_printf(to, " %s%s#%u", object & MCTRACER_OBJECT_BEGINS ? "+" : "",
			      object & MCTRACER_OBJECT_ENDS ? "-" : "", (uint32_t)object);
		if (role == MCTRACER_OBJECT_RETURNED)
			buffer_puts(to, ":ret");
		else if (role != MCTRACER_OBJECT_NESTED)
			buffer_printf(to, ":%u", role);
	}
}

/* Return the length of the text in @data, up to a NUL or to the end; 0: no text. */
static uint32_t text_length(const uint8_t *data, uint32_t nr)
{
	uint32_t i;

	for (i = 0; i < nr && data[i]; i++)
		if (data[i] < ' ' || data[i] > '~')
			return 0;
	return i > 1 ? i : 0;
}

void text_data(struct buffer *to, const uint8_t *data, uint32_t nr)
{
	uint32_t length = text_length(data, nr), i;

	if (!nr)
		return;
	buffer_puts(to, length ? " \"" : " <");
	for (i = 0; i < length; i++) {
		if (data[i] == '"' || data[i] == '\\')
			buffer_char(to, '\\');
		buffer_char(to, data[i]);
	}
	if (length) {
		buffer_char(to, '"');
		return;
	}
	text_hex(to, data, nr);
	buffer_char(to, '>');
}

void text_hex(struct buffer *to, const uint8_t *data, uint32_t nr)
{
	static const char digits[] = "0123456789abcdef";

	for (; nr; nr--, data++) {
		buffer_char(to, digits[*data >> 4]);
		buffer_char(to, digits[*data & 15]);
	}
}

static void put_took(struct text *text, uint64_t ns, bool exact)
{
	buffer_puts(&text->line, exact ? " after " : " after ~");
	buffer_number(&text->line, ns, 1);
	buffer_puts(&text->line, " ns");
}

static void put_outcome(struct text *text, const struct mctracer_state *state)
{
	if (state->has & MCTRACER_HAS_RESULT)
		put_result(text, state->result);
	if (state->has & MCTRACER_HAS_TOOK)
		put_took(text, state->took, true);
}

/* --- lines --- */

static void put_mark(struct text *text, const struct event *event)
{
	buffer_puts(&text->line, "# ");
	buffer_puts(&text->line, event_mark(event));
	buffer_char(&text->line, ' ');
	put_time(text, event);
	put_who(text, event);
	put_address(text, event->state->ip);
	if (event->state->has)
		buffer_puts(&text->line, " returns");
	put_outcome(text, event->state);
}

static void put_return(struct text *text, const struct event *event, const struct call *call)
{
	const struct mctracer_state *state = event->state;

	buffer_puts(&text->line, state->value & MCTRACER_RETURN_TAIL ? " goes on" : " returns");
	put_outcome(text, state);
	text_objects(&text->line, state);
	if (call && !(state->has & MCTRACER_HAS_TOOK))
		put_took(text, took(event, call), event->exact && call->exact);
	else if (!call && !state->has && !state->nr_objects)
		buffer_puts(&text->line, ", called before");
	if (call) {
		buffer_puts(&text->line, " --> ");
		put_address(text, call->parent_ip);
	}
}

static void put_recorded(struct text *text, const struct event *event, const struct call *call)
{
	if (text->times)
		put_time(text, event);
	if (text->contexts)
		text_context(&text->line, event->state->context);
	put_who(text, event);
	put_address(text, event->state->ip);
	if (event->found == FOUND_RETURN) {
		put_return(text, event, call);
		return;
	}
	put_args(text, event->state);
	text_objects(&text->line, event->state);
	buffer_puts(&text->line, " <-- ");
	put_address(text, event->state->parent_ip);
}

static void put_gap(struct text *text, const struct event *event)
{
	if (event->missing) {
		buffer_puts(&text->line, "# lost ");
		buffer_number(&text->line, event->missing, 1);
	} else if (event->uncounted) {
		buffer_puts(&text->line, "# recording was off");
	} else {
		buffer_puts(&text->line, "# other CPUs lost calls");
	}
}

static void put_event(struct text *text, const struct event *event, const struct call *call)
{
	switch (event->found) {
	case FOUND_GAP:
		put_gap(text, event);
		break;
	case FOUND_FRAME:
		buffer_puts(&text->line, "    -- ");
		put_address(text, event->state->value);
		break;
	case FOUND_MARK:
		put_mark(text, event);
		break;
	default:
		put_recorded(text, event, call);
		break;
	}
}

/* Append arguments as strings, because numbers of JSON readers may have less than 64 bits. */
static void json_args(struct buffer *line, const struct mctracer_state *state)
{
	uint32_t i;

	buffer_puts(line, ",\"args\":[");
	for (i = 0; i < state->nr_args; i++)
		buffer_printf(line, "%s\"0x%llx\"", i ? "," : "",
			      (unsigned long long)state->args[i]);
	buffer_char(line, ']');
}

static void json_objects(struct buffer *line, const struct mctracer_state *state)
{
	unsigned int role;
	uint64_t object;
	uint32_t i;

	buffer_puts(line, ",\"objects\":[");
	for (i = 0; i < state->nr_objects; i++) {
		object = state->objects[i];
		role = object >> MCTRACER_OBJECT_ROLE_SHIFT & MCTRACER_OBJECT_ROLE;
		buffer_puts(line, i ? ",{" : "{");
		json_number(line, "number", (uint32_t)object);
		if (role == MCTRACER_OBJECT_RETURNED)
			json_bool(line, "returned", true);
		else if (role != MCTRACER_OBJECT_NESTED)
			json_number(line, "argument", role);
		else
			json_bool(line, "below", true);
		if (object & MCTRACER_OBJECT_BEGINS)
			json_bool(line, "begins", true);
		if (object & MCTRACER_OBJECT_ENDS)
			json_bool(line, "ends", true);
		buffer_char(line, '}');
	}
	buffer_char(line, ']');
}

static void json_data(struct text *text, const struct mctracer_state *state)
{
	char string[MCTRACER_DATA_MAX + 1] = "";
	struct buffer *line = &text->line;

	buffer_puts(line, ",\"data\":\"");
	text_hex(line, state->data, state->nr_data);
	buffer_char(line, '"');
	memcpy(string, state->data, state->nr_data);
	if (text->strings && is_string(state->data, state->nr_data))
		json_text(line, "string", string);
}

/* Append an event as one JSON object, without the closing brace. */
static void put_json(struct text *text, const struct event *event)
{
	static const char * const whats[] = {
		[FOUND_CALL] = "call", [FOUND_RETURN] = "return", [FOUND_GAP] = "lost",
		[FOUND_FRAME] = "frame", [FOUND_MARK] = "mark",
	};
	const struct mctracer_state *state = event->state;
	struct buffer *line = &text->line;
	char comm[MCTRACER_COMM_LEN + 1];

	buffer_char(line, '{');
	json_text(line, "event", whats[event->found]);
	if (event->found == FOUND_GAP) {
		json_number(line, "calls", event->missing);
		if (event->uncounted)
			json_bool(line, "uncounted", true);
		return;
	}
	if (event->found == FOUND_FRAME) {
		json_function(line, "caller", symbol_of(text->symbols, state->value)->text);
		return;
	}
	json_number(line, "ns", event->ns);
	json_bool(line, "exact", event->exact);
	json_number(line, "cpu", event->cpu);
	event_comm(event, comm);
	json_task(line, comm, state->pid);
	json_number(line, "tgid", state->tgid);
	json_function(line, "function", symbol_of(text->symbols, state->ip)->text);
	if (event->found == FOUND_CALL)
		json_function(line, "caller", symbol_of(text->symbols, state->parent_ip)->text);
	if (event->found == FOUND_CALL && state->nr_args)
		json_args(line, state);
	if (event->found != FOUND_MARK && state->nr_objects)
		json_objects(line, state);
	if (event->found == FOUND_CALL && state->nr_data)
		json_data(text, state);
	if (event->found == FOUND_MARK)
		json_text(line, "mark", event_mark(event));
	if (event->found == FOUND_CALL)
		return;
	if (event->found == FOUND_RETURN)
		json_bool(line, "tail", state->value & MCTRACER_RETURN_TAIL);
	if (state->has & MCTRACER_HAS_RESULT) {
		buffer_puts(line, ",\"result\":");
		buffer_printf(line, "%lld", (long long)state->result);
	}
}

static void put_json_event(struct text *text, const struct event *event, const struct call *call)
{
	const struct mctracer_state *state = event->state;

	put_json(text, event);
	if (event->found == FOUND_MARK || event->found == FOUND_RETURN) {
		if (state->has & MCTRACER_HAS_TOOK) {
			json_number(&text->line, "took_ns", state->took);
		} else if (call) {
			json_number(&text->line, "took_ns", took(event, call));
			json_bool(&text->line, "estimated", !event->exact || !call->exact);
		}
	}
	buffer_char(&text->line, '}');
}

bool text_event(struct text *text, const struct event *event, const struct view *view, FILE *to)
{
	const struct call *call;

	symbols_at(text->symbols, event->symbols_at);
	call = follow(text, event);
	if (!select_event(view->select, event))
		return false;
	if (view->json)
		put_json_event(text, event, call);
	else
		put_event(text, event, call);
	buffer_char(&text->line, '\n');
	buffer_write(&text->line, to);
	return true;
}
