// SPDX-License-Identifier: GPL-2.0
/*
 * Start and stop the tracer, set its options, and manage the memory of the rings.
 *
 * The first start allocates a ring for each possible CPU, and the rings stay allocated: a CPU may
 * come online at any time, and the words of a CPU that went offline stay readable.
 */
#include <linux/atomic.h>
#include <linux/bitops.h>
#include <linux/bits.h>
#include <linux/cleanup.h>
#include <linux/cpuhplock.h>
#include <linux/cpumask.h>
#include <linux/jump_label.h>
#include <linux/kernel.h>
#include <linux/limits.h>
#include <linux/lockdep.h>
#include <linux/log2.h>
#include <linux/mcount.h>
#include <linux/minmax.h>
#include <linux/mctracer.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/rcupdate.h>
#include <linux/sizes.h>
#include <linux/topology.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#include "../record/follow.h"
#include "../record/record.h"
#include "../record/selected.h"
#include "../ring/cursor.h"
#include "../ring/ring.h"
#include "../select/select.h"
#include "control.h"

#undef pr_fmt
#define pr_fmt(fmt) "mctracer: " fmt

/* See "Locks" in control.h for what each protects, and what may be waited for under each. */
static DEFINE_MUTEX(memory_mutex);
static DEFINE_MUTEX(hook_mutex);
DEFINE_MUTEX(mctracer_mutex);	/* innermost */
const void *mctracer_last_reader;

static size_t ring_size = SZ_1M;	/* 131072 words */
static bool have_rings;
/* External memory for the rings, if any. Set before the rings exist. */
static struct {
	void *base;
	void (*begin)(bool forget);
} given;

/* The tracer's hook that is registered, unless another hook has replaced it. Under hook_mutex. */
static mcount_direct_func_t hook;
/* The hook must look up in mctracer_map which functions are selected. Under hook_mutex. */
static bool look_up;

static mcount_direct_func_t tracer_lookup_hook_for(unsigned long opts)
{
	if (opts & BIT(MCTRACER_OPT_TIME))
		return opts & BIT(MCTRACER_OPT_CONTEXT) ? mctracer_hook_selected_timed_context :
							   mctracer_hook_selected_timed;
	return opts & BIT(MCTRACER_OPT_CONTEXT) ? mctracer_hook_selected_context :
						   mctracer_hook_selected;
}

static mcount_direct_func_t tracer_hook_for(unsigned long opts, enum mctracer_following following)
{
	if (IS_ENABLED(CONFIG_MCOUNT_FILTER) && following)
		return following == MCTRACER_FOLLOW_CALLS ? mcount_filter_stack_hook :
							    mcount_filter_hook;
	if (!mctracer_clock_is_cycles())
		return mctracer_hook_slow;
	if (!IS_ENABLED(CONFIG_MCOUNT_DYNAMIC) && look_up)
		return tracer_lookup_hook_for(opts);
	if (opts & BIT(MCTRACER_OPT_TIME))
		return opts & BIT(MCTRACER_OPT_CONTEXT) ? mctracer_hook_timed_context :
							   mctracer_hook_timed;
	return opts & BIT(MCTRACER_OPT_CONTEXT) ? mctracer_hook_context : mctracer_hook;
}

/* Return true if @func writes pairs of words, which must begin at even slots. */
static bool tracer_hook_needs_pairs(mcount_direct_func_t func)
{
	if (!IS_ENABLED(CONFIG_MCOUNT_DYNAMIC) &&
	    (func == mctracer_hook_selected || func == mctracer_hook_selected_context))
		return false;
	return func != mctracer_hook && func != mctracer_hook_context;
}

/*
 * The selection that also records returns. tracer_set_hook() sets the hooks at returns to match the
 * hook.
 */
