// SPDX-License-Identifier: GPL-2.0
/* Decode the words of all CPUs into events, in time order. */
#include <stdlib.h>
#include <string.h>

#include "buffer.h"
#include "events.h"
#include "symbols.h"
#include "util.h"

#define WORD		sizeof(uint64_t)

/* How far to look for the next time, in words: most blocks contain a time. */
#define BLOCK		64
#define LOOK_AHEAD	(3 * BLOCK)

#define COUNT_MASK	((1ULL << MCTRACER_COUNT_BITS) - 1)

/* Read the next word, 0 if it was never written. Return false before a gap, and at the end. */
static bool next_word(struct cursor *cursor, uint64_t *word)
{
	struct recording_cpu *cpu = cursor->cpu;
	struct recording_run *run;

	while (cursor->run < cpu->nr) {
		run = &cpu->runs[cursor->run];
		if (cursor->i < run->nr) {
			if (!run->words)
				recording_open_run(cpu, run);
			*word = run->words[cursor->i++];
			cursor->pos += WORD;
			return true;
		}
		if (cursor->run + 1 == cpu->nr || !run[1].follows)
			return false;
		cursor->run++;
		cursor->i = 0;
	}
	return false;
}

/*
 * Return the next word of a time or of another clock, without moving the cursor, and store the
 * number of calls before it in @calls; 0: there is none near.
 */
static uint64_t next_time(struct cursor *cursor, uint32_t *calls)
{
	const uint64_t pos = cursor->pos;
	const size_t run = cursor->run, i = cursor->i;
	uint64_t word, found = 0;
	int left;

	*calls = 0;
	for (left = LOOK_AHEAD; left && !found && next_word(cursor, &word) && word; left--) {
		if (mctracer_word_counts(word))
			(*calls)++;
		else if ((mctracer_word_type(word) == MCTRACER_TIME && mctracer_word_data(word)) ||
			 mctracer_is_other_clock(&cursor->state, word))
			found = word;
	}
	cursor->pos = pos;
	cursor->run = run;
	cursor->i = i;
	return found;
}

/* Set the pace of the calls from the last time, right before the cursor, to the next time. */
static void find_pace(struct cursor *cursor)
{
	uint64_t word, time;
	uint32_t calls;

	mctracer_pace_set(&cursor->pace, 0);
	word = next_time(cursor, &calls);
	if (!word)
		return;
	time = mctracer_word_data(word) << 1;
	if (!calls || mctracer_word_type(word) != MCTRACER_TIME || time < cursor->time)
		return;
	mctracer_pace_set(&cursor->pace, (time - cursor->time) / calls ?: 1);
}

static void take_time(struct cursor *cursor)
{
	/* Drop the usual pace in each quarter: times must not depend on where reading began. */
	bool changed = (cursor->time_pos ^ cursor->pos) & -(uint64_t)cursor->cpu->notes;

	cursor->time = cursor->state.time;
	cursor->pace.usual = changed ? 0 : cursor->pace.next;
	cursor->time_pos = cursor->pos;
	cursor->calls_before = cursor->state.calls;
	find_pace(cursor);
}

static void set_ns(struct cursor *cursor, uint64_t time)
{
	uint64_t ns;

	if (!(cursor->state.known & MCTRACER_KNOWS_CLOCK))
		return;
	ns = mctracer_clock_ns(&cursor->state.clock, time);
	if (ns > cursor->ns)
		cursor->ns = ns;
}

static void time_call(struct cursor *cursor)
{
	uint64_t calls = cursor->state.calls - 1 - cursor->calls_before;

	cursor->exact = !calls && cursor->timed;
	cursor->timed = !calls;
	set_ns(cursor, cursor->time + calls * cursor->pace.step);
	cursor->called = true;
}

/* After a gap, take the state from the first sync words: the words before have the same task. */
static void find_notes(struct cursor *cursor)
{
	struct cursor ahead = *cursor;
	struct mctracer_sync_words notes = { };
	uint64_t word;

	do {
		if (!next_word(&ahead, &word))
			return;
	} while (!word || !mctracer_sync_take(&notes, word));

	cursor->state = mctracer_sync_state(&notes);
	cursor->time = cursor->state.time;
	cursor->calls_before = cursor->state.calls;
	cursor->time_pos = cursor->pos;
}

