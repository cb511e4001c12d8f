// SPDX-License-Identifier: GPL-2.0
/*
 * Starting and stopping the tracer, and its memory.
 *
 * Rings are allocated at the first start, for each possible CPU, and kept: a
 * CPU may come at any time, and the records of one that went stay readable.
 */
#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/cleanup.h>
#include <linux/cpuhplock.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/jump_label.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/lockdep.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mctracer.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/topology.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#include "follow.h"
#include "mctracer.h"

#undef pr_fmt
#define pr_fmt(fmt) "mctracer: " fmt

/* What each protects, and what may be waited for under each: see mctracer.h. */
static DEFINE_MUTEX(memory_mutex);
static DEFINE_MUTEX(hook_mutex);
DEFINE_MUTEX(mctracer_mutex);	/* the last */

static size_t ring_size = SZ_1M;	/* 131072 words */
static bool have_rings;
/* Where the rings are to lie, if not just anywhere. Set before there are any. */
static struct {
	void *base;
	void (*begin)(bool forget);
} given;

/* Which of our hooks is registered, if it was not overridden. Under hook_mutex. */
static mcount_direct_func_t hook;
/* Whether it must look up what is chosen: then there is a map. Under hook_mutex. */
static bool look_up;

static mcount_direct_func_t hook_chosen_for(unsigned long opts)
{
	if (opts & BIT(MCTRACER_EXACT))
		return opts & BIT(MCTRACER_WITH_CONTEXT) ? mctracer_hook_chosen_exact_context :
							   mctracer_hook_chosen_exact;
	return opts & BIT(MCTRACER_WITH_CONTEXT) ? mctracer_hook_chosen_context :
						   mctracer_hook_chosen;
}

static mcount_direct_func_t hook_for(unsigned long opts, enum mctracer_following following)
{
	if (IS_ENABLED(CONFIG_MCOUNT_FILTER) && following)
		return following == MCTRACER_FOLLOW_CALLS ? mcount_filter_stack_hook :
							    mcount_filter_hook;
	if (!mctracer_clock_is_cycles())
		return mctracer_hook_slow;
	if (!IS_ENABLED(CONFIG_MCOUNT_DYNAMIC) && look_up)
		return hook_chosen_for(opts);
	if (opts & BIT(MCTRACER_EXACT))
		return opts & BIT(MCTRACER_WITH_CONTEXT) ? mctracer_hook_exact_context :
							   mctracer_hook_exact;
	return opts & BIT(MCTRACER_WITH_CONTEXT) ? mctracer_hook_context : mctracer_hook;
}

static bool needs_pairs(mcount_direct_func_t func)
{
	if (!IS_ENABLED(CONFIG_MCOUNT_DYNAMIC) &&
	    (func == mctracer_hook_chosen || func == mctracer_hook_chosen_context))
		return false;
	return func != mctracer_hook && func != mctracer_hook_context;
}

/* Where returns are recorded, too. What is called there is for the same options as the hook. */
static struct mcount_choice graph_choice = {
	.kind = mctracer_site_kind,
	.gate = mctracer_gate,
	.return_kind = mctracer_return_kind,
	.return_gate = IS_ENABLED(CONFIG_MCOUNT_RETURNS) ? mctracer_return_gate : NULL,
};

static void set_hook(mcount_direct_func_t new)
{
	static const struct {
		mcount_direct_func_t on_call, on_return, on_tail;
	} hooks[] = {
		{ mctracer_hook, mctracer_hook_return, mctracer_hook_tail },
		{ mctracer_hook_exact, mctracer_hook_return_exact, mctracer_hook_tail_exact },
		{ mctracer_hook_context, mctracer_hook_return_context, mctracer_hook_tail_context },
		{ mctracer_hook_exact_context, mctracer_hook_return_exact_context,
		  mctracer_hook_tail_exact_context },
		{ mctracer_hook_slow, mctracer_hook_return_slow, mctracer_hook_tail_slow },
	};
	int i;

	WRITE_ONCE(hook, new);
	for (i = 0; IS_ENABLED(CONFIG_MCOUNT_RETURNS) && i < ARRAY_SIZE(hooks); i++) {
		if (hooks[i].on_call == new) {
			graph_choice.on_return = hooks[i].on_return;
			graph_choice.on_tail = hooks[i].on_tail;
		}
	}
}

