/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Consume the events of all CPUs, oldest first. Each event goes to one reader only.
 *
 * Between mctracer_consume_begin() and mctracer_consume_end(), one reader looks at the next event
 * of each CPU, uses the oldest, and only then takes it. So a reader that is killed has taken no
 * event that it did not use. Page faults are disabled in between: a copy to user memory that is not
 * present fails.
 */
#ifndef _KERNEL_TRACE_MCTRACER_CONSUME_H
#define _KERNEL_TRACE_MCTRACER_CONSUME_H

#include "../ring/cursor.h"

/* Allocate memory before the first use. May sleep. Return 0 or -ENOMEM. */
int mctracer_consume_prepare(void);
/* Keep other readers out until mctracer_consume_end(). Return 0, or -ERESTARTSYS on a signal. */
int mctracer_consume_begin(void);
void mctracer_consume_end(void);
/* Return the stream with the oldest event, or with missed calls before it, and its CPU; or NULL. */
const struct mctracer_stream *mctracer_consume_next(int *cpu);
/* Return true if the next event is a frame of the call that was taken last. */
bool mctracer_consume_chain(void);
/* Take the event, or the missed calls, that mctracer_consume_next() returned last. */
void mctracer_consume_take(int cpu);
/* Return true if CPU @only, or any, has events. Takes no lock, so the answer may be wrong. */
bool mctracer_anything_to_consume(int only);
/*
 * Begin to read @ring with @cursor at the next word to consume. @live, @ahead: see
 * mctracer_cursor_begin(). Under mctracer_mutex. Return the number of calls that were overwritten
 * before the cursor.
 */
u64 mctracer_consume_from(struct mctracer_cursor *cursor, const struct mctracer_ring *ring,
			  bool live, bool ahead);

#endif /* _KERNEL_TRACE_MCTRACER_CONSUME_H */
