/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reading: from words to calls with their times and tasks, one after the other.
 *
 * A cursor is a position in a ring that may be written meanwhile, or in a copy of one,
 * and what the words before it have said. It takes no lock and allocates nothing, so it
 * may be used in any context, as long as the ring is not replaced.
 *
 * Times
 * -----
 * In compact form only some words are times. Those of the calls between two times are
 * estimated, see struct mctracer_pace; so a cursor looks ahead to the next time. Times
 * never decrease.
 */
#ifndef _KERNEL_TRACE_MCTRACER_CURSOR_H
#define _KERNEL_TRACE_MCTRACER_CURSOR_H

#include <linux/jiffies.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>

#include "ring.h"

struct mctracer_copy {
	u64 from;	/* the position of the first word */
	u64 end;	/* the position behind the last one */
	u64 *words;	/* with bit 63, if they are whole */
};

struct mctracer_cursor {
	const struct mctracer_ring *ring;
	const struct mctracer_copy *copy;	/* of it; NULL: the ring itself */
	bool live;	/* what is not written yet will be */
	bool called;	/* it has come to a call or return: what frames belong to */
	bool walks;	/* to where it is to begin, which is here: */
	u64 to;
	u64 quarter;	/* of the ring, when this began */
	u64 pos;	/* of the next word */
	struct mctracer_state state;
	u64 time;	/* the last time */
	u64 calls_before;	/* state.calls there */
	u64 time_pos;	/* the position of that time's successor */
	struct mctracer_pace pace;	/* from there to the next time; */
	bool sure;	/* if that is known */
	u64 ns;		/* the last call's time, */
	bool exact;	/* which is its own: as the one before it has one */
	bool timed;	/* there was a time since the one before */
};

/* What a cursor has come to. */
enum mctracer_found {
	MCTRACER_FOUND_NOTHING,		/* the end, for now */
	MCTRACER_FOUND_CALL,		/* see cursor->state and cursor->ns */
	MCTRACER_FOUND_RETURN,		/* the same; cursor->state.value */
	MCTRACER_FOUND_GAP,		/* cursor->state.value calls are missing */
	MCTRACER_FOUND_FRAME,		/* of the last call; cursor->state.value */
	MCTRACER_FOUND_MARK,		/* cursor->state.value; cursor->ns */
	MCTRACER_FOUND_OVERWRITTEN,	/* what was to come; begin again */
};

/*
 * Begin to read @ring, or a @copy of it, at @pos or, if that is overwritten, at the first
 * position with notes that is not; then, if @ahead, one quarter further, so as not to be
 * overtaken at once. The words before are gone through. May take long.
 */
void mctracer_cursor_begin(struct mctracer_cursor *cursor, const struct mctracer_ring *ring,
			   const struct mctracer_copy *copy, bool live, u64 pos, bool ahead);
enum mctracer_found mctracer_cursor_next(struct mctracer_cursor *cursor);
/* The next word that is there, for who decodes himself. False if there is none now. */
bool mctracer_cursor_word(struct mctracer_cursor *cursor, u64 *word);

/* One CPU's calls, of which the next one is looked at before it is used. */
struct mctracer_stream {
	struct mctracer_cursor cursor;
	enum mctracer_found found;	/* the next one, if any */
	u64 missed;			/* so many are missing before it, */
	u64 from;			/* which is here, ... */
	u64 from_calls;			/* ... behind so many calls */
	u64 begin;			/* user.read when it was looked at ... */
	u32 moves;			/* ... and the ring's */
};

/* Exact if nobody writes meanwhile. Under the tracer's mutex. */
struct mctracer_ring_counts mctracer_ring_counts(const struct mctracer_ring *ring);

/*
 * move.c: give @ring the memory of @new, which was allocated for it, with the latest words, if
 * it has any, as many as fit, and free its own. Nobody may be writing or reading.
 */
void mctracer_ring_move(struct mctracer_ring *ring, struct mctracer_ring *new);

/* Forget what was overwritten, before writers come that keep the oldest. */
void mctracer_ring_skip_overwritten(struct mctracer_ring *ring);

/*
 * For what is done for each of many words. Where cond_resched() is a function
 * it is traced: calling it would write a word for each one that is read. Who
 * unregisters a hook waits for tasks that do not sleep, unless they tell that they
 * run no hook.
 */
static inline void mctracer_cond_resched(void)
{
	rcu_tasks_qs(current, false);
	if (need_resched())
		cond_resched();
}

/*
 * Readers take calls away under the tracer's mutex for as long as a tick, begun at
 * @start in jiffies: those of busy CPUs would never come to an end.
 */
static inline bool mctracer_time_is_up(unsigned long start)
{
	return time_after(jiffies, start + 1);
}

#endif /* _KERNEL_TRACE_MCTRACER_CURSOR_H */
