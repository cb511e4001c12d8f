/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of mctracer offer to each other. The parts, each before the parts that use it; no
 * other part uses a leaf:
 *
 *	uapi/linux/mctracer.h, mctracer_decode.h
 *			the format of words; decoding words
 *	words.h		encoding words
 *	ring.[ch]	the ring of one CPU: its words, lockless
 *	hook*.[ch]	the hot path of the hooks: from the call to the ring
 *	note.c		the slow path of the hooks: sync words and other meta words
 *	clock.c		the clock of recorded times
 *	pids.c		the traced tasks
 *	expressions.[ch] expressions that select functions
 *	functions.c	the selected functions
 *	chosen.[ch]	looking up whether a function is selected
 *	triggers.c	triggers: actions at functions
 *	operands.c	operands of triggers: arguments and memory
 *	memory.c	reading memory that an argument points to
 *	gate*.c		the pre-handlers, which run the triggers
 *	follow.[ch]	followed objects
 *	awaited.[ch]	pending returns: calls whose result will be followed
 *	below.c		nested calls of calls that concern followed objects
 *	timed.c		start times of calls, for triggers
 *	armed.c		work that a traced call leaves for later
 *	onoff.c		turning recording on and off
 *	freeze.c	freezing the rings when the kernel crashes
 *	hold.c		the file snapshot: a copy of all rings that is kept
 *	max_stack.c	the deepest stack
 *	cursor.[ch]	reading: from words to calls with times and tasks
 *	move.c		moving words to other memory
 *	tracer.c	start, stop, clear, options; memory
 *	consume.[ch]	consuming the calls of all CPUs
 *	snapshot.c	a copy of all rings: their calls in time order
 *	opencalls.[ch]	the call that a return belongs to
 *	text.c		calls as lines of text
 *	debugfs*.c	the files; leaves
 *	kept.h, kept_modules.c, reserved.c
 *			persistent rings, which the next kernel finds
 *	judge.[ch]	validating persistent rings
 *	last_boot.[ch]	reading persistent rings of an earlier boot
 *	boot.c		the kernel's command line; a leaf
 *	sysrq.c		a SysRq key; a leaf
 *	dump.c		the last calls on the console; a leaf
 */
#ifndef _KERNEL_TRACE_MCTRACER_H
#define _KERNEL_TRACE_MCTRACER_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/mcount.h>
#include <linux/mctracer.h>
#include <linux/mutex.h>
#include <linux/percpu-defs.h>
#include <linux/sched.h>
#include <linux/types.h>

#include "chosen.h"
#include "cursor.h"
#include "ring.h"

struct mctracer_snapshot;
struct seq_buf;
struct seq_file;

/* hook*.c, note.c. Each possible CPU has a ring, which has memory after the first start. */
DECLARE_PER_CPU_PAGE_ALIGNED(struct mctracer_ring, mctracer_rings);
void __mcount_direct mctracer_hook_time(void);
void __mcount_direct mctracer_hook(void);
void __mcount_direct mctracer_hook_exact(void);
void __mcount_direct mctracer_hook_context(void);
void __mcount_direct mctracer_hook_exact_context(void);
void __mcount_direct mctracer_hook_chosen(void);
void __mcount_direct mctracer_hook_chosen_exact(void);
void __mcount_direct mctracer_hook_chosen_context(void);
void __mcount_direct mctracer_hook_chosen_exact_context(void);
void __mcount_direct mctracer_hook_slow(void);
/* A plain hook with the effect of these: for functions whose call site BPF, for instance, uses. */
void mctracer_record_plainly(unsigned long ip, unsigned long parent_ip);
void __mcount_direct mctracer_hook_return(void);
void __mcount_direct mctracer_hook_return_exact(void);
void __mcount_direct mctracer_hook_return_context(void);
void __mcount_direct mctracer_hook_return_exact_context(void);
void __mcount_direct mctracer_hook_return_slow(void);
void __mcount_direct mctracer_hook_tail(void);
void __mcount_direct mctracer_hook_tail_exact(void);
void __mcount_direct mctracer_hook_tail_context(void);
void __mcount_direct mctracer_hook_tail_exact_context(void);
void __mcount_direct mctracer_hook_tail_slow(void);
unsigned long mctracer_note_task(unsigned long unused);
unsigned long mctracer_note_context(unsigned long context);
unsigned long mctracer_note_return(unsigned long ip);
unsigned long mctracer_note_tail(unsigned long ip);
void mctracer_note_block(void);

