/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parts of mctracer, and what each offers to the next:
 *
 *	uapi/linux/mctracer.h, mctracer_decode.h
 *			words, and what they say
 *	words.h		how words are made
 *	ring.[ch]	words of one CPU, lockless
 *	hook*.[ch]	the hot path: from the call to the ring
 *	note.c		what hooks do for few calls: the words that are no calls
 *	clock.c		what times are taken from
 *	pids.c		which tasks are recorded
 *	expressions.[ch] what says which functions
 *	functions.c	which functions are recorded
 *	chosen.[ch]	looking that up
 *	triggers.c	what else is to happen at which functions
 *	operands.c	what of a call's arguments that is for
 *	memory.c	what lies where these point to
 *	gate*.c		that
 *	follow.[ch]	which objects are followed
 *	awaited.[ch]	what will be returned is
 *	below.c		what is called for them
 *	timed.c		when calls began, for it
 *	armed.c		work that a traced call leaves for later
 *	onoff.c		recording, or not, for a while
 *	freeze.c	not any more, since the kernel crashes
 *	hold.c		a snapshot that is kept
 *	max_stack.c	the deepest stack
 *	cursor.[ch]	from words to calls with times and tasks
 *	move.c		words get other memory
 *	tracer.c	start, stop, clear, options; memory
 *	consume.[ch]	taking the calls of all CPUs away
 *	snapshot.c	the calls of all CPUs in time order
 *	opencalls.[ch]	which call does a return belong to?
 *	text.c		a call as a line
 *	debugfs*.c	the files; leaves
 *	kept.h, kept_modules.c, reserved.c
 *			rings that the next kernel finds
 *	judge.[ch]	whether what it finds can be believed
 *	last_boot.[ch]	that, for readers
 *	boot.c		the kernel's command line; a leaf
 *	sysrq.c		a key; a leaf
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

/* hook.c, note.c: one ring for each possible CPU; has memory after the first start. */
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
/* A plain hook that does what all of these do: for functions that BPF, for instance, has taken. */
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

/* What the registers of a call's arguments hold, and which objects that, or a return, concerns. */
struct mctracer_args {
	unsigned int nr;
	unsigned long values[MCTRACER_ARGS];
	bool wanted;		/* these are to be recorded, */
	bool recorded;		/* and the call, with what else is known */
	u32 calls_of;		/* number of the one of which also what it calls is; or 0 */
	unsigned int nr_objects;
	u64 objects[MCTRACER_OBJECTS];	/* as MCTRACER_OBJECT has them */
	unsigned int nr_data;
	u8 data[MCTRACER_DATA_MAX];	/* memory that one of them points to */
};

/*
 * The object @number is one of those, by @role, unless it is already by another one; @also:
 * MCTRACER_OBJECT_BEGINS and so on.
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

/* @args: NULL, if they are not asked for. With preemption disabled. Any context. */
void mctracer_note_call(unsigned long ip, unsigned long parent_ip,
			const struct mctracer_args *args, const u32 *frames, unsigned int n);
/* What is known of a call that returns. */
struct mctracer_outcome {
	unsigned int has;	/* MCTRACER_HAS_RESULT and so on */
	u64 result;
	u64 took;		/* nanoseconds */
};

/* The same of a return, or with MCTRACER_RETURN_TAIL in @how of what comes before it. */
void mctracer_note_outcome(unsigned long ip, u32 how, const struct mctracer_outcome *outcome,
			   const struct mctracer_args *args, const u32 *frames, unsigned int n);
/* With @always, whatever task it is. */
void mctracer_note_mark(unsigned long ip, unsigned int which, bool always);
/* MCTRACER_MARK_MARK, at a return. */
void mctracer_note_marked(unsigned long ip, const struct mctracer_outcome *outcome);
DECLARE_PER_CPU(unsigned long, mctracer_recursions);

/* Calls of tasks that did work for the tracer, which are counted and not recorded. */
DECLARE_PER_CPU(unsigned long, mctracer_own_calls);

