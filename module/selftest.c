// SPDX-License-Identifier: GPL-2.0
/*
 * Records some calls when the module is loaded, reads them, and undoes all of it. So on a kernel for
 * which the tracer is wrong, loading the module fails with a message, before there are files.
 */
#include <linux/gcd.h>
#include <linux/mcount.h>
#include <linux/mctracer.h>
#include <linux/moduleparam.h>
#include <linux/printk.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/sizes.h>

#include "base.h"
#include "mctracer/control/control.h"
#include "mctracer/record/record.h"
#include "mctracer/select/select.h"

#undef pr_fmt
#define pr_fmt(fmt) "mctracer: " fmt

#define CALLS	10

/* The self-test must find so many calls and returns. A test sets a wrong number, which must refuse the module. */
static unsigned int expected __initdata = CALLS;
module_param_named(selftest_expects, expected, uint, 0);

/* Addresses of calls and returns lie in the first bytes of gcd(), and so far behind the caller's. */
#define GCD_HEAD	16
#define CALLER_SIZE	256

/* What is found of the calls of selftest_call(). */
struct found {
	unsigned int calls, returns, wrong_times;
};

/* Call a function of the kernel that is traced, and that hardly anything else calls. */
static noinline __init void selftest_call(void)
{
	unsigned long i;

	for (i = 0; i < CALLS; i++)
		WARN_ON_ONCE(gcd(12 + 36 * i, 36) != 12);
}

/* Count an event, which must lie between the times @from and @to, in nanoseconds. */
static __init void selftest_see(struct found *found, const struct mctracer_stream *stream, u64 from,
				u64 to)
{
	const struct mctracer_cursor *cursor = &stream->cursor;
	const struct mctracer_state *state = &cursor->state;
	const u32 callee = (unsigned long)gcd, caller = (unsigned long)selftest_call;

	if (stream->found != MCTRACER_FOUND_CALL && stream->found != MCTRACER_FOUND_RETURN)
		return;
	if (state->pid != task_pid_nr(current) ||
	    state->ip - callee >= GCD_HEAD || state->parent_ip - caller >= CALLER_SIZE)
		return;
	if (stream->found == MCTRACER_FOUND_CALL)
		found->calls++;
	else
		found->returns++;
	found->wrong_times += cursor->ns < from || cursor->ns > to;
}

/* Read all rings. Return 0 or -ENOMEM. */
static __init int selftest_read(struct found *found, u64 from, u64 to)
{
	struct mctracer_ring_copy *copy = mctracer_ring_copy_take(MCTRACER_ALL_CPUS);
	const struct mctracer_stream *stream;
	int cpu;

	if (!copy)
		return -ENOMEM;
	while ((stream = mctracer_ring_copy_next(copy, &cpu))) {
		selftest_see(found, stream, from, to);
		mctracer_ring_copy_advance(copy);
	}
	mctracer_ring_copy_free(copy);
	return 0;
}

/* Record the calls of selftest_call(). Return 0 or an error. */
static __init int selftest_record(struct found *found)
{
	char filter[] = "gcd";
	u64 from, to;
	int ret;

	ret = mctracer_set_functions(MCTRACER_FILTER, filter, false) ?:
	      mctracer_set_option(MCTRACER_OPT_TIME, true) ?:
	      (MCOUNT_HAS_RETURNS ? mctracer_set_graph(true) : 0) ?:
	      mctracer_start() ?: mcount_set_enabled(true);
	if (ret)
		return ret;
	from = local_clock();
	selftest_call();
	to = local_clock();
	mctracer_stop();
	/* Times are even numbers of cycles. */
	return selftest_read(found, from - NSEC_PER_USEC, to + NSEC_PER_USEC);
}

/* Set everything back. Return 0 or the first error. */
static __init int selftest_undo(size_t ring_size)
{
	char nothing[1] = "";
	int ret;

	mctracer_stop();
	ret = mcount_set_enabled(false);
	ret = (MCOUNT_HAS_RETURNS ? mctracer_set_graph(false) : 0) ?: ret;
	ret = mctracer_set_option(MCTRACER_OPT_TIME, false) ?: ret;
	ret = mctracer_set_functions(MCTRACER_FILTER, nothing, false) ?: ret;
	mctracer_clear(MCTRACER_ALL_CPUS);
	mctracer_free_rings();
	return mctracer_set_ring_size(ring_size) ?: ret;
}

static __init int selftest(void)
{
	const size_t ring_size = mctracer_ring_bytes();
	struct found found = {};
	int ret, undone;

	ret = mctracer_set_ring_size(SZ_64K) ?: selftest_record(&found);
	undone = selftest_undo(ring_size);
	if (ret || undone) {
		pr_err("the self-test failed: %pe\n", ERR_PTR(ret ?: undone));
		return ret ?: undone;
	}
	if (found.calls == expected && found.returns == (MCOUNT_HAS_RETURNS ? expected : 0) &&
	    !found.wrong_times)
		return 0;
	pr_err("the self-test found %u calls and %u returns of %u, %u with wrong times: this kernel can't be traced\n",
	       found.calls, found.returns, expected, found.wrong_times);
	return -EOPNOTSUPP;
}
/* Linked before the files: see Kbuild. */
late_initcall(selftest);
