/* SPDX-License-Identifier: GPL-2.0 */
/* Start and stop, options, the memory of the rings, and copies of the rings. */
#ifndef _KERNEL_TRACE_MCTRACER_CONTROL_H
#define _KERNEL_TRACE_MCTRACER_CONTROL_H

#include <linux/mctracer.h>
#include <linux/mutex.h>
#include <linux/types.h>

#include "../record/record.h"
#include "../record/selected.h"
#include "../ring/cursor.h"
#include "../ring/ring.h"

/* tracer.c: all functions may sleep. */

/*
 * Locks
 * -----
 * The order is from top to bottom: a task that holds a lock takes only locks below it. "Grace
 * periods" includes those of Tasks RCU, which a task that does not sleep may delay for minutes.
 *
 *	lock			protects			its holder may wait for
 *	memory_mutex		whether there are rings, their	memory of a size that users choose,
 *	  (tracer.c)		size and their memory		grace periods
 *	a file's mutex		the text written so far		the same
 *	  (debugfs_lists.c)
 *	mctracer_lists_mutex	writers of filter, notrace,	the same
 *				triggers, mode and max_stack
 *	pids_mutex (pids.c)	the list of pids		tasklist_lock
 *	hook_mutex (tracer.c)	which hook is registered	grace periods
 *	mcount's mcount_mutex	mcount's hook			grace periods
 *	mcount's sites_mutex	call sites			patching; with ftrace, ftrace's
 *								locks
 *	mctracer_sets_mutex	the sites that lists and	memory for one module's sites
 *				triggers select
 *	snapshot_mutex		the kept copy of the rings	nothing
 *	  (snapshot_file.c)
 *	a reader's mutex	one open file's position	copying to user space
 *	  (debugfs_pipe.c, debugfs_raw.c,
 *	  debugfs_last_boot.c)
 *	mctracer_mutex		positions of rings, for		nothing: copying words to user
 *				readers				space disables page faults
 *	failed_mutex		the latest failure		nothing
 *	  (failure.c)
 *	found_mutex		the rings of an earlier boot	nothing
 *	  (last_boot.c)
 *	modules_mutex		the modules that persistent	nothing
 *	  (persistent_modules.c)	rings name
 *
 * Loading a module takes sites_mutex and mctracer_sets_mutex; also hook_mutex and mcount_mutex, but
 * only if the module has the first selected returns, or functions that begin to follow objects.
 * Reading a file takes pids_mutex, mctracer_sets_mutex, snapshot_mutex or mctracer_mutex.
 */
extern struct mutex mctracer_mutex;

/*
 * The open file that consumed events last; NULL if events were cleared since. Another file's reader
 * does not know which calls have returned meanwhile. Under mctracer_mutex.
 */
extern const void *mctracer_last_reader;

/*
 * Lock mctracer_mutex to copy to user space, and disable page faults: user space can make a page
 * fault last for ever (userfaultfd), and all others would wait. Return 0, or -ERESTARTSYS on a
 * signal.
 */
int mctracer_lock_to_copy(void);
void mctracer_unlock_copied(void);

/*
 * Set the size of each CPU's ring to @size bytes, rounded up to a power of two. Keeps the latest
 * calls, as many as fit, also while tracing. Return 0, -EINVAL if @size is 0 or too large, -ENOMEM,
 * or -EBUSY if user space has mapped a ring or the rings are in reserved memory.
 */
int mctracer_set_ring_size(u64 size);
size_t mctracer_ring_bytes(void);
/*
 * Place the rings in external memory, before there are any: the ring of CPU n at @base + n * @size,
 * for good. When they are made, @begin is called twice: first with @forget, to clear the memory,
 * then without, when the rings are in place.
 */
void mctracer_set_external_memory(void *base, size_t size, void (*begin)(bool forget));
/*
 * Count a mapping by user space: it begins, is duplicated, ends. Rings with mappings are not
 * replaced. mctracer_mapped() returns 0, -EBUSY while rings are being replaced, or -ENXIO before
 * there are rings. Takes no lock.
 */
int mctracer_mapped(void);
void mctracer_mapped_again(void);
void mctracer_unmapped(void);
/* Register the hook, after allocating the rings the first time. On error nothing has changed. */
int mctracer_start(void);
/* Unregister the hook, if it is mctracer's. On return nothing more is recorded. */
void mctracer_stop(void);
/* Return true if mctracer's hook is registered. */
bool mctracer_started(void);
/* Return why no call is recorded now, whatever is selected; NULL if calls are recorded. */
const char *mctracer_silence(void);
/* Return true if hooks may run, also after a stop: then they will commit all reserved words. */
bool mctracer_may_commit(void);

#define MCTRACER_ALL_CPUS	-1

/* Clear the rings, only that of CPU @only unless MCTRACER_ALL_CPUS, also while tracing. */
void mctracer_clear(int only);

/* As mctracer_functions_set(). While tracing, functions that stay selected lose no calls. */
int mctracer_set_functions(enum mctracer_function_list which, char *text, bool append);
int mctracer_set_triggers(char *text, bool append);

/* Record returns, too, or not. As mctracer_set_option(); or return -EOPNOTSUPP. */
int mctracer_set_graph(bool on);
/* Set an option, also while tracing. On error nothing has changed. */
int mctracer_set_option(enum mctracer_option option, bool on);

/* ring_copy.c: all functions may sleep. */
struct mctracer_ring_copy;

/* Copy the ring of CPU @only, or all with MCTRACER_ALL_CPUS. Return NULL if there is no memory. */
struct mctracer_ring_copy *mctracer_ring_copy_take(int only);
void mctracer_ring_copy_free(struct mctracer_ring_copy *snapshot);
/* Go back to the oldest call. */
void mctracer_ring_copy_rewind(struct mctracer_ring_copy *snapshot);
/* Return the stream whose event is next in time order, and its CPU in *@cpu; or NULL at the end. */
const struct mctracer_stream *mctracer_ring_copy_next(struct mctracer_ring_copy *snapshot,
						      int *cpu);
/* Advance to the next event. O(log CPUs). */
void mctracer_ring_copy_advance(struct mctracer_ring_copy *snapshot);
/* Return the counts of all copied rings together, as of the copy. */
const struct mctracer_ring_counts *
mctracer_ring_copy_counts(const struct mctracer_ring_copy *snapshot);

/* snapshot_file.c: all functions may sleep. */

/* Make a copy, in place of the present one. Return 0, or -ENOMEM or -EBUSY: then that one stays. */
int mctracer_snapshot_make(void);
/* Drop the copy. Return 0, or -EBUSY while a copy is being made. */
int mctracer_snapshot_clear(void);
/*
 * Open the copy, for one reader at a time. Return ERR_PTR(-EBUSY), ERR_PTR(-ENODATA) if there is no
 * copy, or ERR_PTR(-ENOMEM) if the last attempt to make one found no memory.
 */
struct mctracer_ring_copy *mctracer_snapshot_open(void);
void mctracer_snapshot_close(struct mctracer_ring_copy *snapshot);

/* Queue armed work that is still needed. May sleep. */
void mctracer_finish_armed(void);

#endif /* _KERNEL_TRACE_MCTRACER_CONTROL_H */