static int replace_hook(mcount_direct_func_t new)
{
	mcount_direct_func_t old = hook;
	int ret;

	set_hook(new);
	ret = replace_mcount_direct(old, new);
	if (ret)
		set_hook(old);
	return ret;
}

/*
 * Have @new take our hook's place. On an error ours is what it was, or the slow one.
 * Hooks that write pairs of words and those that don't are never registered at the same
 * time: in between is the slow one, which leaves each ring as pairs need it, and then all
 * CPUs look once more.
 */
static int exchange_hook(mcount_direct_func_t new)
{
	int ret = 0;

	lockdep_assert_held(&hook_mutex);

	if (!mcount_direct_registered(hook))
		return 0;
	if (needs_pairs(hook) != needs_pairs(new) && new != mctracer_hook_slow) {
		WRITE_ONCE(mctracer_pairs, true);
		ret = replace_hook(mctracer_hook_slow);
		if (ret) {
			WRITE_ONCE(mctracer_pairs, needs_pairs(hook));
			return ret == -ENOENT ? 0 : ret;
		}
		mctracer_forget_tasks(false);
	}
	ret = replace_hook(new);
	if (ret)
		return ret == -ENOENT ? 0 : ret;
	WRITE_ONCE(mctracer_pairs, needs_pairs(new));
	return 0;
}

bool mctracer_memory_available(size_t size)
{
	/*
	 * An estimate, but better than to find out by means of the OOM killer.
	 * Early in boot not all memory is counted yet.
	 */
	return system_state != SYSTEM_RUNNING ||
	       si_mem_available() >= (long)DIV_ROUND_UP(size, PAGE_SIZE);
}

static void free_rings(struct mctracer_ring __percpu *rings)
{
	int cpu;

	for_each_possible_cpu(cpu)
		mctracer_ring_free(per_cpu_ptr(rings, cpu));
}

static void place_rings(struct mctracer_ring __percpu *rings)
{
	int cpu;

	given.begin(true);
	for_each_possible_cpu(cpu)
		mctracer_ring_place(per_cpu_ptr(rings, cpu), given.base + cpu * ring_size,
				    ring_size);
	given.begin(false);
}

/* NULL if there is no memory. Without the tracer's mutex. */
static struct mctracer_ring __percpu *alloc_rings(size_t size)
{
	struct mctracer_ring __percpu *rings;
	int cpu;

	lockdep_assert_held(&memory_mutex);

	if (!given.base && !mctracer_memory_available(num_possible_cpus() * size))
		return NULL;
	rings = alloc_percpu(struct mctracer_ring);
	if (!rings)
		return NULL;
	if (given.base) {
		place_rings(rings);
		return rings;
	}
	for_each_possible_cpu(cpu) {
		if (mctracer_ring_alloc(per_cpu_ptr(rings, cpu), size, cpu_to_node(cpu))) {
			free_rings(rings);
			free_percpu(rings);
			return NULL;
		}
	}
	return rings;
}

/* While nobody writes. */
static void move_rings(struct mctracer_ring __percpu *new)
{
	int cpu;

	for_each_possible_cpu(cpu)
		mctracer_ring_move(per_cpu_ptr(&mctracer_rings, cpu), per_cpu_ptr(new, cpu));
}

int mctracer_lock_to_copy(void)
{
	if (mutex_lock_interruptible(&mctracer_mutex))
		return -ERESTARTSYS;
	pagefault_disable();
	return 0;
}

void mctracer_unlock_copied(void)
{
	pagefault_enable();
	mutex_unlock(&mctracer_mutex);
}

