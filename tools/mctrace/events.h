/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Read the events of a recording, of all CPUs, in time order: calls, returns, marks, and gaps. Each
 * event has the time that the kernel's own trace prints, to the nanosecond, even if the time is
 * estimated: see kernel/trace/mctracer/ring/cursor.h.
 */
#ifndef _MCTRACE_EVENTS_H
#define _MCTRACE_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "mctracer_decode.h"
#include "recording.h"

enum found {
	FOUND_NOTHING,	/* the end, or no event */
	FOUND_CALL,
	FOUND_RETURN,
	FOUND_GAP,	/* event->missing and event->uncounted: which calls are missing */
	FOUND_FRAME,	/* address of the previous call's or return's backtrace: state.value */
	FOUND_MARK,	/* state.value; state.ip */
};

/* A position in one CPU's words, and the state after the words before it. */
struct cursor {
	struct recording_cpu *cpu;
	unsigned int nr;		/* of the CPU */
	size_t run, i;			/* index of the next word */
	uint64_t pos;			/* position of the next word */
	struct mctracer_state state;
	bool called;			/* a call or return that frames may follow was found */
	bool hidden;			/* before the part to be shown */
	bool counted;			/* a run has begun: state.calls is valid */
	uint64_t time;			/* the last time */
	uint64_t time_pos;		/* position after the last time's word */
	uint64_t calls_before;		/* state.calls at that position */
	struct mctracer_pace pace;	/* from the last time to the next */
	uint64_t ns;			/* time of the latest event */
	bool exact;			/* ns was recorded: this call and the last have a time */
	bool timed;			/* the latest call has a time right before it */
	uint64_t missing;		/* calls that a gap counts */
	bool uncounted;			/* an unknown number is missing */
	bool cut;			/* calls before the next event were overwritten */
	enum found found;		/* the event before the cursor */
};

struct events {
	const struct recording *from;
	struct cursor *cursors;		/* of the CPUs with words */
	unsigned int nr;
	unsigned int room;
	uint64_t taken;			/* number of events so far */
	int current;			/* cursor of the current event; -1: none */
	int next;			/* cursor of the oldest event of the others; -1: none */
};

/* The current event. @state is valid until the next events_next(). */
struct event {
	enum found found;
	unsigned int cpu;
	uint64_t ns;
	bool exact;
	uint64_t missing;
	bool uncounted;		/* an unknown number is missing */
	bool cut;		/* earlier calls of this CPU were overwritten */
	uint64_t symbols_at;	/* @at of symbols_at() */
	uint64_t number;		/* of the event, from 0 */
	const struct mctracer_state *state;
};

void events_begin(struct events *events, const struct recording *from);
/* Set @event to the next event. Return false at the end. */
bool events_next(struct events *events, struct event *event);
/*
 * As events_next(), for a growing recording. Return false if there are no more events before @ns:
 * another CPU's words that are not read yet may contain older events than the one at @ns.
 */
bool events_next_before(struct events *events, struct event *event, uint64_t ns);
/* Continue after recording_more(). Return the time of the latest event of all CPUs. */
uint64_t events_more(struct events *events);
/*
 * Forget the words of a growing recording that were read. Return the file offset of the first chunk
 * data that events_next_before() still needs.
 */
uint64_t events_forget(struct events *events);
void events_end(struct events *events);
/* Return the part that was read, from 0 to 1. To be called once per EVENTS_PROGRESS events. */
double events_done(const struct events *events);
#define EVENTS_PROGRESS	1000000

/*
 * Copy the name of the event's task to @comm, which has MCTRACER_COMM_LEN + 1 bytes. Control
 * characters become '?'.
 */
void event_comm(const struct event *event, char *comm);

/*
 * Make a task's name valid text: control characters and bytes that are no character become '?', and
 * an empty or blank name becomes "<...>". @comm has MCTRACER_COMM_LEN + 1 bytes.
 */
void comm_clean(char *comm);

/* Copy the name, and clean it by comm_clean(). */
void event_name(const struct event *event, char *comm);

/* Return the name of a mark: "traceon". */
const char *event_mark(const struct event *event);

/* Return the number of calls and returns in a recording. */
uint64_t events_count(const struct recording *from);

#endif /* _MCTRACE_EVENTS_H */