/* The argument registers of a call, and attributes to record with the call or return. */
struct mctracer_args {
	unsigned int nr;	/* 0: not read yet */
	unsigned long values[MCTRACER_ARGS];
	bool wanted;		/* record the values */
	bool recorded;		/* record the call, with all attributes */
	u32 calls_of;		/* number of the object whose nested calls are recorded; or 0 */
	unsigned int nr_objects;
	u64 objects[MCTRACER_OBJECTS];	/* values of MCTRACER_OBJECT words */
	unsigned int nr_data;
	u8 data[MCTRACER_DATA_MAX];	/* memory that an argument points to */
};

/*
 * Add the object @number with @role to @args, unless it is there already, and set the flags @also:
 * MCTRACER_OBJECT_BEGINS and so on. Does nothing if there is no room.
 */
static inline void mctracer_concerns(struct mctracer_args *args, u32 number, u64 role, u64 also)
{
	unsigned int i;

	for (i = 0; i < args->nr_objects && (u32)args->objects[i] != number; i++)
		;
	if (i == MCTRACER_OBJECTS)
		return;
	if (i == args->nr_objects)
		args->objects[args->nr_objects++] = number | role << MCTRACER_OBJECT_ROLE_SHIFT;
	args->objects[i] |= also;
}

/*
 * Record a call, with the attributes in @args, or none if NULL, and the @n callers in @frames. Any
 * context, with preemption disabled.
 */
void mctracer_note_call(unsigned long ip, unsigned long parent_ip,
			const struct mctracer_args *args, const u32 *frames, unsigned int n);

/* What is known of a call when it returns. */
struct mctracer_outcome {
	unsigned int has;	/* MCTRACER_HAS_RESULT and so on */
	u64 result;
	u64 took;		/* nanoseconds */
};

/* Record a return likewise; @how: 0, or MCTRACER_RETURN_TAIL for a tail jump. */
void mctracer_note_outcome(unsigned long ip, u32 how, const struct mctracer_outcome *outcome,
			   const struct mctracer_args *args, const u32 *frames, unsigned int n);
/* Write the mark @which of a trigger at @ip. With @always, also for a task that is not recorded. */
void mctracer_note_mark(unsigned long ip, unsigned int which, bool always);
/* Write MCTRACER_MARK_MARK, with what is known at a return. */
void mctracer_note_marked(unsigned long ip, const struct mctracer_outcome *outcome);
/* Calls that were refused because they came while a clock was read; see note.c. */
DECLARE_PER_CPU(unsigned long, mctracer_recursions);

/* Calls of tasks that did work for the tracer: counted, not recorded. */
DECLARE_PER_CPU(unsigned long, mctracer_own_calls);

/*
 * Declare that the current task does work for the tracer until the end of the scope:
 * CLASS(mctracer_own_work, own)(). May nest. mctracer_begin_own_work() returns the @place for
 * mctracer_end_own_work().
 */
int mctracer_begin_own_work(void);
void mctracer_end_own_work(int place);
DEFINE_CLASS(mctracer_own_work, int, mctracer_end_own_work(_T), mctracer_begin_own_work(), void)

/*
 * Have all CPUs write a gap before they record again, because calls were neither recorded nor
 * counted. Call this before recording resumes. O(possible CPUs). Any context.
 */
void mctracer_note_hole(void);
/*
 * Have all CPUs write a gap before they record again, because some CPUs have lost calls, which they
 * count. O(possible CPUs). Any context.
 */
void mctracer_note_loss(void);
/*
 * After all rings were cleared, the holes from before need no gaps: pass what mctracer_hole_count()
 * returned before. Any context.
 */