static struct mcount_selection graph_selection = {
	.kind = mctracer_site_kind,
	.pre_handler = mctracer_pre_handler,
	.return_kind = mctracer_return_kind,
	.return_pre_handler = MCOUNT_HAS_RETURNS ? mctracer_return_pre_handler : NULL,
	.plain_return = mctracer_plain_return_hook,
	.wants_return = mctracer_wants_return,
	.plain = mctracer_plain_hook,
};

static void tracer_set_hook(mcount_direct_func_t new)
{
	static const struct {
		mcount_direct_func_t on_call, on_return, on_tail;
	} hooks[] = {
		{ mctracer_hook, mctracer_hook_return, mctracer_hook_tail },
		{ mctracer_hook_timed, mctracer_hook_return_timed, mctracer_hook_tail_timed },
		{ mctracer_hook_context, mctracer_hook_return_context, mctracer_hook_tail_context },
		{ mctracer_hook_timed_context, mctracer_hook_return_timed_context,
		  mctracer_hook_tail_timed_context },
		{ mctracer_hook_slow, mctracer_hook_return_slow, mctracer_hook_tail_slow },
	};
	int i;

	WRITE_ONCE(hook, new);
	WRITE_ONCE(mctracer_plain_form, new == mctracer_hook ? MCTRACER_PLAIN_COMPACT :
		   new == mctracer_hook_timed ? MCTRACER_PLAIN_TIMED : MCTRACER_PLAIN_SLOW);
	for (i = 0; IS_ENABLED(CONFIG_MCOUNT_RETURNS) && i < ARRAY_SIZE(hooks); i++) {
		if (hooks[i].on_call == new) {
			graph_selection.on_return = hooks[i].on_return;
			graph_selection.on_tail = hooks[i].on_tail;
		}
	}
}

static int tracer_replace_hook(mcount_direct_func_t new)
{
	mcount_direct_func_t old = hook;
	int ret;

	tracer_set_hook(new);
	ret = replace_mcount_direct(old, new);
	if (ret)
		tracer_set_hook(old);
	return ret;
}

/*
 * Replace the tracer's hook with @new. Return 0 (also if the hook is not registered) or an error;
 * then the old hook, or the slow one, stays registered.
 *
 * Some hooks write pairs of words at even slots, and must not run while CPUs still run hooks that
 * do not. So the slow hook is registered in between, which aligns each ring for pairs; then the
 * cached tasks are invalidated, so that all CPUs check again.
 */
static int tracer_exchange_hook(mcount_direct_func_t new)
{
	int ret = 0;

	lockdep_assert_held(&hook_mutex);

	if (!mcount_direct_registered(hook))
		return 0;
	if (tracer_hook_needs_pairs(hook) != tracer_hook_needs_pairs(new) &&
	    new != mctracer_hook_slow) {
		WRITE_ONCE(mctracer_pairs, true);
		ret = tracer_replace_hook(mctracer_hook_slow);
		if (ret) {
			WRITE_ONCE(mctracer_pairs, tracer_hook_needs_pairs(hook));
			return ret == -ENOENT ? 0 : ret;
		}
		mctracer_invalidate_tasks(false);
	}
	ret = tracer_replace_hook(new);
	if (ret)
		return ret == -ENOENT ? 0 : ret;
	WRITE_ONCE(mctracer_pairs, tracer_hook_needs_pairs(new));
	return 0;
}

/* Have all calls recorded by the slow hook, which looks at the options at each. Return as above. */
static int tracer_use_slow_hook(void)
{
	int ret;

	WRITE_ONCE(mctracer_pairs, true);
	ret = mctracer_is_following() ? 0 : tracer_exchange_hook(mctracer_hook_slow);
	if (ret)
		WRITE_ONCE(mctracer_pairs, tracer_hook_needs_pairs(hook));
	return ret;
}

static void tracer_free_rings(struct mctracer_ring __percpu *rings)
{
	int cpu;

	for_each_possible_cpu(cpu)
		mctracer_ring_free(per_cpu_ptr(rings, cpu));
}