#define WATCH_SECONDS	5

static void watch_fn(struct work_struct *work);
static DECLARE_DELAYED_WORK(watch_work, watch_fn);

/* Where another clock is used from now on the rings say so: the hook's task is forgotten. */
static int check_clock(void)
{
	int ret;

	lockdep_assert_held(&hook_mutex);

	if (!mctracer_clock_is_lost())
		return 0;
	/* First the hook: to read the other clock calls functions that are traced. */
	WRITE_ONCE(mctracer_pairs, true);
	ret = mctracer_is_following() ? 0 : exchange_hook(mctracer_hook_slow);
	if (ret) {
		mctracer_report_failure("the hook for another clock", ret);
		unregister_mcount_direct(hook);
	}
	mctracer_clock_to_ns();
	mctracer_forget_tasks(true);
	return ret;
}

/* Our hook is not registered: forks and execs need not tell the rings. */
static void leave_unused(void)
{
	lockdep_assert_held(&hook_mutex);
	static_branch_disable(&mctracer_in_use);
}

/* While ours is the registered hook, and once more when it is not. */
static void watch_fn(struct work_struct *work)
{
	bool registered = true;

	mctracer_forget_where();
	mctracer_finish_armed();
	/* It may be held over a grace period: then the next time. */
	if (mutex_trylock(&hook_mutex)) {
		check_clock();
		registered = mcount_direct_registered(hook);
		if (!registered)
			leave_unused();
		mutex_unlock(&hook_mutex);
	}
	if (registered)
		queue_delayed_work(system_wq, &watch_work, WATCH_SECONDS * HZ);
}

size_t mctracer_ring_bytes(void)
{
	return READ_ONCE(ring_size);
}

/*
 * On return no hook writes to a ring, and none will until resume(). A hook that comes
 * meanwhile is told so before it does, and counts its call as lost; one that was told
 * otherwise has preemption disabled. A CPU on its way up or down is not waited for, so
 * there must be none.
 */
static void pause(void)
{
	cpus_read_lock();
	WRITE_ONCE(mctracer_stopped, true);
	mctracer_forget_tasks(false);
	cpus_read_unlock();
	synchronize_rcu();
}

static void resume(void)
{
	smp_wmb();	/* the rings before stopped; mctracer_note_task() has the other */
	WRITE_ONCE(mctracer_stopped, false);
	mctracer_forget_tasks(true);
}

/* Larger or smaller rings take the place of those that there are. */
static int replace_rings(size_t size)
{
	struct mctracer_ring __percpu *new;

	new = alloc_rings(size);
	if (!new)
		return -ENOMEM;

	pause();
	scoped_guard(mutex, &mctracer_mutex) {
		move_rings(new);
		WRITE_ONCE(ring_size, size);
	}
	resume();

	free_rings(new);	/* what was not moved */
	free_percpu(new);
	return 0;
}

/* How many mappings there are; -1 while there must be none. */
static atomic_t mappings;

int mctracer_mapped(void)
{
	if (!smp_load_acquire(&have_rings))	/* before their memory */
		return -ENXIO;
	return atomic_inc_unless_negative(&mappings) ? 0 : -EBUSY;
}

void mctracer_mapped_again(void)
{
	atomic_inc(&mappings);
}

void mctracer_unmapped(void)
{
	atomic_dec(&mappings);
}

int mctracer_set_ring_size(u64 size)
{
	CLASS(mctracer_own_work, own)();
	int ret = 0;

	if (!size || size > MCTRACER_RING_MAX_SIZE)
		return -EINVAL;
	size = max(roundup_pow_of_two(size), MCTRACER_RING_MIN_SIZE);

	guard(mutex)(&memory_mutex);
	if (given.base) {
		pr_info("the rings lie in reserved memory: they keep their size\n");
		return -EBUSY;
	}
	if (atomic_cmpxchg(&mappings, 0, -1))
		return -EBUSY;
	if (!have_rings)
		WRITE_ONCE(ring_size, size);
	else if (size != ring_size)
		ret = replace_rings(size);
	atomic_set(&mappings, 0);
	return ret;
}

