/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The rooms of mctracer, and what each offers to the next:
 *
 *	encoding.h	a call as 16 bytes
 *	ring.[ch]	records of one CPU, lockless
 *	silence.[ch]	where a ring's clock may have wrapped
 *	hook.c		the hot path: from the call to the ring
 *	comm.c		names of tasks, by pid
 *	tracer.c	start, stop, clear; memory
 *	snapshot.c	the records of all CPUs in time order
 *	text.c		a record as a line
 *	debugfs.c	the files; a leaf
 *	boot.c		the kernel's command line; a leaf
 */
#ifndef _KERNEL_TRACE_MCTRACER_H
#define _KERNEL_TRACE_MCTRACER_H

#include <linux/mcount.h>
#include <linux/mutex.h>
#include <linux/percpu-defs.h>
#include <linux/sched.h>
#include <linux/types.h>

#include "encoding.h"
#include "ring.h"
#include "silence.h"

struct seq_file;

/* hook.c: one ring for each possible CPU; has memory after the first start. */
DECLARE_PER_CPU_SHARED_ALIGNED(struct mctracer_ring, mctracer_rings);
void __mcount_direct mctracer_hook(void);

/* tracer.c: all may sleep. */

/* Serializes starting, stopping, clearing, and whatever needs the rings' memory to stay. */
extern struct mutex mctracer_mutex;
/* Look for silences in all rings; under the mutex, as what it finds. */
void mctracer_look(void);
DECLARE_PER_CPU(struct mctracer_silences, mctracer_silences);

/*
 * The size of each CPU's ring in bytes, rounded up to a power of two. -EINVAL if
 * it is 0 or too large; -EBUSY after the first start.
 */
int mctracer_set_ring_size(u64 size);
/* Register the hook; the first time, allocate. On error nothing is registered. */
int mctracer_start(void);
/* Take the hook away, if it is ours. On return nothing more is recorded. */
void mctracer_stop(void);
/* Whether the registered hook is ours, now. */
bool mctracer_started(void);
/* Forget all records, also while more are coming. */
void mctracer_clear(void);

/* comm.c */

/* From now on know every task. May sleep; under the tracer's mutex. -ENOMEM. */
int mctracer_comm_start(void);
/* Copy the name of @pid as seen on @cpu, fit for printing. Process context. */
void mctracer_comm_get(char comm[TASK_COMM_LEN], pid_t pid, int cpu);

/* snapshot.c: may sleep. */
struct mctracer_snapshot;

/* NULL if there is no memory. */
struct mctracer_snapshot *mctracer_snapshot_take(void);
void mctracer_snapshot_free(struct mctracer_snapshot *snapshot);
/* Go back to the oldest record. */
void mctracer_snapshot_rewind(struct mctracer_snapshot *snapshot);
/* The next record in time order, and its CPU; NULL at the end. */
const struct mctracer_record *mctracer_snapshot_next(struct mctracer_snapshot *snapshot,
						     int *cpu);
/* The counts of all CPUs together when it was taken. */
const struct mctracer_ring_counts *
mctracer_snapshot_counts(const struct mctracer_snapshot *snapshot);

/* text.c: a line costs little only because @symbols remembers names. */
struct mctracer_symbols;

/* NULL if there is no memory. */
struct mctracer_symbols *mctracer_symbols_alloc(void);
void mctracer_symbols_free(struct mctracer_symbols *symbols);
void mctracer_print_header(struct seq_file *m, const struct mctracer_ring_counts *counts);
void mctracer_print_record(struct seq_file *m, struct mctracer_symbols *symbols,
			   const struct mctracer_record *record, int cpu);

#endif /* _KERNEL_TRACE_MCTRACER_H */