/* Return true if @pos precedes the part to be shown. */
static bool is_before_start(const struct cursor *cursor, uint64_t pos)
{
	uint64_t behind = pos - cursor->cpu->runs[cursor->run].start;

	return behind & (1ULL << (MCTRACER_POSITION_BITS - 1));
}

/* Continue at @run, after a gap. Keep only the time and the count of calls. */
static void begin_run(struct cursor *cursor, size_t run)
{
	const struct recording_run *at = &cursor->cpu->runs[run];
	uint64_t before = cursor->state.calls, ns = cursor->ns;
	bool counted = cursor->counted, hidden = cursor->hidden;
	struct recording_cpu *cpu = cursor->cpu;
	unsigned int nr = cursor->nr;

	*cursor = (struct cursor) {
		.cpu = cpu,
		.nr = nr,
		.run = run,
		.pos = at->pos,
		.timed = true,
		.ns = ns,
		.counted = true,
	};
	find_notes(cursor);
	set_ns(cursor, cursor->time);
	cursor->hidden = !counted ? at->pos != at->start : hidden;
	cursor->cut = !counted && at->pos != at->start && !is_before_start(cursor, at->pos);
	if (!(cursor->state.known & MCTRACER_KNOWS_COUNT))
		cursor->state.calls = before;	/* the run ends before a count */
	else if (counted)
		cursor->missing = (cursor->state.calls - before) & COUNT_MASK;
}

static enum found decode(struct cursor *cursor, uint64_t word)
{
	uint64_t calls = cursor->state.calls;

	switch (mctracer_decode(&cursor->state, word)) {
	case MCTRACER_EVENT_CALL:
		time_call(cursor);
		return FOUND_CALL;
	case MCTRACER_EVENT_RETURN:
		time_call(cursor);
		return FOUND_RETURN;
	case MCTRACER_EVENT_TIME:
		take_time(cursor);
		break;
	case MCTRACER_EVENT_COUNT:
		cursor->calls_before += cursor->state.calls - calls;
		break;
	case MCTRACER_EVENT_GAP:
		set_ns(cursor, cursor->time);
		cursor->missing = mctracer_gap_calls(cursor->state.value);
		cursor->uncounted = cursor->state.value & MCTRACER_GAP_UNCOUNTED;
		return FOUND_GAP;
	case MCTRACER_EVENT_FRAME:
		return cursor->called ? FOUND_FRAME : FOUND_NOTHING;
	case MCTRACER_EVENT_MARK:
		set_ns(cursor, cursor->time);
		return FOUND_MARK;
	default:
		break;
	}
	return FOUND_NOTHING;
}

/* Return true if the word before the cursor precedes the part to be shown. */
static bool is_hidden(struct cursor *cursor)
{
	if (!cursor->hidden)
		return false;
	cursor->hidden = is_before_start(cursor, cursor->pos - WORD);
	if (!cursor->hidden)
		cursor->called = false;
	return cursor->hidden;
}

static void advance(struct cursor *cursor)
{
	uint64_t word;
	bool hidden;

	for (;;) {
		cursor->missing = 0;
		cursor->uncounted = false;
		if (!next_word(cursor, &word)) {
			cursor->found = FOUND_NOTHING;
			if (cursor->run + 1 >= cursor->cpu->nr)
				return;
			begin_run(cursor, cursor->run + 1);
			if (!cursor->missing)
				continue;
			cursor->found = FOUND_GAP;
			return;
		}
		if (!word) {	/* the next words may belong to the missing one */
			cursor->called = false;
			mctracer_tear_pending(&cursor->state);
			continue;
		}
		hidden = is_hidden(cursor);
		cursor->found = decode(cursor, word);
		if (cursor->found != FOUND_NOTHING && !hidden)
			return;
	}
}

void events_begin(struct events *events, const struct recording *from)
{
	struct cursor *cursor;
	unsigned int i;

	events->from = from;
	events->taken = 0;
	events->nr = 0;
	events->room = from->nr_cpus;
	events->cursors = xcalloc(events->room, sizeof(*events->cursors));
	events->current = -1;
	events->next = -1;
	for (i = 0; i < from->nr_cpus; i++) {
		if (!from->cpus[i].nr)
			continue;
		cursor = &events->cursors[events->nr++];
		cursor->cpu = &from->cpus[i];
		cursor->nr = i;
		begin_run(cursor, 0);
		advance(cursor);
	}
}