static void tracer_place_rings(struct mctracer_ring __percpu *rings)
{
	int cpu;

	given.begin(true);
	for_each_possible_cpu(cpu)
		mctracer_ring_place(per_cpu_ptr(rings, cpu), cpu, given.base + cpu * ring_size,
				    ring_size);
	given.begin(false);
}

/* Allocate rings of @size bytes for all CPUs. Return NULL if there is no memory. */
static struct mctracer_ring __percpu *tracer_alloc_rings(size_t size)
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
		tracer_place_rings(rings);
		return rings;
	}
	for_each_possible_cpu(cpu) {
		if (mctracer_ring_alloc(per_cpu_ptr(rings, cpu), cpu, size)) {
			tracer_free_rings(rings);
			free_percpu(rings);
			return NULL;
		}
	}
	return rings;
}

/* Move all words to the rings of @new. Writers must be paused, under mctracer_mutex. */
static void tracer_move_rings(struct mctracer_ring __percpu *new)
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

static void tracer_watch_fn(struct work_struct *work);
static DECLARE_DELAYED_WORK(watch_work, tracer_watch_fn);

/*
 * Switch to nanoseconds if the kernel does not trust the cycle counter any more. All cached tasks
 * are invalidated, so that the rings get clock words. Return 0 or an error.
 */
static int tracer_check_clock(void)
{
	int ret;

	lockdep_assert_held(&hook_mutex);

	if (!mctracer_clock_is_lost())
		return 0;
	ret = tracer_use_slow_hook();	/* reading the other clock calls traced functions */
	if (ret) {
		mctracer_report_failure("the hook for another clock", ret);
		unregister_mcount_direct(hook);
	}
	mctracer_clock_to_ns();
	mctracer_invalidate_tasks(true);
	return ret;
}

/* The tracer's hook is not registered: fork and exec need not invalidate cached tasks. */
static void tracer_set_unused(void)
{
	lockdep_assert_held(&hook_mutex);
	static_branch_disable(&mctracer_in_use);
}

/* Runs every WATCH_SECONDS while the tracer's hook is registered, and once more after that. */
static void tracer_watch_fn(struct work_struct *work)
{
	bool registered = true;

	mctracer_trim_task_cpus();
	mctracer_finish_armed();
	/* hook_mutex may be held for a grace period: then wait for the next time. */
	if (mutex_trylock(&hook_mutex)) {
		tracer_check_clock();
		registered = mcount_direct_registered(hook);
		if (!registered)
			tracer_set_unused();
		mutex_unlock(&hook_mutex);
	}
	if (registered)
		queue_delayed_work(system_unbound_wq, &watch_work, WATCH_SECONDS * HZ);
}

size_t mctracer_ring_bytes(void)
{
	return READ_ONCE(ring_size);
}

/*
 * Pause all writers until tracer_resume_writers(). Waits for a grace period.
 *
 * A hook that starts now finds mctracer_stopped set, and counts its call as lost. A hook that found
 * it clear runs with preemption disabled, so the grace period waits for it. RCU does not wait for a
 * CPU that is going online or offline, so cpus_read_lock() excludes such CPUs.
 */
static void tracer_pause_writers(void)
{
	cpus_read_lock();
	WRITE_ONCE(mctracer_stopped, true);
	mctracer_invalidate_tasks(false);
	cpus_read_unlock();
	synchronize_rcu();
}

static void tracer_resume_writers(void)
{
	smp_wmb();	/* rings before mctracer_stopped; pairs with mctracer_emit_task() */
	WRITE_ONCE(mctracer_stopped, false);
	mctracer_invalidate_tasks(true);
}

/* Replace the rings with rings of @size bytes that have the latest words. Return 0 or -ENOMEM. */
static int tracer_replace_rings(size_t size)
{
	struct mctracer_ring __percpu *new;

	new = tracer_alloc_rings(size);
	if (!new)
		return -ENOMEM;

	tracer_pause_writers();
	scoped_guard(mutex, &mctracer_mutex) {
		tracer_move_rings(new);
		mctracer_last_reader = NULL;
		WRITE_ONCE(ring_size, size);
	}
	tracer_resume_writers();

	tracer_free_rings(new);	/* the old memory */
	free_percpu(new);
	return 0;
}