/*
 * The current task does work for the tracer until the end: CLASS(mctracer_own_work, own)(). Where
 * it is in is for mctracer_end_own_work(). May nest.
 */
int mctracer_begin_own_work(void);
void mctracer_end_own_work(int place);
DEFINE_CLASS(mctracer_own_work, int, mctracer_end_own_work(_T), mctracer_begin_own_work(), void)

/*
 * All CPUs write a gap before they record again, since calls were not recorded that nobody has
 * counted. Any context.
 */
void mctracer_note_hole(void);
/*
 * Count that a module comes, before its code has run, or goes, after that ran last. All CPUs write
 * the count before they record again. Return it. Any context.
 */
u32 mctracer_note_modules(void);
/* Return the count as it is now. Any context. */
u32 mctracer_module_count(void);
/* Clear what says which CPUs may hold a task, now and then: else ever more do. Any context. */
void mctracer_forget_where(void);

/*
 * All CPUs forget which tasks are recorded and which are not, and look again; with @renew
 * they also say everything again that readers need. To be called after what they are to
 * see has changed. Any context.
 */
void mctracer_forget_tasks(bool renew);

/*
 * Nothing is recorded, but counted as lost, and nothing at all is written to a ring. Changed before
 * tasks are forgotten.
 */
extern bool mctracer_stopped;
/* The hook is being taken away, and triggers only count any more. Changed like that. */
extern bool mctracer_ending;

/* What has frozen it: then nothing is recorded. Changed like that. */
extern enum mctracer_crash mctracer_frozen;

/* Is anything recorded? */
enum mctracer_on {
	MCTRACER_ON,
	MCTRACER_OFF_SOON,	/* it is, until a trigger's time is up */
	MCTRACER_CHANGING,	/* it is: a trigger writes its mark, then one of the others */
	MCTRACER_OFF,
};

extern atomic_t mctracer_recording;
/* All words that belong together begin at even ones: hooks are registered that need it. */
extern bool mctracer_pairs;