void __init mctracer_give_memory(void *base, size_t size, void (*begin)(bool forget))
{
	guard(mutex)(&memory_mutex);
	given.base = base;
	given.begin = begin;
	WRITE_ONCE(ring_size, size);
}

static const struct mcount_choice *function_choice(void)
{
	static const struct mcount_choice function_choice = {
		.kind = mctracer_site_kind,
		.gate = mctracer_gate,
		.plain = mctracer_record_plainly,
	}, all_functions = {
		.plain = mctracer_record_plainly,
	};

	if (READ_ONCE(mctracer_graph) || READ_ONCE(mctracer_returns_triggered))
		return &graph_choice;
	return mctracer_functions_chosen() || mctracer_is_following() ? &function_choice :
									&all_functions;
}

/* The choice that was given to mcount last. Under hook_mutex. */
static const struct mcount_choice *given_choice;

static int register_hook(void)
{
	if (!IS_ENABLED(CONFIG_MCOUNT_DYNAMIC))
		return register_mcount_direct(hook);
	given_choice = function_choice();
	return register_mcount_direct_chosen(hook, given_choice);
}

static int choose_functions(void)
{
	given_choice = function_choice();
	return mcount_choose(hook, given_choice);
}

/*
 * While objects are followed the hook is one that calls the gate, and nothing is recorded but by
 * that: so it comes when the gate is there and knows, and goes before.
 */
static int apply_following(void)
{
	const enum mctracer_following before = READ_ONCE(mctracer_following);
	const enum mctracer_following now = READ_ONCE(mctracer_follow_triggered);
	int ret = 0;

	if (!now && before)
		ret = exchange_hook(hook_for(mctracer_options, now));
	if (ret)
		return ret;
	WRITE_ONCE(mctracer_following, now);
	ret = choose_functions();
	if (!ret && now && hook != hook_for(mctracer_options, now))
		ret = exchange_hook(hook_for(mctracer_options, now));
	if (ret && ret != -ENOENT) {
		WRITE_ONCE(mctracer_following, before);
		exchange_hook(hook_for(mctracer_options, before));	/* changes no site */
	}
	return ret;
}

/* Other functions are to be recorded than before. */
static int apply_functions(u8 *map)
{
	u8 *old;
	int ret;

	/* Who was here when these were recorded may not have been since: before and after. */
	mctracer_forget_tasks(false);
	if (IS_ENABLED(CONFIG_MCOUNT_DYNAMIC)) {
		guard(mutex)(&hook_mutex);
		ret = IS_ENABLED(CONFIG_MCOUNT_FILTER) ? apply_following() : choose_functions();
		mctracer_forget_tasks(false);
		return ret == -ENOENT ? 0 : ret;
	}

	scoped_guard(mutex, &hook_mutex) {
		old = mctracer_map;
		if (map)
			smp_store_release(&mctracer_map, map);	/* filled before it is seen */
		look_up = map;
		/* Changes no site: can't fail. */
		exchange_hook(hook_for(mctracer_options, MCTRACER_FOLLOW_NOT));
		mctracer_map = map;
	}
	mctracer_chosen_synchronize();
	vfree(old);
	return 0;
}

/* All functions call the gate, or those that have triggers. */
static int set_max_stack(bool on)
{
	u8 *map = NULL;
	int ret;

	CLASS(mctracer_own_work, own)();
	guard(mutex)(&mctracer_lists_mutex);
	if (mctracer_option(MCTRACER_MAX_STACK) == on)
		return 0;
	WRITE_ONCE(mctracer_gate_everywhere, on);
	scoped_guard(mutex, &mctracer_sets_mutex)
		ret = mctracer_map_make(&map);
	ret = ret ?: apply_functions(map);
	if (ret)
		WRITE_ONCE(mctracer_gate_everywhere, !on);
	else
		assign_bit(MCTRACER_MAX_STACK, &mctracer_options, on);
	mctracer_triggers_update();
	if (!on)
		mctracer_chosen_synchronize();	/* nobody takes note any more */
	return ret;
}