/* The number of mappings by user space; -1 while rings are being replaced. */
static atomic_t mappings;

int mctracer_mapped(void)
{
	if (!smp_load_acquire(&have_rings))	/* have_rings before their memory */
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
		ret = tracer_replace_rings(size);
	atomic_set(&mappings, 0);
	return ret;
}

void __init mctracer_set_external_memory(void *base, size_t size, void (*begin)(bool forget))
{
	guard(mutex)(&memory_mutex);
	given.base = base;
	given.begin = begin;
	WRITE_ONCE(ring_size, size);
}

static const struct mcount_selection *tracer_selection(void)
{
	static const struct mcount_selection function_selection = {
		.kind = mctracer_site_kind,
		.pre_handler = mctracer_pre_handler,
		.plain = mctracer_plain_hook,
	}, all_functions = {
		.plain = mctracer_plain_hook,
	};

	if (READ_ONCE(mctracer_graph) || READ_ONCE(mctracer_returns_triggered))
		return &graph_selection;
	return mctracer_functions_selected() || mctracer_is_following() ? &function_selection :
									&all_functions;
}

/*
 * The selection that mcount takes, or took last; NULL: it took none. Written under hook_mutex, and
 * before mcount waits: a module that is loaded meanwhile need not wait, too.
 */
static const struct mcount_selection *given_selection;

static int tracer_give_selection(int (*give)(mcount_direct_func_t func,
					     const struct mcount_selection *wanted))
{
	const struct mcount_selection *selection = tracer_selection();
	int ret;

	WRITE_ONCE(given_selection, selection);
	ret = give(hook, selection);
	if (ret)
		WRITE_ONCE(given_selection, NULL);
	return ret;
}

static int tracer_register_hook(void)
{
	return IS_ENABLED(CONFIG_MCOUNT_DYNAMIC) ?
	       tracer_give_selection(register_mcount_direct_selected) :
	       register_mcount_direct(hook);
}

/*
 * Start or stop following objects, as the triggers need it.
 *
 * While objects are followed, the hook is mcount's arg filter, which calls the pre-handler, and
 * only the pre-handler records. So the arg filter is registered after the pre-handler is set and
 * mctracer_following is written; and it is replaced before either changes back.
 */
static int tracer_apply_following(void)
{
	const enum mctracer_following before = READ_ONCE(mctracer_following);
	const enum mctracer_following now = READ_ONCE(mctracer_follow_triggered);
	int ret = 0;

	if (!now && before)
		ret = tracer_exchange_hook(tracer_hook_for(mctracer_options, now));
	if (ret)
		return ret;
	/* Calls from before are not known to have returned. */
	if (now == MCTRACER_FOLLOW_CALLS && before != now)
		mctracer_nested_forget();
	WRITE_ONCE(mctracer_following, now);
	ret = tracer_give_selection(mcount_select);
	if (!ret && now && hook != tracer_hook_for(mctracer_options, now))
		ret = tracer_exchange_hook(tracer_hook_for(mctracer_options, now));
	if (ret && ret != -ENOENT) {
		WRITE_ONCE(mctracer_following, before);
		/* patches no site */
		tracer_exchange_hook(tracer_hook_for(mctracer_options, before));
	}
	return ret;
}

/*
 * Make a change of the selected functions take effect. @map: with static call sites, what
 * mctracer_map_make() has made. Return 0 or an error.
 */