unsigned long mctracer_hole_count(void);
void mctracer_holes_cleared(unsigned long count);
/*
 * Count that a module is loaded, before its code runs, or unloaded, after its code has run last.
 * All CPUs write the count before they record again. Return the count. Any context.
 */
u32 mctracer_note_modules(void);
/* Return the current count. Any context. */
u32 mctracer_module_count(void);
/* Clear stale bits of CPUs that may have a task cached. Call it now and then. Any context. */
void mctracer_forget_where(void);

/*
 * Invalidate the cached tasks, recorded and skipped, of all CPUs: then hooks check their state
 * again. With @renew, they also write all sync words. Call this after changing the state that hooks
 * must see. Any context.
 */
void mctracer_forget_tasks(bool renew);

/*
 * State that hooks check. mctracer_forget_tasks() must follow each change of mctracer_stopped,
 * mctracer_ending, mctracer_frozen and mctracer_holding.
 */

/* No hook writes to a ring, not even a mark; calls are counted as lost. */
extern bool mctracer_stopped;
/* The hook is being unregistered: nothing is recorded, and triggers only count. */
extern bool mctracer_ending;
/* Why recording is frozen: then nothing is recorded. */
extern enum mctracer_crash mctracer_frozen;

/* The states of recording. */
enum mctracer_on {
	MCTRACER_ON,
	MCTRACER_OFF_SOON,	/* on, until a trigger's time is over */
	MCTRACER_CHANGING,	/* on, while a trigger writes its mark; then another state */
	MCTRACER_OFF,
};

extern atomic_t mctracer_recording;
/* Each packet must begin at an even slot, because a registered hook needs it. */
extern bool mctracer_pairs;

enum mctracer_option {
	MCTRACER_EXACT,		/* "time": record each call's time; lines begin with it */
	MCTRACER_WITH_CONTEXT,	/* record the context, too: interrupts, preemption and so on */
	MCTRACER_OVERWRITE,	/* a full ring overwrites its oldest calls */
	MCTRACER_MAX_STACK,	/* record the deepest stack; see max_stack.c */
	MCTRACER_FREEZE_WARNING,	/* "freeze_on_warning" and so on: see freeze.c */
	MCTRACER_FREEZE_HUNG_TASK,
	MCTRACER_FREEZE_SOFT_LOCKUP,
	MCTRACER_FREEZE_HARD_LOCKUP,
	MCTRACER_OPTIONS,
};

extern unsigned long mctracer_options;	/* bits */

static __always_inline bool mctracer_option(enum mctracer_option option)
{
	return READ_ONCE(mctracer_options) & BIT(option);
}

/*
 * pids.c: the expressions in force, a bit each. The upper quarter of the bits is for expressions
 * that exclude tasks. One word holds both kinds, so that both change at once.
 */
#define MCTRACER_PIDS_OUT	(~0UL << (BITS_PER_LONG / 4 * 3))

extern unsigned long mctracer_pids;

/* Return true if @task is traced. Any context. */
static __always_inline bool mctracer_task_chosen(const struct task_struct *task)
{
	unsigned long pids = READ_ONCE(mctracer_pids), task_pids;

	if (!pids)
		return true;
	task_pids = pids & mctracer_task_pids(task);
	if (task_pids & MCTRACER_PIDS_OUT)
		return false;
	return task_pids || !(pids & ~MCTRACER_PIDS_OUT);
}

/*
 * Set the expressions of the file "pid" to @text, or @append them; modifies @text. May sleep.
 * Return 0; or -EINVAL, -ESRCH, -ENOENT, -ENOSPC or -ENOMEM, with the old expressions in force,
 * after logging why.
 */
int mctracer_set_pids(char *text, bool append);
void mctracer_show_pids(struct seq_file *m);

/* gate.c, gate_return.c: the pre-handlers that mcount calls. Any context. */
bool mctracer_return_gate(unsigned long ip, unsigned long parent_ip,
			  const struct mcount_regs *regs, unsigned long result);
