// SPDX-License-Identifier: GPL-2.0
/* An event as a line. kernel/trace/mctracer/text.c tells what each means. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "text.h"
#include "util.h"

#define NS_PER_S	1000000000ULL

struct text {
	struct symbols *symbols;
	struct calls *calls;
	bool times;
	bool contexts;
	char *line;			/* being made */
	size_t length, room;
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
	text->calls = calls_new();
	text->times = has_option(from, "time");
	text->contexts = has_option(from, "context");
	return text;
}

void text_free(struct text *text)
{
	calls_free(text->calls);
	free(text->line);
	free(text);
}

/* --- a line grows --- */

static char *room_for(struct text *text, size_t more)
{
	while (text->length + more > text->room) {
		text->room = text->room ? 2 * text->room : 4096;
		text->line = xrealloc(text->line, text->room, 1);
	}
	return text->line + text->length;
}

static void put(struct text *text, const char *from, size_t length)
{
	memcpy(room_for(text, length), from, length);
	text->length += length;
}

static void puts_to(struct text *text, const char *from)
{
	put(text, from, strlen(from));
}

static void put_char(struct text *text, char c)
{
	put(text, &c, 1);
}

/* printf() would take longer than all the rest. */
static void put_number(struct text *text, uint64_t n, int digits)
{
	char buf[24];
	int i = sizeof(buf);

	while (n || digits > 0) {
		buf[--i] = '0' + n % 10;
		n /= 10;
		digits--;
	}
	put(text, buf + i, sizeof(buf) - i);
}

static const struct symbol *put_address(struct text *text, uint32_t address)
{
	const struct symbol *symbol = symbol_of(text->symbols, address);

	put(text, symbol->text, symbol->length);
	return symbol;
}

/* --- what lines are made of --- */

static void put_time(struct text *text, uint64_t ns)
{
	put_char(text, '[');
	put_number(text, ns / NS_PER_S, 1);
	put_char(text, '.');
	put_number(text, ns % NS_PER_S, 9);
	puts_to(text, "] ");
}

/* In the letters of ftrace's latency format. */
static void put_context(struct text *text, uint32_t context)
{
	static const char resched[] = ".npN";
	uint32_t depth = context & MCTRACER_PREEMPT_DEPTH, flags;
	char irq;

	if (context & MCTRACER_CONTEXT_UNKNOWN) {
		puts_to(text, "---- ");
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
	put_char(text, context & MCTRACER_IRQS_OFF ? 'd' : '.');
	put_char(text, resched[flags]);
	put_char(text, irq);
	put_char(text, depth ? "0123456789abcdef"[depth < 15 ? depth : 15] : '.');
	put_char(text, ' ');
}

const char *text_who(const struct mctracer_state *state, unsigned int cpu, size_t *length)
{
	static struct {
		unsigned int cpu;
		uint32_t pid;
		char comm[MCTRACER_COMM_LEN];
		char text[64];
		size_t length;
	} who;
	char comm[MCTRACER_COMM_LEN + 1], *c;

	if (!who.length || who.cpu != cpu || who.pid != state->pid ||
	    memcmp(who.comm, state->comm, sizeof(who.comm))) {
		who.cpu = cpu;
		who.pid = state->pid;
		memcpy(who.comm, state->comm, sizeof(who.comm));
		snprintf(comm, sizeof(comm), "%.*s", MCTRACER_COMM_LEN,
			 state->known & MCTRACER_KNOWS_TASK ? state->comm : "<...>");
		for (c = comm; *c; c++)
			if (iscntrl((unsigned char)*c))
				*c = '?';
		who.length = snprintf(who.text, sizeof(who.text), "CPU %u: %s:%u ", cpu, comm,
				      state->pid);
	}
	*length = who.length;
	return who.text;
}

static void put_who(struct text *text, const struct event *event)
{
	size_t length;
	const char *who = text_who(event->state, event->cpu, &length);

	put(text, who, length);
}

/* A number if it may well be one; else an address. */
static void put_result(struct text *text, uint64_t result)
{
	char buf[32];

	if (!(result >> 32) || result >= 0xffffffffff000000ULL)
		snprintf(buf, sizeof(buf), " %d", (int32_t)result);
	else
		snprintf(buf, sizeof(buf), " 0x%llx", (unsigned long long)result);
	puts_to(text, buf);
}

static void put_took(struct text *text, uint64_t ns, bool exact)
{
	puts_to(text, exact ? " after " : " after ~");
	put_number(text, ns, 1);
	puts_to(text, " ns");
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
	static const char * const names[] = {
		[MCTRACER_MARK_MARK]	 = "mark",
		[MCTRACER_MARK_ON]	 = "traceon",
		[MCTRACER_MARK_OFF]	 = "traceoff",
		[MCTRACER_MARK_OFF_SOON] = "traceoff soon",
		[MCTRACER_MARK_SNAPSHOT] = "snapshot",
	};
	uint64_t which = event->state->value;

	if (which != MCTRACER_MARK_MARK && which != MCTRACER_MARK_SNAPSHOT)
		calls_forget(text->calls);	/* what was not recorded is not known */
	puts_to(text, "# ");
	puts_to(text, which < ARRAY_SIZE(names) ? names[which] : "unknown mark");
	put_char(text, ' ');
	put_time(text, event->ns);
	put_who(text, event);
	put_address(text, event->state->ip);
	if (event->state->has)
		puts_to(text, " returns");
	put_outcome(text, event->state);
}

static void put_return(struct text *text, const struct event *event, const struct symbol *symbol)
{
	const struct mctracer_state *state = event->state;
	const struct call *call;
	int64_t took;

	call = calls_leave(calls_of(text->calls, state->pid, event->cpu), symbol);
	puts_to(text, state->value & MCTRACER_RETURN_TAIL ? " goes on" : " returns");
	put_outcome(text, state);
	if (call && !(state->has & MCTRACER_HAS_TOOK)) {
		took = event->ns - call->ns;
		put_took(text, took > 0 ? took : 0, event->exact && call->exact);
	} else if (!call && !state->has) {
		puts_to(text, ", called before");
	}
	if (call) {
		puts_to(text, " --> ");
		put_address(text, call->parent_ip);
	}
}

static void put_call(struct text *text, const struct event *event, const struct symbol *symbol)
{
	const struct mctracer_state *state = event->state;
	struct call call = {
		.symbol = symbol, .parent_ip = state->parent_ip,
		.ns = event->ns, .exact = event->exact,
	};

	calls_enter(calls_of(text->calls, state->pid, event->cpu), &call);
	puts_to(text, " <-- ");
	put_address(text, state->parent_ip);
}

static void put_recorded(struct text *text, const struct event *event)
{
	const struct symbol *symbol;

	if (text->times)
		put_time(text, event->ns);
	if (text->contexts)
		put_context(text, event->state->context);
	put_who(text, event);
	symbol = put_address(text, event->state->ip);
	if (event->found == FOUND_RETURN)
		put_return(text, event, symbol);
	else
		put_call(text, event, symbol);
}

void text_event(struct text *text, const struct event *event, FILE *to)
{
	text->length = 0;
	switch (event->found) {
	case FOUND_GAP:
		calls_forget(text->calls);
		puts_to(text, "# lost ");
		put_number(text, event->missing, 1);
		break;
	case FOUND_FRAME:
		puts_to(text, "    -- ");
		put_address(text, event->state->value);
		break;
	case FOUND_MARK:
		put_mark(text, event);
		break;
	default:
		put_recorded(text, event);
		break;
	}
	put_char(text, '\n');
	fwrite_unlocked(text->line, 1, text->length, to);
}