double events_done(const struct events *events)
{
	double done = 0, all = 0;
	const struct cursor *cursor;

	for (cursor = events->cursors; cursor < events->cursors + events->nr; cursor++) {
		done += cursor->run + (double)cursor->i / (cursor->cpu->runs[cursor->run].nr ?: 1);
		all += cursor->cpu->nr;
	}
	return all ? done / all : 1;
}

void events_end(struct events *events)
{
	free(events->cursors);
}

/* Order events by time, and events of the same time by CPU. */
static bool is_before(const struct cursor *a, const struct cursor *b)
{
	return a->ns < b->ns || (a->ns == b->ns && a < b);
}

/* Return the cursor of the oldest event, without cursor @except; -1 if there is none. */
static int oldest(const struct events *events, int except)
{
	const struct cursor *cursor;
	int i, found = -1;

	for (i = 0; i < (int)events->nr; i++) {
		cursor = &events->cursors[i];
		if (i == except || cursor->found == FOUND_NOTHING)
			continue;
		if (found < 0 || is_before(cursor, &events->cursors[found]))
			found = i;
	}
	return found;
}

/*
 * Go to the next event. Compare the current CPU's next event only with events->next: it remains the
 * oldest event of the other CPUs until the current CPU changes.
 */
static void find_next(struct events *events)
{
	struct cursor *cursor;

	if (events->current >= 0) {
		cursor = &events->cursors[events->current];
		advance(cursor);
		if (cursor->found == FOUND_FRAME)
			return;			/* it belongs to the event before */
		if (cursor->found != FOUND_NOTHING &&
		    (events->next < 0 || is_before(cursor, &events->cursors[events->next])))
			return;
		events->current = events->next;
	} else {
		events->current = oldest(events, -1);
	}
	if (events->current >= 0)
		events->next = oldest(events, events->current);
}

/* Return the @at of symbols_at() for the cursor's event: the count of modules, if it is known. */
static uint64_t symbols_then(const struct cursor *cursor)
{
	if (cursor->cpu->from->nr_modules && cursor->state.known & MCTRACER_KNOWS_MODULES)
		return SYMBOLS_AT_MODULES | cursor->state.modules;
	return cursor->cpu->runs[cursor->run].nr_symbols;
}

static void take_current(struct events *events, struct event *event)
{
	struct cursor *cursor = &events->cursors[events->current];

	*event = (struct event) {
		.found = cursor->found,
		.cpu = cursor->nr,
		.ns = cursor->ns,
		.exact = cursor->exact,
		.missing = cursor->missing,
		.uncounted = cursor->uncounted,
		.cut = cursor->cut,
		.symbols_at = symbols_then(cursor),
		.number = events->taken++,
		.state = &cursor->state,
	};
	cursor->cut = false;
}

bool events_next(struct events *events, struct event *event)
{
	find_next(events);
	if (events->current < 0)
		return false;
	take_current(events, event);
	return true;
}

bool events_next_before(struct events *events, struct event *event, uint64_t ns)
{
	if (events->current >= 0)
		advance(&events->cursors[events->current]);
	events->current = oldest(events, -1);
	if (events->current < 0)
		return false;
	if (events->cursors[events->current].ns >= ns) {
		events->current = -1;
		return false;
	}
	take_current(events, event);
	return true;
}

/*
 * Add a cursor for a CPU's first words. Without sync words yet, add none: the next events_more()
 * tries again.
 */
static void add_cursor(struct events *events, unsigned int cpu)
{
	struct cursor *cursor;

	if (events->nr == events->room) {
		events->room = 2 * events->room + 8;
		events->cursors = xrealloc(events->cursors, events->room,
					   sizeof(*events->cursors));
	}
	cursor = &events->cursors[events->nr];
	*cursor = (struct cursor) { .cpu = &events->from->cpus[cpu], .nr = cpu };
	begin_run(cursor, 0);
	if (!(cursor->state.known & MCTRACER_KNOWS_TASK))
		return;
	advance(cursor);
	events->nr++;
}

/* Return the cursor of @cpu; NULL if it has none yet. */
static struct cursor *cursor_of(const struct events *events, unsigned int cpu)
{
	unsigned int i;

	for (i = 0; i < events->nr; i++)
		if (events->cursors[i].nr == cpu)
			return &events->cursors[i];
	return NULL;
}