enum mctracer_option {
	MCTRACER_EXACT,		/* "time": record each call's time; lines begin with it */
	MCTRACER_WITH_CONTEXT,	/* record interrupts, preemption and so on, too */
	MCTRACER_OVERWRITE,	/* a full ring overwrites its oldest calls */
	MCTRACER_MAX_STACK,	/* note the deepest stack; see max_stack.c */
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
 * pids.c: the expressions in force, a bit each. The upper quarter of the bits belongs to those that
 * leave tasks out. Both kinds change at once, since they share a word.
 */
#define MCTRACER_PIDS_OUT	(~0UL << (BITS_PER_LONG / 4 * 3))

extern unsigned long mctracer_pids;

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

/* What is written to the file, which is taken apart. -EINVAL, -ESRCH, -ENOENT, -ENOSPC, -ENOMEM. */
int mctracer_set_pids(char *text, bool append);
void mctracer_show_pids(struct seq_file *m);

/* gate.c: with what mcount calls it. Any context. */
bool mctracer_return_gate(unsigned long ip, unsigned long parent_ip,
			  const struct mcount_regs *regs, unsigned long result);
bool mctracer_gate(unsigned long ip, unsigned long parent_ip, const struct mcount_regs *regs);
/* The same, with the address of ip and parent_ip on the stack. */
unsigned long mctracer_gate_ips(unsigned long where);

/* onoff.c: any context, but for the last. */
static inline bool mctracer_is_on(void)
{
	return atomic_read(&mctracer_recording) < MCTRACER_CHANGING &&
	       READ_ONCE(mctracer_frozen) == MCTRACER_NOT_FROZEN;
}

/* Whether a trigger can, at once or after a while: not twice. */
static inline bool mctracer_may_turn_off(bool after)
{
	return mctracer_is_on() &&
	       (!after || atomic_read(&mctracer_recording) == MCTRACER_ON);
}

/* True if it was not simply on. */
bool mctracer_turn_on(void);
/*
 * On all CPUs, by a trigger at @ip, if nobody else has. At once: then only a call that has
 * begun before is still recorded. Or after so many milliseconds. With preemption disabled.
 */
void mctracer_turn_off_at(unsigned long ip, unsigned int after);
/* By whom it may concern, without a mark. */
void mctracer_turn_off(void);
/* What was to be turned off after a while will not be. May sleep. */
void mctracer_forget_soon(void);
/* If it is to be turned off after a while, have that done. */
void mctracer_soon_finish(void);

/* freeze.c: any context. See linux/mctracer.h, too. */

/* If it is frozen, go on. What had frozen it. */
enum mctracer_crash mctracer_thaw(void);
/* In a word or two; NULL if it is not. */
const char *mctracer_frozen_by(void);
/* How often it has been. */
extern int mctracer_freezes;

/* armed.c */

/*
 * From a traced call, in any context with preemption disabled: have @work done. On a CPU that is
 * on its way up or down it is left to mctracer_finish_armed(), which is called when the CPU has
 * come or gone: so whatever arms @work must be able to find out there that it is still needed.
 */
struct irq_work;
void mctracer_arm(struct irq_work *work);
/* Do what was armed and is still needed. May sleep. */
void mctracer_finish_armed(void);

/* hold.c */

/* Nothing is recorded, but counted as lost. Changed before tasks are forgotten. */
extern bool mctracer_holding;
/* A trigger at @ip has a snapshot taken, if there is none: any context, preemption disabled. */
bool mctracer_may_hold(void);
void mctracer_hold_at(unsigned long ip);
/* What follows may sleep. Take one, in the place of that there is. -ENOMEM, -EBUSY. */
int mctracer_hold_now(void);
/* Have the copy made that a trigger has asked for, if it has. */
void mctracer_hold_finish(void);
/* Forget it, so that one may be taken again. -EBUSY while it is being taken. */
int mctracer_held_clear(void);
/* For one reader at a time: ERR_PTR(-EBUSY), or ERR_PTR(-ENODATA) if there is none. */
struct mctracer_snapshot *mctracer_held_open(void);
void mctracer_held_close(struct mctracer_snapshot *snapshot);

/* max_stack.c */

/* Lower stack pointers, counted from the stack's end, are of interest to the next. */
extern unsigned long mctracer_stack_left;
/* Where on the stack a gate's ip and parent_ip are. Any context, with preemption disabled. */
void mctracer_note_stack(const unsigned long *ips, const struct mcount_regs *regs);
void mctracer_max_stack_clear(void);
/* 0 or -ENOMEM. May sleep. */
int mctracer_max_stack_show(struct seq_file *m);

/* triggers.c: all may sleep. */

/* As mctracer_functions_set(). */
int mctracer_triggers_set(char *text, bool append, int (*apply)(u8 *map));
void mctracer_triggers_show(struct seq_file *m);
/* Other functions may be recorded now, or call the gate. */
void mctracer_triggers_update(void);
bool mctracer_triggers_module_coming(struct module *mod);

/* functions.c: all may sleep. */

struct module;
struct mctracer_expression;
struct mctracer_expressions;

/*
 * Locks
 * -----
 * Each is taken inside of those above it, or alone. "Grace periods" includes those of Tasks RCU,
 * which a task that does not sleep may delay for minutes.
 *
 *	lock			protects			may be waited for under it
 *	memory_mutex		whether there are rings, their	memory of a size that users choose,
 *	  (tracer.c)		size and their memory		grace periods
 *	a file's mutex		what is kept of its text	the same
 *	  (debugfs_lists.c)
 *	mctracer_lists_mutex	writers of filter, notrace,	the same
 *				triggers, mode and max_stack
 *	pids_mutex (pids.c)	the list of pids		tasklist_lock
 *	hook_mutex (tracer.c)	which hook is registered	grace periods
 *	mcount's mcount_mutex	its hook			grace periods
 *	mcount's sites_mutex	call sites			patching; beside ftrace, its
 *								locks
 *	mctracer_sets_mutex	what lists of functions and	memory for what one module matches
 *				triggers come to
 *	held_mutex (hold.c)	the snapshot that is kept	nothing
 *	mctracer_mutex		positions of rings, as readers	nothing: with page faults disabled
 *				need them			where words are copied
 *
 * A module that comes takes sites_mutex and mctracer_sets_mutex. Only if it has functions that are
 * followed, or the first returns that are chosen, hook_mutex and mcount_mutex, too. Who reads a
 * file takes pids_mutex, mctracer_sets_mutex, held_mutex or mctracer_mutex.
 */
extern struct mutex mctracer_lists_mutex;
extern struct mutex mctracer_sets_mutex;

/* Call sites, ascending, each by each expression that matches its function. */
struct mctracer_hits {
	struct mctracer_hit {
		unsigned long site;
		struct mctracer_expression *by;
		bool returns;	/* it is one before a return, */
		bool tail;	/* or before a jump to another function */
	} *hits;
	size_t nr, room;
};

/*
 * What @expressions match, of the module @only or of everything; with sites before @returns, or
 * without. @hits->hits is to be freed with kvfree(), also if it fails: -ENOMEM, -EINTR.
 */
int mctracer_functions_find(struct mctracer_expressions *expressions, const char *only,
			    bool returns, struct mctracer_hits *hits);
/* Is each of those for something that are just being written to @file? Else -ENOENT. */
int mctracer_functions_check(const char *file, struct mctracer_expressions *expressions);

/* How many modules have come: another number if one has. */
unsigned int mctracer_modules_seen(void);
/* To be told when one comes. Whether that has changed what is chosen. */
bool mctracer_functions_module_coming(struct module *mod);
/* Of all functions there are. To be freed with kvfree(). ERR_PTR(-ENOMEM). */
struct mctracer_sites *mctracer_functions_all(void);
/*
 * What is written to the file, which is taken apart; @apply is to make it take effect, by
 * what mctracer_map_make() made, which it is to free. On error all is as it was: -EINVAL,
 * -ENOENT, -ENOMEM, -EINTR, or @apply's. The log says which word.
 */
int mctracer_functions_set(enum mctracer_function_list which, char *text, bool append,
			   int (*apply)(u8 *map));
void mctracer_functions_show(enum mctracer_function_list which, struct seq_file *m);

/* tracer.c: all may sleep. */

extern struct mutex mctracer_mutex;	/* see "Locks" */
/*
 * The mutex, for what copies to user space: there are no page faults, since user
 * space can make them last for ever (userfaultfd), and everybody else would wait.
 * Interruptible: 0 or -ERESTARTSYS.
 */
int mctracer_lock_to_copy(void);
void mctracer_unlock_copied(void);

/*
 * The size of each CPU's ring in bytes, rounded up to a power of two. Keeps the
 * latest calls, as many as fit, also while tracing. -EINVAL if it is 0 or too
 * large, -ENOMEM, -EBUSY if user space has mapped a ring, or they lie in reserved memory.
 */
int mctracer_set_ring_size(u64 size);
size_t mctracer_ring_bytes(void);
/*
 * Before there are rings: they are to lie at @base, that of each CPU number @size bytes behind
 * the one before, and stay there. When they are made @begin is called: with @forget, to write
 * zeroes, and without when they are there.
 */
void mctracer_give_memory(void *base, size_t size, void (*begin)(bool forget));
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
/* Whether the registered hook is ours, now: then what is not written yet will be. */
bool mctracer_started(void);

/*
 * @what could not be done in a notifier, or in a work, which no system call can return: the log has
 * it, and stats until the tracer is started again. NULL: nothing. May sleep.
 */
void mctracer_report_failure(const char *what, int error);
/* As lines of a comment. */
void mctracer_show_failure(struct seq_file *m);

#define MCTRACER_ALL_CPUS	-1

/* Forget the calls of CPU @only or of all, also while more are coming. */
void mctracer_clear(int only);

/* As mctracer_functions_set(), also while tracing: those that stay chosen lose nothing. */
int mctracer_set_functions(enum mctracer_function_list which, char *text, bool append);
int mctracer_set_triggers(char *text, bool append);

/* Record returns, too. As mctracer_set_option(); -EOPNOTSUPP. */
int mctracer_set_graph(bool on);
/* Also while tracing. On error nothing has changed. */
int mctracer_set_option(enum mctracer_option option, bool on);

/* clock.c */

/* Whether times are the cycle counter's; else, nanoseconds. */
bool mctracer_clock_is_cycles(void);
/*
 * The cycle counter is in use and should not be any more; and use nanoseconds instead,
 * when no hook but the slow one is running. Under the mutex.
 */
bool mctracer_clock_is_lost(void);
void mctracer_clock_to_ns(void);
/* The time, and how it becomes nanoseconds on this CPU. Any context, but see the slow hook. */
u64 mctracer_clock_read(struct mctracer_clock *clock);

/* snapshot.c: may sleep. */
struct mctracer_snapshot;

/* Of CPU @only or of all. NULL if there is no memory. */
struct mctracer_snapshot *mctracer_snapshot_take(int only);
void mctracer_snapshot_free(struct mctracer_snapshot *snapshot);
/* Go back to the oldest call. */
void mctracer_snapshot_rewind(struct mctracer_snapshot *snapshot);
/* What comes next in time order, and its CPU; or NULL. */
const struct mctracer_stream *mctracer_snapshot_next(struct mctracer_snapshot *snapshot, int *cpu);
/* Go on behind that. O(log CPUs). */
void mctracer_snapshot_advance(struct mctracer_snapshot *snapshot);
/* The counts of all its CPUs together when it was taken. */
const struct mctracer_ring_counts *
mctracer_snapshot_counts(const struct mctracer_snapshot *snapshot);

/*
 * modules.c: return false if @address, a full one, lies in a module that came later than when
 * modules had come and gone @count times. Any context.
 */
#ifdef CONFIG_MODULES
bool mctracer_module_was_there(unsigned long address, u32 count);
#else
static inline bool mctracer_module_was_there(unsigned long address, u32 count)
{
	return true;
}
#endif

/* text.c: lines, valid until the next. One costs little because it remembers names. */
struct mctracer_text;

/*
 * The name of the return address whose low half is @low, KSYM_SYMBOL_LEN bytes at most; how
 * many. @lasting: it will be the same while no module comes or goes.
 */
size_t mctracer_name_address(char *name, u32 low, bool *lasting);
/*
 * NULL if there is no memory. Who may not see @addresses sees them hashed. For use in a @crash,
 * in any context: nothing is allocated later.
 */
struct mctracer_text *mctracer_text_alloc(bool addresses, bool crash);
void mctracer_text_free(struct mctracer_text *text);
/*
 * Addresses are not the running kernel's: @elsewhere makes *@low what it is there and returns 0;
 * or it makes a @name and returns how long that is. And lines have what is known of times and
 * contexts, whatever the options are now.
 */
void mctracer_text_set_elsewhere(struct mctracer_text *text,
				 size_t (*elsewhere)(const void *data, char *name, u32 *low),
				 const void *data);
/* What comes next is not what comes after the last. */
void mctracer_text_rewind(struct mctracer_text *text);
const struct seq_buf *mctracer_text_header(struct mctracer_text *text,
					   const struct mctracer_ring_counts *counts);
/* What @stream has come to: what is missing before it, if anything, else the call. */
const struct seq_buf *mctracer_text_event(struct mctracer_text *text,
					  const struct mctracer_stream *stream, int cpu);

#endif /* _KERNEL_TRACE_MCTRACER_H */