bool mctracer_gate(unsigned long ip, unsigned long parent_ip, const struct mcount_regs *regs);
/* As mctracer_gate(), with @where as the address of ip and parent_ip on the stack. */
unsigned long mctracer_gate_ips(unsigned long where);

/* onoff.c: any context, unless a function may sleep. */
static inline bool mctracer_is_on(void)
{
	return atomic_read(&mctracer_recording) < MCTRACER_CHANGING &&
	       READ_ONCE(mctracer_frozen) == MCTRACER_NOT_FROZEN;
}

/* Return true if a trigger may turn recording off, at once or @after a while: that only once. */
static inline bool mctracer_may_turn_off(bool after)
{
	return mctracer_is_on() &&
	       (!after || atomic_read(&mctracer_recording) == MCTRACER_ON);
}

/* Turn recording on. Return true if it was not MCTRACER_ON. */
bool mctracer_turn_on(void);
/*
 * Turn recording off on all CPUs for a trigger at @ip, and write its mark, unless another one has
 * done so. @after: milliseconds; 0: at once, then hooks record only calls that they have begun to
 * record. With preemption disabled.
 */
void mctracer_turn_off_at(unsigned long ip, unsigned int after);
/* Turn recording off from user space; write no mark. */
void mctracer_turn_off(void);
/* Cancel turning off after a while. May sleep. */
void mctracer_forget_soon(void);
/* Queue the work that turns recording off after a while, if that is pending. */
void mctracer_soon_finish(void);

/* freeze.c: any context. See also linux/mctracer.h. */

/* Thaw. Return why recording was frozen, or MCTRACER_NOT_FROZEN. */
enum mctracer_crash mctracer_thaw(void);
/* Return why recording is frozen, in a word or two; NULL if it is not. */
const char *mctracer_frozen_by(void);
/* How often recording was frozen. */
extern int mctracer_freezes;

/* armed.c */

/*
 * Have @work run, from a traced call in any context with preemption disabled. On a CPU that goes
 * online or offline, nothing is queued: mctracer_finish_armed(), called when the CPU is up or down,
 * must be able to see that the work is still needed.
 */
struct irq_work;
void mctracer_arm(struct irq_work *work);
/* Queue armed work that is still needed. May sleep. */
void mctracer_finish_armed(void);

/* hold.c */

/* The rings are being copied: calls are counted as lost instead of being recorded. */
extern bool mctracer_holding;
/* Return true if there is no copy, nor one being made. Any context. */
bool mctracer_may_hold(void);
/* Request a copy for a trigger at @ip, if there is none. Any context, with preemption disabled. */
void mctracer_hold_at(unsigned long ip);

/* The functions below may sleep. */

/* Make a copy, in place of the present one. Return 0, -ENOMEM or -EBUSY. */
int mctracer_hold_now(void);
/* Queue the work that makes a requested copy, if it is still needed. */
void mctracer_hold_finish(void);
/* Drop the copy. Return 0, or -EBUSY while a copy is being made. */
int mctracer_held_clear(void);
/*
 * Open the copy, for one reader at a time. Return ERR_PTR(-EBUSY), ERR_PTR(-ENODATA) if there is no
 * copy, or the error of the last attempt to make one.
 */
struct mctracer_snapshot *mctracer_held_open(void);
void mctracer_held_close(struct mctracer_snapshot *snapshot);

/* max_stack.c */

/* The lowest stack pointer so far, in bytes above the lower end of its task's stack. */
extern unsigned long mctracer_stack_left;
/*
 * Record the stack if it is the deepest one. @ips: where a pre-handler's ip and parent_ip are on
 * the stack. Any context, with preemption disabled.
 */
void mctracer_note_stack(const unsigned long *ips, const struct mcount_regs *regs);
/* Forget the deepest stack. */
void mctracer_max_stack_clear(void);
/* Print the deepest stack. May sleep. Return 0 or -ENOMEM. */
int mctracer_max_stack_show(struct seq_file *m);

/* triggers.c: all functions may sleep. */

