// SPDX-License-Identifier: GPL-2.0
/*
 * Starting and stopping the tracer, and its memory.
 *
 * Rings are allocated at the first start, for each possible CPU, and kept: a
 * CPU may come at any time, and the records of one that went stay readable.
 */
#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/cleanup.h>
#include <linux/cpumask.h>
#include <linux/kernel.h>
#include <linux/lockdep.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/printk.h>
#include <linux/sizes.h>
#include <linux/topology.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>

#include "mctracer.h"

#undef pr_fmt
#define pr_fmt(fmt) "mctracer: " fmt

/*
 * Who makes or replaces rings, which takes long, since memory must be found. The
 * others are taken inside of it.
 */
static DEFINE_MUTEX(memory_mutex);
DEFINE_MUTEX(mctracer_mutex);	/* see mctracer.h */
/*
 * Which hook is registered. Taken inside mctracer_mutex, but alone to stop, which
 * so waits neither for readers nor for memory.
 */
static DEFINE_MUTEX(hook_mutex);

DEFINE_PER_CPU(struct mctracer_silences, mctracer_silences);
static size_t ring_size = SZ_1M;	/* 65536 records */
static bool have_rings;
static bool watching;	/* looking for silences */

unsigned long mctracer_options = BIT(MCTRACER_OVERWRITE);	/* see mctracer.h */