static int tracer_apply_functions(u8 *map)
{
	u8 *old;
	int ret;

	/*
	 * Calls may have been recorded without their returns, and a cached task may run unrecorded
	 * meanwhile: note a hole before and after.
	 */
	mctracer_add_hole();
	if (IS_ENABLED(CONFIG_MCOUNT_DYNAMIC)) {
		guard(mutex)(&hook_mutex);
		ret = IS_ENABLED(CONFIG_MCOUNT_FILTER) ? tracer_apply_following() :
		      tracer_give_selection(mcount_select);
		mctracer_add_hole();
		return ret == -ENOENT ? 0 : ret;
	}

	scoped_guard(mutex, &hook_mutex) {
		old = mctracer_map;
		if (map)
			smp_store_release(&mctracer_map, map);	/* contents before the pointer */
		look_up = map;
		/* Patches no site: can't fail. */
		tracer_exchange_hook(tracer_hook_for(mctracer_options, MCTRACER_FOLLOW_NOT));
		mctracer_map = map;
	}
	mctracer_selected_synchronize();
	synchronize_rcu_tasks();	/* hooks read the map with preemption enabled */
	mctracer_add_hole();
	vfree(old);
	return 0;
}

/*
 * Set the option max_stack: with @on all functions call the pre-handler, not only triggered ones.
 */
static int tracer_set_max_stack(bool on)
{
	u8 *map = NULL;
	int ret;

	CLASS(mctracer_own_work, own)();
	guard(mutex)(&mctracer_lists_mutex);
	if (mctracer_option(MCTRACER_OPT_MAX_STACK) == on)
		return 0;
	WRITE_ONCE(mctracer_pre_handler_everywhere, on);
	scoped_guard(mutex, &mctracer_sets_mutex)
		ret = mctracer_map_make(&map);
	ret = ret ?: tracer_apply_functions(map);
	if (ret)
		WRITE_ONCE(mctracer_pre_handler_everywhere, !on);
	else
		assign_bit(MCTRACER_OPT_MAX_STACK, &mctracer_options, on);
	mctracer_triggers_update();
	if (!on)
		mctracer_selected_synchronize();	/* no CPU records its stack any more */
	return ret;
}

int mctracer_set_graph(bool on)
{
	int ret;

	if (on && !MCOUNT_HAS_RETURNS)
		return -EOPNOTSUPP;
	CLASS(mctracer_own_work, own)();
	guard(mutex)(&mctracer_lists_mutex);
	if (mctracer_graph == on)
		return 0;
	WRITE_ONCE(mctracer_graph, on);
	ret = tracer_apply_functions(NULL);
	if (ret)
		WRITE_ONCE(mctracer_graph, !on);
	mctracer_triggers_update();
	return ret;
}

int mctracer_set_option(enum mctracer_option option, bool on)
{
	int cpu, ret;

	if (option == MCTRACER_OPT_MAX_STACK)
		return tracer_set_max_stack(on);

	if (option >= MCTRACER_OPT_FREEZE_WARNING) {
		assign_bit(option, &mctracer_options, on);	/* hooks don't look at these */
		return 0;
	}

	CLASS(mctracer_own_work, own)();
	guard(mutex)(&hook_mutex);
	if (mctracer_option(option) == on)
		return 0;

	if (!on && option == MCTRACER_OPT_OVERWRITE) {
		guard(mutex)(&mctracer_mutex);
		for_each_possible_cpu(cpu)
			mctracer_ring_skip_overwritten(per_cpu_ptr(&mctracer_rings, cpu));
	}

	/* A hook without contexts would leave the latest one in effect while this waits for it. */
	if (!on && option == MCTRACER_OPT_CONTEXT) {
		ret = tracer_use_slow_hook();
		if (ret)
			return ret;
	}
	assign_bit(option, &mctracer_options, on);
	mctracer_invalidate_tasks(true);
	ret = tracer_exchange_hook(tracer_hook_for(mctracer_options,
						   READ_ONCE(mctracer_following)));
	if (ret)
		assign_bit(option, &mctracer_options, !on);
	/* A full ring may now have room, and the latest context words may be out of date. */
	mctracer_invalidate_tasks(true);
	return ret;
}

int mctracer_set_functions(enum mctracer_function_list which, char *text, bool append)
{
	CLASS(mctracer_own_work, own)();
	int ret = mctracer_functions_set(which, text, append, tracer_apply_functions);

	mctracer_triggers_update();
	return ret;
}

