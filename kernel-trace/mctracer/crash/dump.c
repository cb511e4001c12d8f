// SPDX-License-Identifier: GPL-2.0
/*
 * Print the last events before a crash on the console. No other file uses this one.
 *
 * mctracer.dump=N: when the kernel oopses or panics while the tracer records, print the last N
 * calls and returns of each CPU, in time order, as lines of the file trace. pstore saves the
 * console's text, and so saves these lines.
 *
 * The code that crashed may hold any lock, and may be a reader or an NMI. So the dump takes no
 * lock, allocates nothing and waits for nothing: setting N allocates what the dump needs, and the
 * dump reads the rings in place. The rings are frozen, and the dump counts as a mapping by user
 * space, so nobody can replace the rings meanwhile. If they are just being replaced, the dump does
 * not read them.
 *
 * The first CPU that crashes dumps the rings, once for each freeze. A crash of the dump itself
 * calls dump_rings() again, which ends the dump and does nothing else.
 */
#include <linux/atomic.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/init.h>
#include <linux/kdebug.h>
#include <linux/kstrtox.h>
#include <linux/limits.h>
#include <linux/moduleparam.h>
#include <linux/nmi.h>
#include <linux/notifier.h>
#include <linux/panic_notifier.h>
#include <linux/printk.h>
#include <linux/seq_buf.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>

#include "../control/control.h"
#include "../files/text.h"
#include "../record/record.h"
#include "../ring/cursor.h"
#include "../ring/ring.h"
#include "../ring/streams.h"

#ifndef MODULE	/* a module's name is the prefix already */
#undef MODULE_PARAM_PREFIX
#define MODULE_PARAM_PREFIX "mctracer."
#endif

#define NOBODY	-1

static unsigned int calls;	/* to print of each CPU; 0: print nothing */
static struct mctracer_streams all;	/* indexed by CPU */
static struct mctracer_text *text;
static bool prepared;		/* all and text are allocated */
static int dumped;		/* mctracer_freezes, at the last dump */
static int dumper = NOBODY;	/* the CPU that dumps; */
static bool holding;		/* it keeps the rings from being replaced */

/* Return the position of the last @n calls and returns of @ring, or of as many as there are. */
static u64 dump_last_calls(const struct mctracer_ring *ring, unsigned int n)
{
	u64 first = mctracer_ring_oldest(ring), end = mctracer_ring_end(ring), pos = end, word;
	enum mctracer_read ret;

	if (mctracer_distance(ring->user.start, end) < mctracer_distance(first, end))
		first = ring->user.start;	/* cleared after first */
	while (n && pos != first) {
		pos = mctracer_position(pos - MCTRACER_WORD_SIZE);
		ret = mctracer_ring_read(ring, pos, &word);
		if (ret == MCTRACER_READ_OVERWRITTEN)
			break;			/* somebody has thawed the rings */
		if (ret == MCTRACER_READ_OK && mctracer_word_counts(word))
			n--;
	}
	return pos;
}

/* Move the stream of each CPU to its last @n calls and returns. */
static void dump_begin(unsigned int n)
{
	const struct mctracer_ring *ring;
	int cpu;

	mctracer_text_rewind(text);
	memset(all.streams, 0, nr_cpu_ids * sizeof(*all.streams));
	for_each_possible_cpu(cpu) {
		ring = per_cpu_ptr(&mctracer_rings, cpu);
		touch_nmi_watchdog();
		mctracer_cursor_begin(&all.streams[cpu].cursor, ring, NULL, false,
				      dump_last_calls(ring, n), false);
		all.streams[cpu].found = mctracer_cursor_next(&all.streams[cpu].cursor);
	}
	mctracer_streams_order(&all);
}

/* Print while the rings stay frozen: else printing would record events, and never end. */
static void dump_print(unsigned int n, int freezes)
{
	struct mctracer_stream *stream;
	const struct seq_buf *line;

	pr_emerg("mctracer: frozen: %s; the last %u calls of each CPU:\n", mctracer_frozen_by(), n);
	dump_begin(n);
	while ((stream = mctracer_streams_oldest(&all))) {
		if (!mctracer_frozen_by() || READ_ONCE(mctracer_freezes) != freezes ||
		    stream->found == MCTRACER_FOUND_OVERWRITTEN)
			break;
		line = mctracer_text_event(text, stream, stream - all.streams);
		pr_emerg("%.*s", (int)line->len, line->buffer);
		mctracer_streams_advance(&all);
		touch_nmi_watchdog();
	}
	pr_emerg("mctracer: end of the last calls\n");
}