static mcount_direct_func_t hook_for(unsigned long opts)
{
	if (!mctracer_clock_is_cycles())
		return mctracer_hook_slow;
	if (opts & BIT(MCTRACER_CONTEXT))
		return opts & BIT(MCTRACER_OVERWRITE) ? mctracer_hook_context :
							mctracer_hook_keep_context;
	return opts & BIT(MCTRACER_OVERWRITE) ? mctracer_hook : mctracer_hook_keep;
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

/* NULL if there is no memory. Without the tracer's mutex. */
static struct mctracer_ring __percpu *alloc_rings(size_t size)
{
	struct mctracer_ring __percpu *rings;
	int cpu;

	lockdep_assert_held(&memory_mutex);

	if (!mctracer_memory_available(num_possible_cpus() * size))
		return NULL;
	rings = alloc_percpu(struct mctracer_ring);
	if (!rings)
		return NULL;
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

void mctracer_look(void)
{
	bool given_up = false;
	int cpu;

	lockdep_assert_held(&mctracer_mutex);

	for_each_possible_cpu(cpu) {
		given_up |= mctracer_silence_look(per_cpu_ptr(&mctracer_silences, cpu),
						  per_cpu_ptr(&mctracer_rings, cpu),
						  mctracer_clock_now());
		/* What user space has mapped stays true. */
		mctracer_clock_params(&per_cpu_ptr(&mctracer_rings, cpu)->user);
	}
	if (!given_up)
		return;
	/* The order is one of all CPUs. */
	for_each_possible_cpu(cpu)
		mctracer_silence_give_up(per_cpu_ptr(&mctracer_silences, cpu),
					 per_cpu_ptr(&mctracer_rings, cpu));
	pr_info("the machine slept: earlier records are given up\n");
}

static void look_work_fn(struct work_struct *work);
static DECLARE_DELAYED_WORK(look_work, look_work_fn);

static void look_again(void)
{
	queue_delayed_work(system_wq, &look_work, MCTRACER_LOOK_SECONDS * HZ);
}

/* Times by different clocks can't be told apart or compared: forget the old ones. */
static int check_clock(void)
{
	mcount_direct_func_t old = hook_for(mctracer_options);
	int cpu, ret = 0;

	if (!mctracer_clock_is_bad())
		return 0;
	scoped_guard(mutex, &hook_mutex) {
		mctracer_clock_change();
		if (mcount_direct_registered(old)) {
			ret = register_mcount_direct(hook_for(mctracer_options));
			if (ret)
				unregister_mcount_direct(old);
		}
	}
	for_each_possible_cpu(cpu) {
		*per_cpu_ptr(&mctracer_silences, cpu) = (struct mctracer_silences) {};
		mctracer_ring_clear(per_cpu_ptr(&mctracer_rings, cpu));
	}
	mctracer_consume_forget_times();
	return ret;
}

static void look_work_fn(struct work_struct *work)
{
	guard(mutex)(&mctracer_mutex);
	if (READ_ONCE(watching))
		check_clock();
	mctracer_look();
	if (READ_ONCE(watching))
		look_again();
}

size_t mctracer_ring_bytes(void)
{
	return READ_ONCE(ring_size);
}

/* True if our hook was registered. Then another one of ours is, that does nothing. */
static int pause_hook(bool *paused)
{
	guard(mutex)(&hook_mutex);
	*paused = mcount_direct_registered(hook_for(mctracer_options));
	return *paused ? register_mcount_direct(mctracer_hook_nothing) : 0;
}

/* Unless another hook has taken over meanwhile, or somebody has stopped the tracer. */
static int resume_hook(void)
{
	int ret;

	guard(mutex)(&hook_mutex);
	if (!mcount_direct_registered(mctracer_hook_nothing))
		return 0;
	ret = register_mcount_direct(hook_for(mctracer_options));
	if (ret)
		unregister_mcount_direct(mctracer_hook_nothing);
	return ret;
}

/* Larger or smaller rings take the place of those that there are. */
static int replace_rings(size_t size)
{
	struct mctracer_ring __percpu *new;
	bool paused;
	int ret;

	new = alloc_rings(size);
	if (!new)
		return -ENOMEM;

	mutex_lock(&mctracer_mutex);
	ret = pause_hook(&paused);
	if (!ret) {
		move_rings(new);
		WRITE_ONCE(ring_size, size);
		if (paused)
			ret = resume_hook();
	}
	mutex_unlock(&mctracer_mutex);

	free_rings(new);	/* what was not moved */
	free_percpu(new);
	return ret;
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
	int ret = 0;

	if (!size || size > MCTRACER_RING_MAX_SIZE)
		return -EINVAL;
	size = max(roundup_pow_of_two(size), MCTRACER_RING_MIN_SIZE);

	guard(mutex)(&memory_mutex);
	if (atomic_cmpxchg(&mappings, 0, -1))
		return -EBUSY;
	if (!have_rings)
		WRITE_ONCE(ring_size, size);
	else if (size != ring_size)
		ret = replace_rings(size);
	atomic_set(&mappings, 0);
	return ret;
}

int mctracer_set_option(enum mctracer_option option, bool on)
{
	unsigned long new;
	int cpu, ret;

	guard(mutex)(&mctracer_mutex);
	new = on ? mctracer_options | BIT(option) :
		   mctracer_options & ~BIT(option);

	if (!on && option == MCTRACER_OVERWRITE)
		for_each_possible_cpu(cpu)
			mctracer_ring_settle(per_cpu_ptr(&mctracer_rings, cpu));

	guard(mutex)(&hook_mutex);
	if (hook_for(new) != hook_for(mctracer_options)) {
		if (mcount_direct_registered(hook_for(mctracer_options))) {
			ret = register_mcount_direct(hook_for(new));
			if (ret)
				return ret;
		}
	}
	WRITE_ONCE(mctracer_options, new);
	return 0;
}

/* With @new rings, if there were none. On error they are as they were. */
static int start(struct mctracer_ring __percpu *new)
{
	int ret;

	guard(mutex)(&mctracer_mutex);

	ret = check_clock();
	if (ret)
		return ret;
	if (new)
		move_rings(new);
	/* Before records come: nobody has looked while there were none. */
	if (!READ_ONCE(watching))
		mctracer_look();

	scoped_guard(mutex, &hook_mutex) {
		ret = register_mcount_direct(hook_for(mctracer_options));
		if (!ret && !watching) {
			WRITE_ONCE(watching, true);
			look_again();
		}
	}
	if (ret && new)
		free_rings(&mctracer_rings);
	return ret;
}

int mctracer_start(void)
{
	struct mctracer_ring __percpu *new = NULL;
	int ret;

	guard(mutex)(&memory_mutex);
	if (!have_rings) {
		new = alloc_rings(ring_size);
		if (!new)
			return -ENOMEM;
	}
	ret = mctracer_comm_start() ?: start(new);
	if (!new)
		return ret;

	free_rings(new);	/* what was not moved */
	free_percpu(new);
	if (ret)
		mctracer_comm_stop();
	else	/* Only now may they be mapped: those of all CPUs are there to stay. */
		smp_store_release(&have_rings, true);
	return ret;
}

void mctracer_stop(void)
{
	scoped_guard(mutex, &hook_mutex) {
		/* -ENOENT: another hook has taken over, and ours is not running. */
		unregister_mcount_direct(hook_for(mctracer_options));
		unregister_mcount_direct(mctracer_hook_nothing);
		WRITE_ONCE(watching, false);
	}
	/* The last look is at what was recorded until now; that may wait for readers. */
	mod_delayed_work(system_wq, &look_work, 0);
}

bool mctracer_is_live(void)
{
	lockdep_assert_held(&mctracer_mutex);
	return mcount_direct_registered(hook_for(mctracer_options));
}

bool mctracer_started(void)
{
	guard(mutex)(&hook_mutex);
	return mcount_direct_registered(hook_for(mctracer_options)) ||
	       mcount_direct_registered(mctracer_hook_nothing);
}

void mctracer_clear(int only)
{
	int cpu;

	guard(mutex)(&mctracer_mutex);
	for_each_possible_cpu(cpu)
		if (only == MCTRACER_ALL_CPUS || cpu == only)
			mctracer_ring_clear(per_cpu_ptr(&mctracer_rings, cpu));
}