int mctracer_set_triggers(char *text, bool append)
{
	CLASS(mctracer_own_work, own)();

	return mctracer_triggers_set(text, append, tracer_apply_functions);
}

#ifdef CONFIG_MODULES
/* Return true if mcount needs another selection: for returns, or because objects are followed. */
static bool tracer_selection_is_stale(void)
{
	return READ_ONCE(given_selection) != tracer_selection() ||
	       READ_ONCE(mctracer_following) != READ_ONCE(mctracer_follow_triggered);
}

/*
 * Add the functions of a module that is being loaded. mcount's notifier runs later and asks for the
 * module's call sites then, so usually nothing else is necessary.
 */
static int tracer_module_event(struct notifier_block *nb, unsigned long event, void *data)
{
	bool changed;
	int ret;

	if (event != MODULE_STATE_COMING)
		return NOTIFY_DONE;
	CLASS(mctracer_own_work, own)();
	mctracer_modules_note(true);
	changed = mctracer_functions_module_coming(data);
	changed |= mctracer_triggers_module_coming(data);
	mctracer_modules_note(false);
	if (!changed)
		return NOTIFY_DONE;
	mctracer_invalidate_tasks(false);
	/* While the tracer is off this changes nothing, and tracer_start() does it. */
	if (IS_ENABLED(CONFIG_MCOUNT_DYNAMIC) && tracer_selection_is_stale()) {
		ret = tracer_apply_functions(NULL);
		if (ret)
			mctracer_report_failure("functions of a module that came", ret);
	}
	return NOTIFY_DONE;
}

static struct notifier_block module_notifier = {
	.notifier_call	= tracer_module_event,
	.priority	= INT_MAX,
};

static int __init tracer_watch_modules(void)
{
	return register_module_notifier(&module_notifier);
}
core_initcall(tracer_watch_modules);
#endif /* CONFIG_MODULES */

/* Give new rings a conversion of times, for mctracer_clock_conversion(). */
static void tracer_set_clocks(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		mctracer_clock_read(&per_cpu_ptr(&mctracer_rings, cpu)->clock);
}

/*
 * Register the hook, and forget @failure, which is mended. @new: the rings to use, if there are
 * none yet. On error nothing changes.
 */
static int tracer_start(struct mctracer_ring __percpu *new, unsigned int failure)
{
	enum mctracer_crash frozen;
	bool was_off, was_registered;
	int ret;

	guard(mutex)(&hook_mutex);

	ret = tracer_check_clock();
	if (ret)
		return ret;
	if (new) {
		guard(mutex)(&mctracer_mutex);
		tracer_move_rings(new);
		tracer_set_clocks();
	}

	was_registered = mcount_direct_registered(hook);
	static_branch_enable(&mctracer_in_use);
	if (!was_registered) {
		if (IS_ENABLED(CONFIG_MCOUNT_FILTER)) {
			mctracer_follow_forget();	/* their ends may have been missed */
			/* A module may have come with functions that triggers wait for. */
			WRITE_ONCE(mctracer_following, READ_ONCE(mctracer_follow_triggered));
		}
		tracer_set_hook(tracer_hook_for(mctracer_options, READ_ONCE(mctracer_following)));
		WRITE_ONCE(mctracer_pairs, tracer_hook_needs_pairs(hook));
		mcount_on_resume(mctracer_add_hole);
		mctracer_add_hole();
	}
	frozen = mctracer_thaw();
	was_off = mctracer_turn_on();	/* first: a trigger may turn recording off at once */
	ret = tracer_register_hook();
	if (!ret) {
		mctracer_forget_failure(failure);
		mctracer_snapshot_forget_failure();
		queue_delayed_work(system_unbound_wq, &watch_work, WATCH_SECONDS * HZ);
		/* Only now may rings be mapped: an error would have freed them. */
		if (new)
			smp_store_release(&have_rings, true);	/* memory before have_rings */
		return 0;
	}
	if (was_off)
		mctracer_turn_off();
	if (frozen != MCTRACER_NOT_FROZEN)
		__mctracer_freeze(frozen, true);
	if (!was_registered)
		tracer_set_unused();
	if (new) {
		guard(mutex)(&mctracer_mutex);
		tracer_free_rings(&mctracer_rings);
	}
	return ret;
}