/* Set the triggers, as mctracer_functions_set() sets functions. */
int mctracer_triggers_set(char *text, bool append, int (*apply)(u8 *map));
void mctracer_triggers_show(struct seq_file *m);
/* Update the triggers after the selection of functions, or the option max_stack,, has changed. */
void mctracer_triggers_update(void);
/* Add the functions of @mod. Return true if hooks must see a change. */
bool mctracer_triggers_module_coming(struct module *mod);

/* functions.c: all functions may sleep. */

struct module;
struct mctracer_expression;
struct mctracer_expressions;

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
 *	held_mutex (hold.c)	the kept copy of the rings	nothing
 *	mctracer_mutex		positions of rings, for		nothing: copying words to user
 *				readers				space disables page faults
 *
 * Loading a module takes sites_mutex and mctracer_sets_mutex; also hook_mutex and mcount_mutex, but
 * only if the module has the first selected returns, or functions that begin to follow objects.
 * Reading a file takes pids_mutex, mctracer_sets_mutex, held_mutex or mctracer_mutex.
 */
extern struct mutex mctracer_lists_mutex;
extern struct mutex mctracer_sets_mutex;

/* Call sites, ascending; an entry for each pair of a site and an expression that matches it. */
struct mctracer_hits {
	struct mctracer_hit {
		unsigned long site;
		struct mctracer_expression *by;
		bool returns;	/* the site is before a return, */
		bool tail;	/* or before a jump to another function */
	} *hits;
	size_t nr, room;
};

/*
 * Find the functions that @expressions match, in the module @only, or everywhere if NULL; with
 * @returns, also sites before returns. Free @hits->hits with kvfree(), also on error. Return 0,
 * -ENOMEM or -EINTR.
 */
int mctracer_functions_find(struct mctracer_expressions *expressions, const char *only,
			    bool returns, struct mctracer_hits *hits);
/*
 * Check that each new one of @expressions, just written to @file, matches something. Return 0, or
 * -ENOENT after logging why.
 */
int mctracer_functions_check(const char *file, struct mctracer_expressions *expressions);

/* Return how many modules were loaded so far: another number if one was. */
unsigned int mctracer_modules_seen(void);
/* Select functions of @mod, which is being loaded. Return true if the selection has changed. */
bool mctracer_functions_module_coming(struct module *mod);
/* Return the call sites of all functions, or ERR_PTR(-ENOMEM). Free them with kvfree(). */
struct mctracer_sites *mctracer_functions_all(void);
/*
 * Set the list to the expressions in @text, or @append them; modifies @text. @apply must make hooks
 * use the new list and @map, from mctracer_map_make(), and free the old map. Return 0, -EINVAL,
 * -ENOENT, -ENOMEM, -EINTR or the error of @apply, with the list unchanged; the log has the word.
 */
int mctracer_functions_set(enum mctracer_function_list which, char *text, bool append,
			   int (*apply)(u8 *map));
void mctracer_functions_show(enum mctracer_function_list which, struct seq_file *m);

/* tracer.c: all functions may sleep. */

extern struct mutex mctracer_mutex;	/* see "Locks" */

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
void mctracer_give_memory(void *base, size_t size, void (*begin)(bool forget));
/*
 * Count a mapping by user space: it begins, is duplicated, ends. Rings with mappings are not
 * replaced. mctracer_mapped() returns 0, -EBUSY while rings are being replaced, or -ENXIO before
 * there are rings. Takes no lock.
 */
int mctracer_mapped(void);
void mctracer_mapped_again(void);
void mctracer_unmapped(void);
/* Return false if there are not @size more bytes, so that allocating them may cause an OOM. */
bool mctracer_memory_available(size_t size);
/* Register the hook, after allocating the rings the first time. On error nothing has changed. */
int mctracer_start(void);
/* Unregister the hook, if it is mctracer's. On return nothing more is recorded. */
void mctracer_stop(void);
/* Return true if mctracer's hook is registered: then hooks will commit all reserved words. */
bool mctracer_started(void);

