/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The code that runs in traced calls, in any context: the hooks, the slow path that writes sync
 * words and other meta words, the clock, pre-handlers, turning recording on and off, and the state
 * that hooks check.
 */
#ifndef _KERNEL_TRACE_MCTRACER_RECORD_H
#define _KERNEL_TRACE_MCTRACER_RECORD_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/mcount.h>
#include <linux/mctracer.h>
#include <linux/percpu-defs.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/types.h>

#include "../ring/ring.h"

struct irq_work;
struct seq_file;

/* hook*.c, emit.c. Each possible CPU has a ring, which has memory after the first start. */
DECLARE_PER_CPU_PAGE_ALIGNED(struct mctracer_ring, mctracer_rings);
void __mcount_direct mctracer_hook_time(void);
void __mcount_direct mctracer_hook(void);
void __mcount_direct mctracer_hook_timed(void);
void __mcount_direct mctracer_hook_context(void);
void __mcount_direct mctracer_hook_timed_context(void);
void __mcount_direct mctracer_hook_selected(void);
void __mcount_direct mctracer_hook_selected_timed(void);
void __mcount_direct mctracer_hook_selected_context(void);
void __mcount_direct mctracer_hook_selected_timed_context(void);
void __mcount_direct mctracer_hook_slow(void);

/*
 * How the plain hooks record: as the direct hook that is registered. MCTRACER_PLAIN_TIMED writes
 * pairs of words, so the rules for mctracer_pairs hold.
 */
enum mctracer_plain_form {
	MCTRACER_PLAIN_SLOW,
	MCTRACER_PLAIN_COMPACT,
	MCTRACER_PLAIN_TIMED,
};

extern enum mctracer_plain_form mctracer_plain_form;
/* With the effect of the hooks above: for functions whose call site BPF, for instance, uses. */
void mctracer_plain_hook(unsigned long ip, unsigned long parent_ip);
/* For mcount, at returns that it catches. The second one: at calls, to ask whether it must. */
void mctracer_plain_return_hook(unsigned long ip, unsigned long parent_ip);
bool mctracer_wants_return(void);

void __mcount_direct mctracer_hook_return(void);
void __mcount_direct mctracer_hook_return_timed(void);
void __mcount_direct mctracer_hook_return_context(void);
void __mcount_direct mctracer_hook_return_timed_context(void);
void __mcount_direct mctracer_hook_return_slow(void);
void __mcount_direct mctracer_hook_tail(void);
void __mcount_direct mctracer_hook_tail_timed(void);
void __mcount_direct mctracer_hook_tail_context(void);
void __mcount_direct mctracer_hook_tail_timed_context(void);
void __mcount_direct mctracer_hook_tail_slow(void);
unsigned long mctracer_emit_task(unsigned long unused);
unsigned long mctracer_emit_context(unsigned long context);
unsigned long mctracer_emit_return(unsigned long ip);
unsigned long mctracer_emit_tail(unsigned long ip);
void mctracer_emit_block(void);

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
static inline void mctracer_args_add_object(struct mctracer_args *args, u32 number, u64 role,
					    u64 also)
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
void mctracer_emit_call(unsigned long ip, unsigned long parent_ip,
			const struct mctracer_args *args, const u32 *frames, unsigned int n);

/* What is known of a call when it returns. */
struct mctracer_outcome {
	unsigned int has;	/* MCTRACER_HAS_RESULT and so on */
	u64 result;
	u64 took;		/* nanoseconds */
};

/* Record a return likewise; @how: 0, or MCTRACER_RETURN_TAIL for a tail jump. */
void mctracer_emit_outcome(unsigned long ip, u32 how, const struct mctracer_outcome *outcome,
			   const struct mctracer_args *args, const u32 *frames, unsigned int n);
/* Write the mark @which of a trigger at @ip. With @always, also for a task that is not recorded. */
void mctracer_emit_mark(unsigned long ip, unsigned int which, bool always);
/* Write MCTRACER_MARK_MARK, with what is known at a return. */
void mctracer_emit_marked(unsigned long ip, const struct mctracer_outcome *outcome);
/* Calls that were refused because they came while a clock was read; see emit.c. */
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
/* Return true if the current call is part of such work. Any context, with preemption disabled. */
bool mctracer_is_own_work(void);
DEFINE_CLASS(mctracer_own_work, int, mctracer_end_own_work(_T), mctracer_begin_own_work(), void)

/*
 * Have all CPUs write a gap before they record again, because calls were neither recorded nor
 * counted. Call this before recording resumes. O(possible CPUs). Any context.
 */
void mctracer_add_hole(void);
/*
 * Have all CPUs write a gap before they record again, because some CPUs have lost calls, which they
 * count. O(possible CPUs). Any context.
 */
void mctracer_add_loss(void);
/*
 * After all rings were cleared, the holes from before need no gaps: pass what mctracer_hole_count()
 * returned before. Any context.
 */
unsigned long mctracer_hole_count(void);
void mctracer_holes_cleared(unsigned long count);
/* Return true if no online CPU's ring has room (nooverwrite). Any context. */
bool mctracer_rings_are_full(void);
/*
 * Count that a module is loaded, before its code runs, or unloaded, after its code has run last.
 * All CPUs write the count before they record again. Return the count. Any context.
 */
u32 mctracer_count_modules(void);
/* Return the current count. Any context. */
u32 mctracer_module_count(void);
/* Clear stale bits of CPUs that may have a task cached. Call it now and then. Any context. */
void mctracer_trim_task_cpus(void);

/*
 * Invalidate the cached tasks, recorded and skipped, of all CPUs: then hooks check their state
 * again. With @renew, they also write all sync words. Call this after changing the state that hooks
 * must see. Any context.
 */
