/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rooms of mctracer, and what each offers to the next:
 *
 *	encoding.h	a call as 16 bytes
 *	ring.[ch]	records of one CPU, lockless
 *	silence.[ch]	where a ring's clock may have wrapped
 *	hook*.[ch]	the hot path: from the call to the ring
 *	comm.c		names of tasks, by pid
 *	tracer.c	start, stop, clear, options; memory
 *	snapshot.c	the records of all CPUs in time order
 *	consume.c	the same, but taking them away
 *	clock.c		what the time is taken from
 *	text.c		a record as a line
 *	debugfs*.c	the files; leaves
 *	boot.c		the kernel's command line; a leaf
 */
#ifndef _KERNEL_TRACE_MCTRACER_H
#define _KERNEL_TRACE_MCTRACER_H

#include <linux/bits.h>
#include <linux/mcount.h>
#include <linux/mutex.h>
#include <linux/percpu-defs.h>
#include <linux/sched.h>
#include <linux/types.h>

#include "encoding.h"
#include "ring.h"
#include "silence.h"

struct seq_buf;

/* hook.c, hook_slow.c: one ring for each possible CPU; has memory after the first start. */
DECLARE_PER_CPU_PAGE_ALIGNED(struct mctracer_ring, mctracer_rings);
void __mcount_direct mctracer_hook(void);
void __mcount_direct mctracer_hook_keep(void);
void __mcount_direct mctracer_hook_context(void);
void __mcount_direct mctracer_hook_keep_context(void);
void __mcount_direct mctracer_hook_slow(void);
void __mcount_direct mctracer_hook_nothing(void);
DECLARE_PER_CPU(unsigned long, mctracer_recursions);

/* tracer.c: all may sleep. */

/*
 * Protects the rings' memory, what readers move in them, what is known of their
 * times, and the choice of the clock. Nobody who holds it waits for memory; stopping
 * does not need it.
 */
extern struct mutex mctracer_mutex;
/*
 * The mutex, for what copies to user space: there are no page faults, since user
 * space can make them last for ever (userfaultfd), and everybody else would wait.
 * Interruptible: 0 or -ERESTARTSYS.
 */
int mctracer_lock_to_copy(void);
void mctracer_unlock_copied(void);
/*
 * Look for silences in all rings, and tell the clock's parameters to user space;
 * under the mutex, as what it finds.
 */
void mctracer_look(void);
DECLARE_PER_CPU(struct mctracer_silences, mctracer_silences);

/*
 * The size of each CPU's ring in bytes, rounded up to a power of two. Keeps the
 * latest records, as many as fit, also while tracing. -EINVAL if it is 0 or too
 * large, -ENOMEM, -EBUSY if user space has mapped a ring, -EIO if call sites can't
 * be changed any more; then nothing has changed, unless that was found out half
 * way: then tracing stops.
 */
int mctracer_set_ring_size(u64 size);
size_t mctracer_ring_bytes(void);
/*
 * A mapping by user space begins, is duplicated, ends. While there is one rings
 * are not replaced; while they are being replaced none begins: -EBUSY; nor before
 * there are rings: -ENXIO. Without the mutex.
 */
int mctracer_mapped(void);
void mctracer_mapped_again(void);
void mctracer_unmapped(void);
/* False if @size bytes more are not to be had without making others lose theirs. */
bool mctracer_memory_available(size_t size);
/* Register the hook; the first time, allocate. On error nothing has changed. */
int mctracer_start(void);
/* Take the hook away, if it is ours. On return nothing more is recorded. */
void mctracer_stop(void);
/* Whether the registered hook is ours, now. */
bool mctracer_started(void);
/* Whether records may be coming; under the mutex. */
bool mctracer_is_live(void);

#define MCTRACER_ALL_CPUS	-1

/* Forget the records of CPU @only or of all, also while more are coming. */
void mctracer_clear(int only);

