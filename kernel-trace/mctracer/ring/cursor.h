/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Read words as events (calls, returns and so on) with their times and tasks, one after the other.
 *
 * A cursor is a position in a ring that may be written meanwhile, or in a copy of a ring, with the
 * state that the words before the position have set. A cursor takes no lock and allocates nothing,
 * so any context may use it, as long as the ring is not replaced.
 *
 * Times
 * -----
 * In compact form (without the option "time") only some words are times. The times of calls between
 * two of them are estimated, see struct mctracer_pace: so a cursor looks ahead to the next time.
 * Times never decrease.
 */
#ifndef _KERNEL_TRACE_MCTRACER_CURSOR_H
#define _KERNEL_TRACE_MCTRACER_CURSOR_H

#include <linux/jiffies.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "ring.h"

/* A copy of a ring's words. */
struct mctracer_copy {
	u64 from;	/* the position of the first word */
	u64 end;	/* the position behind the last one */
	u64 *words;	/* bit 63 is set in committed ones */
};

struct mctracer_cursor {
	const struct mctracer_ring *ring;
	const struct mctracer_copy *copy;	/* of ring, to be read instead; or NULL */
	bool live;	/* the tracer runs: uncommitted words will be committed */
	bool called;	/* the cursor has found the call or return that frames belong to */
	bool cut;	/* calls before the next event are gone: overwritten, or consumed */
	bool after_cut;	/* ... before the event that was just found */
	bool walks;	/* mctracer_cursor_begin() reads up to this position: */
	u64 to;
	u64 quarter;	/* of the ring's size, when reading began */
	u64 pos;	/* of the next word */
	struct mctracer_state state;
	u64 time;	/* the last time word's */
	u64 calls_before;	/* state.calls there */
	u64 time_pos;	/* the position behind that word */
	struct mctracer_pace pace;	/* from there to the next time, */
	bool sure;	/* if that was found */
	u64 ns;		/* the last event's time, */
	bool exact;	/* recorded and not estimated: the event before has a time word, too */
	bool timed;	/* a time word directly precedes the last call or return */
};

/* What a cursor has found. */
enum mctracer_found {
	MCTRACER_FOUND_NOTHING,		/* the end, for now */
	MCTRACER_FOUND_CALL,		/* cursor->state and cursor->ns describe it */
	MCTRACER_FOUND_RETURN,		/* likewise; cursor->state.value: how */
	MCTRACER_FOUND_GAP,		/* cursor->state.value calls are missing */
	MCTRACER_FOUND_FRAME,		/* of the last call or return; cursor->state.value */
	MCTRACER_FOUND_MARK,		/* cursor->state.value: which mark; cursor->ns */
	MCTRACER_FOUND_OVERWRITTEN,	/* the next words were overwritten: begin again */
};

/*
 * Begin to read @ring, or a @copy of it, at @pos; if @pos is overwritten, at the first sync point
 * that is not, and with @ahead one quarter further, so that writers don't overtake the cursor at
 * once. @live: uncommitted words will be committed. Reads all words from the sync point before,
 * which may take long.
 */
void mctracer_cursor_begin(struct mctracer_cursor *cursor, const struct mctracer_ring *ring,
			   const struct mctracer_copy *copy, bool live, u64 pos, bool ahead);
/* Read up to the next event. */
enum mctracer_found mctracer_cursor_next(struct mctracer_cursor *cursor);
/* Read the next word, for callers that decode it themselves. Return false if there is none now. */
bool mctracer_cursor_word(struct mctracer_cursor *cursor, u64 *word);

/* One CPU's events: the next one is found before the reader uses it. */
struct mctracer_stream {
	struct mctracer_cursor cursor;
	enum mctracer_found found;	/* the next event, if any */
	u64 missed;			/* calls that are missing before it, */
	u64 from;			/* the position behind these, ... */
	u64 from_calls;			/* ... and the calls before that position */
	u64 begin;			/* the ring's user.read when found was set ... */
	u32 moves;			/* ... and its moves */
};

/* Count a ring's events: exact if nobody writes meanwhile. Under mctracer_mutex. */
struct mctracer_ring_counts mctracer_ring_counts(const struct mctracer_ring *ring);

/*
 * move.c: give @ring the memory of @new, which was allocated for it, and write the latest words of
 * @ring there, as many as fit. @new gets the old memory, for the caller to free. Nobody may be
 * writing or reading.
 */
void mctracer_ring_move(struct mctracer_ring *ring, struct mctracer_ring *new);

/* Move user.read past overwritten words, before writers begin to keep the oldest. */
void mctracer_ring_skip_overwritten(struct mctracer_ring *ring);

/*
 * Reschedule if necessary, in a loop over many words. Where cond_resched() is a function it is
 * traced: calling it for each word would write a word for each one that is read. Unregistering a
 * hook waits for tasks that do not sleep, unless they report, by rcu_tasks_qs(), that they run no
 * hook.
 */
static inline void mctracer_cond_resched(void)
{
	rcu_tasks_qs(current, false);
	if (need_resched())
		cond_resched();
}

/*
 * Return true if a reader that began at @start, in jiffies, has consumed for a tick: it must then
 * release mctracer_mutex, since the events of busy CPUs never come to an end.
 */
static inline bool mctracer_time_is_up(unsigned long start)
{
	return time_after(jiffies, start + 1);
}

#endif /* _KERNEL_TRACE_MCTRACER_CURSOR_H */