static void dump_end(void)
{
	if (xchg(&holding, false))
		mctracer_unmapped();
	WRITE_ONCE(dumper, NOBODY);
}

/* Dump the rings, unless they were dumped since they were frozen. Any context, interrupts off. */
static void dump_rings(void)
{
	int freezes = READ_ONCE(mctracer_freezes), cpu = READ_ONCE(dumper), ret;
	unsigned int n = READ_ONCE(calls);

	if (cpu == raw_smp_processor_id()) {	/* the dump itself has crashed */
		dump_end();
		return;
	}
	/* D2: prepared before text and all, with D1 */
	if (!n || !smp_load_acquire(&prepared) || !mctracer_frozen_by() ||
	    xchg(&dumped, freezes) == freezes ||
	    cmpxchg(&dumper, NOBODY, raw_smp_processor_id()) != NOBODY)
		return;

	ret = mctracer_mapped();
	if (!ret) {
		WRITE_ONCE(holding, true);
		dump_print(n, freezes);
	} else if (ret == -EBUSY) {
		pr_emerg("mctracer: the last calls can't be read: the rings were just being replaced\n");
	}
	dump_end();
}

static int dump_on_oops(struct notifier_block *nb, unsigned long event, void *data)
{
	if (event == DIE_OOPS)
		dump_rings();
	return NOTIFY_DONE;
}

static int dump_on_panic(struct notifier_block *nb, unsigned long event, void *data)
{
	int cpu = READ_ONCE(dumper);

	/* The panic has stopped the dumping CPU, but text and all may be inconsistent. */
	if (cpu != NOBODY && cpu != raw_smp_processor_id())
		pr_emerg("mctracer: CPU %d was stopped while it printed the last calls\n", cpu);
	dump_rings();
	return NOTIFY_DONE;
}

/*
 * Run before other notifiers, which may print much. An oops gets here before kdump, a panic after.
 */
static struct notifier_block oops_notifier = {
	.notifier_call	= dump_on_oops,
	.priority	= INT_MAX - 1,
};

static struct notifier_block panic_notifier = {
	.notifier_call	= dump_on_panic,
	.priority	= INT_MAX - 1,
};

/* Allocate what the dump needs, once. May sleep. Return 0 or -ENOMEM. */
static int dump_prepare(void)
{
	if (prepared)
		return 0;
	text = mctracer_text_alloc(false, true);
	if (!text || mctracer_streams_alloc(&all, nr_cpu_ids)) {
		mctracer_text_free(text);
		return -ENOMEM;
	}
	smp_store_release(&prepared, true);	/* D1: text and all before prepared */
	register_die_notifier(&oops_notifier);
	atomic_notifier_chain_register(&panic_notifier_list, &panic_notifier);
	return 0;
}

/*
 * Set N. The command line sets it before memory can be allocated: then mctracer_dump_init()
 * prepares.
 */
static int dump_set_calls(const char *value, const struct kernel_param *kp)
{
	unsigned int n;
	int ret;

	ret = kstrtouint(value, 0, &n);
	if (!ret && n && slab_is_available())
		ret = dump_prepare();
	if (!ret)
		WRITE_ONCE(calls, n);
	return ret;
}

static const struct kernel_param_ops calls_ops = {
	.set	= dump_set_calls,
	.get	= param_get_uint,
};

module_param_cb(dump, &calls_ops, &calls, 0644);
MODULE_PARM_DESC(dump, "Calls of each CPU to print when the kernel crashes");

static int __init mctracer_dump_init(void)
{
	int ret = calls ? dump_prepare() : 0;

	if (ret)
		pr_warn("mctracer: \"mctracer.dump=%u\" can't be obeyed: %pe\n",
			calls, ERR_PTR(ret));
	return ret;
}
early_initcall(mctracer_dump_init);