enum mctracer_option {
	MCTRACER_TIME,		/* lines begin with the time */
	MCTRACER_CONTEXT,	/* record interrupts, preemption and so on, too */
	MCTRACER_OVERWRITE,	/* a full ring overwrites its oldest records */
	MCTRACER_OPTIONS,
};

extern unsigned long mctracer_options;	/* bits */

static __always_inline bool mctracer_option(enum mctracer_option option)
{
	return READ_ONCE(mctracer_options) & BIT(option);
}

/* Also while tracing. On error nothing has changed. */
int mctracer_set_option(enum mctracer_option option, bool on);

/* clock.c */

/* Whether records are stamped with the cycle counter; else, with nanoseconds. */
bool mctracer_clock_is_cycles(void);
/* Whether the cycle counter is used but not to be used any more. */
bool mctracer_clock_is_bad(void);
/* Then use nanoseconds. Under the mutex. */
void mctracer_clock_change(void);
/* What the hook takes the time from, in full. */
u64 mctracer_clock_now(void);
/* A time, in cycles or by the other clock, as nanoseconds. */
u64 mctracer_clock_ns(u64 time, bool cycles);
/* The same as numbers, for user space. */
void mctracer_clock_params(struct mctracer_ring_header *header);

/* comm.c */

/* From now on know every task. May sleep; one at a time. -ENOMEM. */
int mctracer_comm_start(void);
/* Undo that. */
void mctracer_comm_stop(void);
/* Copy the name of @pid as seen on @cpu, fit for printing. Process context. */
void mctracer_comm_get(char comm[TASK_COMM_LEN], pid_t pid, int cpu);

/* snapshot.c: may sleep. */
struct mctracer_snapshot;

/* Of CPU @only or of all. NULL if there is no memory. */
struct mctracer_snapshot *mctracer_snapshot_take(int only);
void mctracer_snapshot_free(struct mctracer_snapshot *snapshot);
/* Go back to the oldest record. */
void mctracer_snapshot_rewind(struct mctracer_snapshot *snapshot);
/*
 * The next record in time order, or the note of a gap before it, its CPU, and
 * when it was, in nanoseconds; NULL at the end.
 */
const struct mctracer_record *mctracer_snapshot_next(struct mctracer_snapshot *snapshot,
						     int *cpu, u64 *ns);
/* The counts of all its CPUs together when it was taken. */
const struct mctracer_ring_counts *
mctracer_snapshot_counts(const struct mctracer_snapshot *snapshot);

/* consume.c: taking records away; each is taken once, whoever reads. */
struct mctracer_next {
	struct mctracer_record record;
	u64 ns;		/* when */
	u64 missed;	/* that many before it could not be read any more */
	int cpu;
};

/*
 * Interruptible: 0 or -ERESTARTSYS. From begin to end there is no other reader,
 * and page faults are disabled.
 */
int mctracer_consume_begin(void);
void mctracer_consume_end(void);
/* Look at the oldest record; false if there is none. */
bool mctracer_consume_next(struct mctracer_next *next);
/* Take the record that was looked at last. */
void mctracer_consume_take(const struct mctracer_next *next);
/* Another clock is used from now on. Under the tracer's mutex. */
void mctracer_consume_forget_times(void);
/* The reader knows what it has missed. */
void mctracer_consume_told(const struct mctracer_next *next);
/* From CPU @only or from any; at any time; not always right. */
bool mctracer_anything_to_consume(int only);

/* text.c: lines, valid until the next. One costs little because it remembers names. */
struct mctracer_text;

/* NULL if there is no memory. */
struct mctracer_text *mctracer_text_alloc(void);
void mctracer_text_free(struct mctracer_text *text);
const struct seq_buf *mctracer_text_header(struct mctracer_text *text,
					   const struct mctracer_ring_counts *counts);
/* @record may be the note of a gap. */
const struct seq_buf *mctracer_text_record(struct mctracer_text *text,
					   const struct mctracer_record *record,
					   int cpu, u64 ns);

#endif /* _KERNEL_TRACE_MCTRACER_H */