uint64_t events_more(struct events *events)
{
	struct cursor ahead;
	uint64_t latest = 0;
	unsigned int i;

	for (i = 0; i < events->nr; i++)
		if (events->cursors[i].found == FOUND_NOTHING)
			advance(&events->cursors[i]);
	for (i = 0; i < events->from->nr_cpus; i++)
		if (events->from->cpus[i].nr && !cursor_of(events, i))
			add_cursor(events, i);
	for (i = 0; i < events->nr; i++) {
		ahead = events->cursors[i];
		while (ahead.found != FOUND_NOTHING)
			advance(&ahead);
		if (ahead.ns > latest)
			latest = ahead.ns;
	}
	return latest;
}

/*
 * Return the first word of @cpu's run that @cursor has not read to its end; NULL: it has read all
 * runs. @cursor may be NULL.
 */
static const uint64_t *first_needed(const struct recording_cpu *cpu, const struct cursor *cursor)
{
	size_t run = cursor ? cursor->run : 0;

	if (cursor && cursor->i == cpu->runs[run].nr)
		run++;
	return run < cpu->nr ? cpu->runs[run].words : NULL;
}

uint64_t events_forget(struct events *events)
{
	const struct recording *from = events->from;
	uint64_t needed = from->at, offset;
	struct cursor *cursor;
	const uint64_t *word;
	unsigned int i;

	for (i = 0; i < from->nr_cpus; i++) {
		if (!from->cpus[i].nr)
			continue;
		cursor = cursor_of(events, i);
		word = first_needed(&from->cpus[i], cursor);
		offset = word ? (uint64_t)((const char *)word - from->data) : from->at;
		if (offset < needed)
			needed = offset;
		if (!cursor)
			continue;
		recording_forget_runs(cursor->cpu, cursor->run);
		cursor->run = 0;
	}
	return needed;
}

/* Copy the name of the event's task as the kernel recorded it. */
static void copy_comm(const struct event *event, char *comm)
{
	bool known = event->state->known & MCTRACER_KNOWS_TASK;

	if (known)
		memcpy(comm, event->state->comm, MCTRACER_COMM_LEN);
	else
		memcpy(comm, "<...>", sizeof("<...>"));
	comm[MCTRACER_COMM_LEN] = '\0';
}

void event_comm(const struct event *event, char *comm)
{
	copy_comm(event, comm);
	replace_controls(comm, "");
}

/* Return true for U+FFFE and U+FFFF: they are no characters, and XML does not allow them. */
static bool is_no_character(const char *at, int length)
{
	return length == 3 && !memcmp(at, "\xef\xbf", 2) && (unsigned char)at[2] >= 0xbe;
}

void comm_clean(char *comm)
{
	int length;
	char *at;

	replace_controls(comm, "");
	for (at = comm; *at; at += length ?: 1) {
		length = utf8_length(at);
		if (is_no_character(at, length))
			length = 0;
		if (!length)
			*at = '?';
	}
	if (!comm[strspn(comm, " ")])
		snprintf(comm, MCTRACER_COMM_LEN + 1, "<...>");
}

void event_name(const struct event *event, char *comm)
{
	copy_comm(event, comm);
	comm_clean(comm);
}

const char *event_mark(const struct event *event)
{
	static const char * const names[] = {
		[MCTRACER_MARK_MARK]	 = "mark",
		[MCTRACER_MARK_ON]	 = "traceon",
		[MCTRACER_MARK_OFF]	 = "traceoff",
		[MCTRACER_MARK_OFF_SOON] = "traceoff soon",
		[MCTRACER_MARK_SNAPSHOT] = "snapshot",
		[MCTRACER_MARK_FOLLOW_FULL] = "follow: too many objects",
		[MCTRACER_MARK_DAMAGED] = "damaged",
	};
	uint64_t which = event->state->value;

	return which < ARRAY_SIZE(names) ? names[which] : "unknown mark";
}

/* Count the words of calls and returns, without decoding them. */
uint64_t events_count(const struct recording *from)
{
	struct recording_cpu *cpu;
	uint64_t nr = 0, word;
	struct cursor cursor;
	unsigned int i;

	for (i = 0; i < from->nr_cpus; i++) {
		cpu = &from->cpus[i];
		cursor = (struct cursor) { .cpu = cpu };
		for (; cursor.run < cpu->nr; cursor.run++, cursor.i = 0) {
			cursor.pos = cpu->runs[cursor.run].pos;
			cursor.hidden = true;
			while (next_word(&cursor, &word))
				nr += word && mctracer_word_counts(word) && !is_hidden(&cursor);
		}
	}
	return nr;
}