int mctracer_set_graph(bool on)
{
	int ret;

	if (on && !IS_ENABLED(CONFIG_MCOUNT_RETURNS))
		return -EOPNOTSUPP;
	CLASS(mctracer_own_work, own)();
	guard(mutex)(&mctracer_lists_mutex);
	if (mctracer_graph == on)
		return 0;
	WRITE_ONCE(mctracer_graph, on);
	ret = apply_functions(NULL);
	if (ret)
		WRITE_ONCE(mctracer_graph, !on);
	mctracer_triggers_update();
	return ret;
}

int mctracer_set_option(enum mctracer_option option, bool on)
{
	int cpu, ret;

	if (option == MCTRACER_MAX_STACK)
		return set_max_stack(on);

	if (option >= MCTRACER_FREEZE_WARNING) {
		assign_bit(option, &mctracer_options, on);	/* hooks don't look at these */
		return 0;
	}

	CLASS(mctracer_own_work, own)();
	guard(mutex)(&hook_mutex);
	if (mctracer_option(option) == on)
		return 0;

	if (!on && option == MCTRACER_OVERWRITE) {
		guard(mutex)(&mctracer_mutex);
		for_each_possible_cpu(cpu)
			mctracer_ring_skip_overwritten(per_cpu_ptr(&mctracer_rings, cpu));
	}

	assign_bit(option, &mctracer_options, on);
	ret = exchange_hook(hook_for(mctracer_options, READ_ONCE(mctracer_following)));
	if (ret)
		assign_bit(option, &mctracer_options, !on);
	/* What is full may go on, and what has been said of contexts may not hold. */
	mctracer_forget_tasks(true);
	return ret;
}

int mctracer_set_functions(enum mctracer_function_list which, char *text, bool append)
{
	CLASS(mctracer_own_work, own)();
	int ret = mctracer_functions_set(which, text, append, apply_functions);

	mctracer_triggers_update();
	mctracer_note_hole();	/* a call may be chosen whose return is not, or the reverse */
	return ret;
}

int mctracer_set_triggers(char *text, bool append)
{
	CLASS(mctracer_own_work, own)();

	return mctracer_triggers_set(text, append, apply_functions);
}

#ifdef CONFIG_MODULES
/* More is asked of mcount than before: returns of functions, or objects that are followed. */
static bool needs_another_choice(void)
{
	return READ_ONCE(given_choice) != function_choice() ||
	       READ_ONCE(mctracer_following) != READ_ONCE(mctracer_follow_triggered);
}

/*
 * Before mcount asks for the module's call sites, which it does in a notifier that comes later: so
 * most often nothing else must be done.
 */
static int module_event(struct notifier_block *nb, unsigned long event, void *data)
{
	bool changed;
	int ret;

	if (event != MODULE_STATE_COMING)
		return NOTIFY_DONE;
	CLASS(mctracer_own_work, own)();
	changed = mctracer_functions_module_coming(data);
	changed |= mctracer_triggers_module_coming(data);
	if (!changed)
		return NOTIFY_DONE;
	mctracer_forget_tasks(false);
	if (IS_ENABLED(CONFIG_MCOUNT_DYNAMIC) && mctracer_started() && needs_another_choice()) {
		ret = apply_functions(NULL);
		if (ret)
			mctracer_report_failure("functions of a module that came", ret);
	}
	return NOTIFY_DONE;
}

static struct notifier_block module_notifier = {
	.notifier_call	= module_event,
	.priority	= INT_MAX,
};

static int __init watch_modules(void)
{
	return register_module_notifier(&module_notifier);
}
core_initcall(watch_modules);
#endif /* CONFIG_MODULES */