void mctracer_invalidate_tasks(bool renew);

/*
 * State that hooks check. mctracer_invalidate_tasks() must follow each change of mctracer_stopped,
 * mctracer_ending, mctracer_frozen and mctracer_copying.
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
	MCTRACER_OPT_TIME,		/* "time": record each call's time; lines begin with it */
	MCTRACER_OPT_CONTEXT,	/* record the context, too: interrupts, preemption and so on */
	MCTRACER_OPT_OVERWRITE,	/* a full ring overwrites its oldest calls */
	MCTRACER_OPT_MAX_STACK,	/* record the deepest stack; see max_stack.c */
	MCTRACER_OPT_FREEZE_WARNING,	/* "freeze_on_warning" and so on: see freeze.c */
	MCTRACER_OPT_FREEZE_HUNG_TASK,
	MCTRACER_OPT_FREEZE_SOFT_LOCKUP,
	MCTRACER_OPT_FREEZE_HARD_LOCKUP,
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
static __always_inline bool mctracer_task_traced(const struct task_struct *task)
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
 * Disable preemption in a handler of returns. mcount has disabled it where it catches returns; the
 * recorded context is that of the function if it was disabled only once.
 */
static __always_inline void mctracer_return_begin(void)
{
	if (!IS_ENABLED(CONFIG_MCOUNT_RETHOOK))
		preempt_disable_notrace();
}

static __always_inline void mctracer_return_end(void)
{
	if (!IS_ENABLED(CONFIG_MCOUNT_RETHOOK))
		preempt_enable_notrace();
}

/* pre_handler.c, pre_handler_return.c: the pre-handlers that mcount calls. Any context. */
bool mctracer_return_pre_handler(unsigned long ip, unsigned long parent_ip,
				 const struct mcount_regs *regs, unsigned long result);
bool mctracer_pre_handler(unsigned long ip, unsigned long parent_ip,
			  const struct mcount_regs *regs);
/* As mctracer_pre_handler(), with @where as the address of ip and parent_ip on the stack. */
unsigned long mctracer_pre_handler_ips(unsigned long where);

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
void mctracer_cancel_turn_off(void);
/* Queue the work that turns recording off after a while, if that is pending. */
void mctracer_turn_off_finish(void);

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
void mctracer_arm(struct irq_work *work);

/* snapshot_request.c */

/* The rings are being copied: calls are counted as lost instead of being recorded. */
extern bool mctracer_copying;
/* Return true if there is no copy, none is being made, and none has failed. Any context. */
bool mctracer_snapshot_may_request(void);
/* Request a copy for a trigger at @ip, if there is none. Any context, with preemption disabled. */
void mctracer_snapshot_request_at(unsigned long ip);

/* The state of the copy, which control/snapshot_file.c makes. */
enum {
	MCTRACER_SNAPSHOT_NONE,
	MCTRACER_SNAPSHOT_BEGINNING,	/* hooks still record, so nothing may be copied yet */
	MCTRACER_SNAPSHOT_TAKING,
	MCTRACER_SNAPSHOT_TAKEN,
	MCTRACER_SNAPSHOT_FAILED,	/* no memory: until a write, triggers do nothing */
};

extern atomic_t mctracer_snapshot_state;
/* Makes the copy; set before triggers can be set. May sleep. */
extern void (*mctracer_snapshot_copy)(void);
/* Have hooks count calls as lost from now on. Any context. */
void mctracer_snapshot_stop_hooks(void);
/* Return true while a copy is requested or being made. */
bool mctracer_snapshot_is_pending(void);
/* Return true if the last attempt to make a copy found no memory: then triggers do nothing. */
bool mctracer_snapshot_has_failed(void);
/* Let triggers try again. */
void mctracer_snapshot_forget_failure(void);
/* Wait until a requested copy is complete. May sleep. */
void mctracer_snapshot_wait(void);
/* Queue the work that makes a requested copy, if it is still needed. */
void mctracer_snapshot_finish(void);

/* max_stack.c */

/* The lowest stack pointer so far, in bytes above the lower end of its task's stack. */
extern unsigned long mctracer_stack_left;
/*
 * Record the stack if it is the deepest one. @ips: where a pre-handler's ip and parent_ip are on
 * the stack. Any context, with preemption disabled.
 */
void mctracer_max_stack_record(const unsigned long *ips, const struct mcount_regs *regs);
/* Forget the deepest stack. */
void mctracer_max_stack_clear(void);
/*
 * Print the deepest stack, with names of functions as @name_address writes them, which is
 * mctracer_name_address(). May sleep. Return 0 or -ENOMEM.
 */
int mctracer_max_stack_show(struct seq_file *m,
			    size_t (*name_address)(char *name, u32 low, bool *lasting));

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
 * Store in *@clock how times of this CPU convert to nanoseconds. Any context, with preemption
 * disabled. A kprobe in what this calls may make traced calls; while it does, *@clock is what the
 * latest clock words of this CPU's ring say.
 */
void mctracer_clock_conversion(struct mctracer_clock *clock);
/*
 * Return the time, of the cycle counter or, with @is_ns, in nanoseconds. Any context; but with
 * @is_ns this may call traced functions: see emit_begin() in emit.c.
 */
u64 mctracer_clock_now(bool is_ns);
/* Return the time, and in *@clock its conversion. As both. */
u64 mctracer_clock_read(struct mctracer_clock *clock);

/*
 * module_counts.c: return false if @address, a whole one, is in a module that was loaded after
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

#endif /* _KERNEL_TRACE_MCTRACER_RECORD_H */
