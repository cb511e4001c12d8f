/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The events of a recording, of all CPUs, in time order: calls, returns, marks, and what is
 * missing. Each has the time that the kernel's own text would have, to the nanosecond, also
 * where that is estimated: see kernel/trace/mctracer/cursor.h.
 */
#ifndef _MCTRACE_EVENTS_H
#define _MCTRACE_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "mctracer_decode.h"
#include "recording.h"

enum found {
	FOUND_NOTHING,	/* the end */
	FOUND_CALL,
	FOUND_RETURN,
	FOUND_GAP,	/* event->missing calls */
	FOUND_FRAME,	/* of the call or return before; state.value */
	FOUND_MARK,	/* state.value; state.ip */
};

/* One CPU's words: where the next is, and what those before have said. */
struct cursor {
	struct recording_cpu *cpu;
	unsigned int nr;		/* the CPU's */
	size_t run, i;			/* of the next word */
	uint64_t pos;			/* its position */
	struct mctracer_state state;
	bool called;			/* what frames belong to has come */
	bool hidden;			/* before what is to be shown */
	bool counted;			/* it is known how many calls were before */
	uint64_t time;			/* the last time, ... */
	uint64_t time_pos;		/* ... the position behind it, ... */
	uint64_t calls_before;		/* ... and state.calls there */
	struct mctracer_pace pace;	/* from the last time to the next */
	uint64_t ns;			/* the last event's time, ... */
	bool exact;			/* ... which is its own: the one before has one, ... */
	bool timed;			/* ... and a time stood between */
	uint64_t missing;		/* calls that were overwritten before they were read */
	enum found found;		/* the event that is there */
};

struct events {
	const struct recording *from;
	struct cursor *cursors;		/* of CPUs that have words */
	unsigned int nr;
	unsigned int room;
	uint64_t taken;			/* events so far */
	int current;			/* whose event is the current one, ... */
	int next;			/* ... and whose is the oldest of the others; -1: of none */
};

/* What is current; good until the next events_next(). */
struct event {
	enum found found;
	unsigned int cpu;
	uint64_t ns;
	bool exact;
	uint64_t missing;
	uint64_t symbols_at;	/* for symbols_at() */
	uint64_t number;		/* from 0 on */
	const struct mctracer_state *state;
};

void events_begin(struct events *events, const struct recording *from);
/* False at the end. */
bool events_next(struct events *events, struct event *event);
/*
 * The same of a recording that grows: false where those that there are come to their end, or to
 * one that is not before @ns, which may come then after others that are not there yet.
 */
bool events_next_before(struct events *events, struct event *event, uint64_t ns);
/* More of it has come. The time of the latest event that there is. */
uint64_t events_more(struct events *events);
void events_end(struct events *events);
/* How much of all is behind the current event, from 0 to 1: to be asked each so many events. */
double events_done(const struct events *events);
#define EVENTS_PROGRESS	1000000

/* Its task's name, of at most MCTRACER_COMM_LEN, with what would break a line replaced. */
void event_comm(const struct event *event, char *comm);

/*
 * The same for those that read it as UTF-8, or want a name: what is no character becomes '?', and a
 * name that is empty or blank "<...>".
 */
void event_name(const struct event *event, char *comm);

/* What a mark is called: "traceon". */
const char *event_mark(const struct event *event);

/* How many calls and returns there are in all. */
uint64_t events_count(const struct recording *from);

#endif /* _MCTRACE_EVENTS_H */