/* With @new rings, if there were none. On error they are as they were. */
static int start(struct mctracer_ring __percpu *new)
{
	enum mctracer_crash frozen;
	bool was_off, was_registered;
	int ret;

	guard(mutex)(&hook_mutex);

	ret = check_clock();
	if (ret)
		return ret;
	if (new) {
		guard(mutex)(&mctracer_mutex);
		move_rings(new);
	}

	was_registered = mcount_direct_registered(hook);
	static_branch_enable(&mctracer_in_use);
	if (!was_registered) {
		if (IS_ENABLED(CONFIG_MCOUNT_FILTER))
			mctracer_follow_forget();	/* where they end was not seen */
		set_hook(hook_for(mctracer_options, READ_ONCE(mctracer_following)));
		WRITE_ONCE(mctracer_pairs, needs_pairs(hook));
		mctracer_note_hole();
	}
	frozen = mctracer_thaw();
	was_off = mctracer_turn_on();	/* first: a trigger may turn it off at once */
	ret = register_hook();
	if (!ret) {
		mctracer_report_failure(NULL, 0);
		queue_delayed_work(system_wq, &watch_work, WATCH_SECONDS * HZ);
		/* Only now may they be mapped: those of all CPUs are there to stay. */
		if (new)
			smp_store_release(&have_rings, true);	/* behind their memory */
		return 0;
	}
	if (was_off)
		mctracer_turn_off();
	if (frozen != MCTRACER_NOT_FROZEN)
		__mctracer_freeze(frozen, true);
	if (!was_registered)
		leave_unused();
	if (new) {
		guard(mutex)(&mctracer_mutex);
		free_rings(&mctracer_rings);
	}
	return ret;
}

int mctracer_start(void)
{
	struct mctracer_ring __percpu *new = NULL;
	int ret;

	CLASS(mctracer_own_work, own)();
	guard(mutex)(&memory_mutex);
	if (!have_rings) {
		new = alloc_rings(ring_size);
		if (!new)
			return -ENOMEM;
	}
	ret = start(new);
	if (new) {
		free_rings(new);	/* what was not moved */
		free_percpu(new);
	}
	return ret;
}

void mctracer_stop(void)
{
	CLASS(mctracer_own_work, own)();
	guard(mutex)(&hook_mutex);
	/* At one moment, while calls, returns and jumps have stubs of their own to be switched. */
	scoped_guard(preempt_notrace) {
		WRITE_ONCE(mctracer_ending, true);
		mctracer_forget_tasks(false);
	}
	/* -ENOENT: another hook has taken over, and ours is not running. */
	unregister_mcount_direct(hook);
	mctracer_forget_soon();
	leave_unused();
	WRITE_ONCE(mctracer_ending, false);
	mctracer_forget_tasks(true);
}

bool mctracer_started(void)
{
	return mcount_direct_is_current(READ_ONCE(hook)) && !mcount_error();
}

/* The latest failure that no system call could return; NULL: there is none. */
static const char *failed_what;
static int failed_why;
static DEFINE_MUTEX(failed_mutex);	/* for both */

void mctracer_report_failure(const char *what, int error)
{
	guard(mutex)(&failed_mutex);
	failed_what = what;
	failed_why = error;
	if (what)
		pr_err("%s: %pe\n", what, ERR_PTR(error));
}

void mctracer_show_failure(struct seq_file *m)
{
	int error = mcount_error();

	if (error)
		seq_printf(m, "# failed: nobody is called: %pe\n", ERR_PTR(error));
	guard(mutex)(&failed_mutex);
	if (failed_what)
		seq_printf(m, "# failed: %s: %pe\n", failed_what, ERR_PTR(failed_why));
}

void mctracer_clear(int only)
{
	int cpu;

	guard(mutex)(&mctracer_mutex);
	for_each_possible_cpu(cpu)
		if (only == MCTRACER_ALL_CPUS || cpu == only)
			mctracer_ring_clear(per_cpu_ptr(&mctracer_rings, cpu));
	mctracer_forget_tasks(true);	/* so that all is said again soon */
}
