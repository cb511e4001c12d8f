// SPDX-License-Identifier: GPL-2.0
/*
 * Starting and stopping the tracer, and its memory.
 *
 * Rings are allocated at the first start, for each possible CPU, and kept: a
 * CPU may come at any time, and the records of one that went stay readable.
 */
#include <linux/cleanup.h>
#include <linux/cpumask.h>
#include <linux/kernel.h>
#include <linux/lockdep.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/sizes.h>
#include <linux/timex.h>
#include <linux/topology.h>
#include <linux/workqueue.h>

#include "mctracer.h"

DEFINE_MUTEX(mctracer_mutex);	/* see mctracer.h */
DEFINE_PER_CPU(struct mctracer_silences, mctracer_silences);
static size_t ring_size = SZ_1M;	/* 65536 records */
static bool have_rings;
static bool watching;	/* looking for silences */

static void free_rings(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		mctracer_ring_free(per_cpu_ptr(&mctracer_rings, cpu));
}

static int alloc_rings(void)
{
	size_t pages = num_possible_cpus() * (ring_size / PAGE_SIZE);
	int cpu, ret;

	/*
	 * An estimate, but better than to find out by means of the OOM killer.
	 * Early in boot not all memory is counted yet.
	 */
	if (system_state == SYSTEM_RUNNING && si_mem_available() < (long)pages)
		return -ENOMEM;

	for_each_possible_cpu(cpu) {
		ret = mctracer_ring_alloc(per_cpu_ptr(&mctracer_rings, cpu),
					  ring_size, cpu_to_node(cpu));
		if (ret) {
			free_rings();
			return ret;
		}
	}
	return 0;
}

void mctracer_look(void)
{
	int cpu;

	lockdep_assert_held(&mctracer_mutex);

	for_each_possible_cpu(cpu)
		mctracer_silence_look(per_cpu_ptr(&mctracer_silences, cpu),
				      per_cpu_ptr(&mctracer_rings, cpu), get_cycles());
}

static void look_work_fn(struct work_struct *work);
static DECLARE_DELAYED_WORK(look_work, look_work_fn);

static void look_again(void)
{
	queue_delayed_work(system_wq, &look_work, MCTRACER_LOOK_SECONDS * HZ);
}

static void look_work_fn(struct work_struct *work)
{
	guard(mutex)(&mctracer_mutex);
	if (!watching)
		return;
	mctracer_look();
	look_again();
}

int mctracer_set_ring_size(u64 size)
{
	guard(mutex)(&mctracer_mutex);

	if (have_rings)
		return -EBUSY;
	if (!size || size > MCTRACER_RING_MAX_SIZE)
		return -EINVAL;
	ring_size = max(roundup_pow_of_two(size), MCTRACER_RING_MIN_SIZE);
	return 0;
}

int mctracer_start(void)
{
	int ret;

	guard(mutex)(&mctracer_mutex);

	if (!have_rings) {
		ret = alloc_rings();
		if (ret)
			return ret;
		have_rings = true;
	}
	ret = mctracer_comm_start();
	if (ret)
		return ret;
	ret = register_mcount_direct(mctracer_hook);
	if (ret)
		return ret;
	if (!watching) {
		watching = true;
		mctracer_look();
		look_again();
	}
	return 0;
}

void mctracer_stop(void)
{
	guard(mutex)(&mctracer_mutex);

	/* -ENOENT: another hook has taken over, and ours is not running. */
	unregister_mcount_direct(mctracer_hook);
	/* The work may be waiting for the mutex; then it finds out by itself. */
	watching = false;
	cancel_delayed_work(&look_work);
	mctracer_look();
}

bool mctracer_started(void)
{
	return mcount_direct_registered(mctracer_hook);
}

void mctracer_clear(void)
{
	int cpu;

	guard(mutex)(&mctracer_mutex);
	for_each_possible_cpu(cpu)
		mctracer_ring_clear(per_cpu_ptr(&mctracer_rings, cpu));
}