/*
 * Report that @what has failed in a notifier or a work, where no system call can return @error: in
 * the log, and in the file stats until the tracer is started again. @what NULL: clear the failure.
 */
void mctracer_report_failure(const char *what, int error);
/* Print failures as comment lines. */
void mctracer_show_failure(struct seq_file *m);

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

/* clock.c */

/* Return true if times are of the cycle counter; false: nanoseconds of CLOCK_MONOTONIC. */
bool mctracer_clock_is_cycles(void);
/*
 * Return true if the cycle counter is in use but can't be trusted any more. mctracer_clock_to_ns()
 * switches to nanoseconds, when no hook but the slow one is registered. Under hook_mutex.
 */
bool mctracer_clock_is_lost(void);
void mctracer_clock_to_ns(void);
/*
 * Return the time, and in *@clock its conversion to nanoseconds on this CPU. Any context; but
 * without the cycle counter this may call traced functions: see emit_begin() in note.c.
 */
u64 mctracer_clock_read(struct mctracer_clock *clock);

/* snapshot.c: all functions may sleep. */
struct mctracer_snapshot;

/* Copy the ring of CPU @only, or all with MCTRACER_ALL_CPUS. Return NULL if there is no memory. */
struct mctracer_snapshot *mctracer_snapshot_take(int only);
void mctracer_snapshot_free(struct mctracer_snapshot *snapshot);
/* Go back to the oldest call. */
void mctracer_snapshot_rewind(struct mctracer_snapshot *snapshot);
/* Return the stream whose event is next in time order, and its CPU in *@cpu; or NULL at the end. */
const struct mctracer_stream *mctracer_snapshot_next(struct mctracer_snapshot *snapshot, int *cpu);
/* Advance to the next event. O(log CPUs). */
void mctracer_snapshot_advance(struct mctracer_snapshot *snapshot);
/* Return the counts of all copied rings together, as of the copy. */
const struct mctracer_ring_counts *
mctracer_snapshot_counts(const struct mctracer_snapshot *snapshot);

/*
 * modules.c: return false if @address, a whole one, is in a module that was loaded after the count
 * mctracer_module_count() was @count. Any context.
 */
#ifdef CONFIG_MODULES
bool mctracer_module_was_there(unsigned long address, u32 count);
#else
static inline bool mctracer_module_was_there(unsigned long address, u32 count)
{
	return true;
}
#endif

/* text.c: events as lines, each valid until the next one. A cache of names makes lines cheap. */
struct mctracer_text;

/*
 * Write the symbol of the return address whose low half is @low to @name, KSYM_SYMBOL_LEN bytes at
 * most. Return the length. *@lasting: the symbol stays valid until a module is loaded or unloaded.
 */
size_t mctracer_name_address(char *name, u32 low, bool *lasting);
/*
 * Allocate a formatter. Without @addresses, it hashes addresses. With @crash, it may be used in any
 * context, and allocates nothing later. Return NULL if there is no memory.
 */
struct mctracer_text *mctracer_text_alloc(bool addresses, bool crash);
void mctracer_text_free(struct mctracer_text *text);
/*
 * Set a symbolizer for addresses of another boot: @elsewhere either converts *@low to an address of
 * the running kernel and returns 0, or writes @name and returns its length. Lines then have all
 * times and contexts that were recorded, whatever the options are now.
 */
void mctracer_text_set_elsewhere(struct mctracer_text *text,
				 size_t (*elsewhere)(const void *data, char *name, u32 *low),
				 const void *data);
/* Prepare for a new sequence of events: the next one doesn't follow the last one. */
void mctracer_text_rewind(struct mctracer_text *text);
/* Return the header lines. */
const struct seq_buf *mctracer_text_header(struct mctracer_text *text,
					   const struct mctracer_ring_counts *counts);
/* Return the line of the event of @stream: missing calls before it, if any, else the event. */
const struct seq_buf *mctracer_text_event(struct mctracer_text *text,
					  const struct mctracer_stream *stream, int cpu);

#endif /* _KERNEL_TRACE_MCTRACER_H */