/*
 * After a failure that left functions out, find the functions of all lists again. Return 0, or an
 * error: then some lists may still lack functions, and all texts are as before.
 */
static int tracer_repair(void)
{
	char nothing[1] = "";
	int i, ret = 0;

	for (i = 0; !ret && i < MCTRACER_FUNCTION_LISTS; i++)
		ret = mctracer_functions_set(i, nothing, true, tracer_apply_functions);
	ret = ret ?: mctracer_triggers_set(nothing, true, tracer_apply_functions);
	mctracer_triggers_update();
	return ret;
}

int mctracer_start(void)
{
	struct mctracer_ring __percpu *new = NULL;
	unsigned int failure;
	int ret;

	CLASS(mctracer_own_work, own)();
	guard(mutex)(&memory_mutex);
	failure = mctracer_failure();	/* before the repair: what fails later is not mended */
	ret = failure ? tracer_repair() : 0;
	if (ret)
		return ret;
	if (!have_rings) {
		new = tracer_alloc_rings(ring_size);
		if (!new)
			return -ENOMEM;
	}
	ret = tracer_start(new, failure);
	if (new) {
		tracer_free_rings(new);	/* if not used */
		free_percpu(new);
	}
	return ret;
}

void mctracer_stop(void)
{
	CLASS(mctracer_own_work, own)();
	guard(mutex)(&hook_mutex);
	/* At one moment, because the stubs of calls, returns and jumps are switched one by one. */
	scoped_guard(preempt_notrace) {
		WRITE_ONCE(mctracer_ending, true);
		mctracer_invalidate_tasks(false);
	}
	/* -ENOENT: another hook has replaced the tracer's, which does not run any more. */
	unregister_mcount_direct(hook);
	mctracer_cancel_turn_off();
	tracer_set_unused();
	WRITE_ONCE(mctracer_ending, false);
	mctracer_invalidate_tasks(true);
}

bool mctracer_started(void)
{
	return mcount_direct_is_current(READ_ONCE(hook)) && !mcount_error();
}

const char *mctracer_silence(void)
{
	if (!mcount_direct_is_current(READ_ONCE(hook)))
		return "ctrl is 0";	/* also after another hook has replaced the tracer's */
	if (!mcount_is_enabled())
		return "kernel.mcount_enabled is 0";
	if (mcount_error())
		return "functions could not be changed to call the tracer";
	if (mctracer_frozen_by())
		return "frozen";
	if (!mctracer_is_on())
		return "tracing_on is 0";
	if (READ_ONCE(mctracer_stopped))
		return "the rings are being replaced";
	if (READ_ONCE(mctracer_copying))
		return "the rings are being copied";
	return mctracer_rings_are_full() ? "the rings are full" : NULL;
}

bool mctracer_may_commit(void)
{
	return static_key_enabled(&mctracer_in_use);
}

void mctracer_clear(int only)
{
	unsigned long hole = mctracer_hole_count();
	int cpu;

	guard(mutex)(&mctracer_mutex);
	for_each_possible_cpu(cpu)
		if (only == MCTRACER_ALL_CPUS || cpu == only)
			mctracer_ring_clear(per_cpu_ptr(&mctracer_rings, cpu));
	mctracer_last_reader = NULL;
	if (only == MCTRACER_ALL_CPUS)
		mctracer_holes_cleared(hole);
	else
		mctracer_add_loss();	/* a return may have its call among the cleared ones */
	mctracer_invalidate_tasks(true);	/* so that all sync words are written again soon */
}
