// SPDX-License-Identifier: GPL-2.0
/*
 * Returns of selected functions, where call sites are ftrace's, which has none before returns.
 *
 * This uses rethook, as kretprobes do. While a selected function is called, its return address on
 * the stack is replaced by that of rethook's trampoline, so the function returns there. The
 * trampoline calls the handler below, and then returns to the real address. The unwinders know
 * rethook, and find the real address.
 *
 * In selections, a function has one site before its returns: at the address behind the first byte
 * of its call site. Nothing is patched there. A function of which the selection wants the return
 * calls the pre-handler below, instead of that of the selection. The order there matters: the
 * selection's pre-handler and the hook read the return address, so they are called before the
 * address is replaced. The hook is the plain one.
 *
 * A return is missed if too many of the selected calls have not returned yet, in an NMI, which may
 * have interrupted the pool that rethook takes its nodes from, if RCU does not watch at the call,
 * and while the system suspends: what it calls then is resumed elsewhere and never returns. A call
 * that has not returned when the selection is dropped returns through the trampoline later; no
 * handler is called then. So the pool stays from its first use on.
 *
 * All code here runs at each selected call, so it must not call a traced function: that would call
 * it again, without end.
 *
 * rethook takes the newest node that holds no trampoline for the one of the function that returns:
 * the returns of a task must be caught in the reverse order of the calls. A kretprobe's handler,
 * and what calls it, run between a call and the catching of its return, so their own returns would
 * come out of order: the task would return to a wrong address. These functions are in the blacklist
 * of kprobes, because a kretprobe could not catch their returns either. So no return of a function
 * in that blacklist is caught.
 */
#include <linux/cleanup.h>
#include <linux/container_of.h>
#include <linux/err.h>
#include <linux/ftrace.h>
#include <linux/hash.h>
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/llist.h>
#include <linux/mcount.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/ptrace.h>
#include <linux/rcupdate.h>
#include <linux/rethook.h>
#include <linux/sched.h>

#include "mcount.h"

/* The maximum number of calls that have not returned yet: many tasks may sleep in deep calls. */
#define CALLS	16384
/* Without a free node, rethook looks at all CPUs for one: do not ask again for so many calls. */
#define CALLS_WITHOUT_NODE	256

struct caught_call {
	struct rethook_node node;
	unsigned long ip;	/* what the site before the return would pass as ip */
};

/* NULL until a selection wants returns for the first time. */
static struct rethook *rethook;
/* The selection whose functions call, or called last, the pre-handler. */
static const struct mcount_selection *called;
/* The selection whose handlers get the returns; NULL: nothing gets them. */
static const struct mcount_selection *returned;

static DEFINE_PER_CPU(unsigned long, missed);
static DEFINE_PER_CPU(unsigned int, calls_without_node);

/*
 * Functions that do not return to where they were called: in another task, or to no caller. An
 * idle task's functions don't return when its CPU goes offline, and begin anew afterwards.
 */
static const char * const left_out_names[] = {
	"__switch_to", "arch_cpu_idle_dead", "bpf_throw", "cpu_startup_entry", "do_idle",
};

/* A hash table, at most half full, of the call sites of these functions and of the blacklisted. */
#define LEFT_OUT_BITS	11
static unsigned long left_out[1 << LEFT_OUT_BITS];
static unsigned int nr_left_out;

unsigned long mcount_returns_missed(void)
{
	unsigned long sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu(missed, cpu));
	return sum;
}

/* Return the place of @site in the table, or the free one that it would get. */
static unsigned long *mcount_rethook_place(unsigned long site)
{
	unsigned int i = hash_long(site, LEFT_OUT_BITS);
	unsigned long there;

	while ((there = READ_ONCE(left_out[i])) && there != site)
		i = (i + 1) % ARRAY_SIZE(left_out);
	return &left_out[i];
}

static int mcount_rethook_leave_out(unsigned long site)
{
	unsigned long *place = mcount_rethook_place(site);

	if (*place)
		return 0;
	if (nr_left_out == ARRAY_SIZE(left_out) / 2)
		return -ENOSPC;
	nr_left_out++;
	WRITE_ONCE(*place, site);
	return 0;
}

/* Leave out @site if kprobes do so. Without kprobes nothing is in their list. */
static int mcount_rethook_look_at(unsigned long site, void *data)
{
	if (!IS_ENABLED(CONFIG_KPROBES) || !within_kprobe_blacklist(site))
		return 0;
	return mcount_rethook_leave_out(site);
}

/* In O(functions x blacklist), once. */
static int mcount_rethook_fill_left_out(void)
{
	unsigned long func, site;
	unsigned int i;
	int ret = ftrace_walk_locations(NULL, mcount_rethook_look_at, NULL);

	for (i = 0; !ret && i < ARRAY_SIZE(left_out_names); i++) {
		func = kallsyms_lookup_name(left_out_names[i]);
		site = func ? mcount_function_site(func) : 0;
		if (site)
			ret = mcount_rethook_leave_out(site);
	}
	return ret;
}

unsigned long mcount_rethook_site(unsigned long site)
{
	return READ_ONCE(*mcount_rethook_place(site)) ? 0 : site + 1;
}

unsigned long mcount_next_return(unsigned long addr)
{
	/* This also finds a call site that begins before the range and ends within it. */
	unsigned long site = ftrace_location_range(addr - 1, addr + MCOUNT_SITE_OFFSET);

	return site && site >= addr - 1 ? mcount_rethook_site(site) : 0;
}

bool mcount_is_tail(unsigned long site)
{
	return false;
}

/*
 * The handler of rethook, with preemption disabled. The return address was directly behind @regs,
 * where the trampoline has saved the registers. The pre-handler for returns expects ips and struct
 * mcount_regs below it, since users identify a call by that place: put them there for a moment.
 */
static void mcount_return_caught(struct rethook_node *node, void *data, unsigned long parent_ip,
				 struct pt_regs *regs)
{
	const struct mcount_selection *of = READ_ONCE(returned);
	const unsigned long ip = container_of(node, struct caught_call, node)->ip;
	unsigned long *ips = (unsigned long *)(regs + 1) - 1;
	struct mcount_regs *below = container_of(ips, struct mcount_regs, ips[0]);
	unsigned long saved[] = { below->bp, ips[0], ips[1] };

	if (!of)
		return;
	below->bp = regs->bp;
	ips[0] = ip;
	ips[1] = parent_ip;
	if (of->return_pre_handler(ip, parent_ip, below, regs_return_value(regs)))
		of->plain_return(ip, parent_ip);
	below->bp = saved[0];
	ips[0] = saved[1];
	ips[1] = saved[2];
}

/* Return a node for a call that is made now, or NULL if its return can't be caught. */
static struct rethook_node *mcount_take_node(struct rethook *from)
{
	struct rethook_node *node;
	unsigned int left, found;

	if (in_nmi() || !rcu_is_watching() || system_state == SYSTEM_SUSPEND)
		return NULL;
	for (left = this_cpu_read(calls_without_node); left; left = found) {
		found = this_cpu_cmpxchg(calls_without_node, left, left - 1);
		if (found == left)	/* otherwise, an interrupt has counted, too */
			return NULL;
	}
	node = rethook_try_get(from);
	if (!node)
		this_cpu_write(calls_without_node, CALLS_WITHOUT_NODE);
	return node;
}

/* Catch by @from the return of the call whose return address is at @where. */
static void mcount_catch(struct rethook *from, unsigned long *where, unsigned long ip)
{
	struct pt_regs regs;	/* rethook only uses sp */
	struct rethook_node *node;

	guard(preempt_notrace)();
	node = mcount_take_node(from);
	if (!node) {
		this_cpu_inc(missed);
		return;
	}
	container_of(node, struct caught_call, node)->ip = ip;
	regs.sp = (unsigned long)where;
	rethook_hook(node, &regs, true);
}

/*
 * Call the handlers of @of for the call. If its function was jumped to by one whose return is
 * caught, they find the real return address.
 */
static bool mcount_handle_call(const struct mcount_selection *of, unsigned long ip,
			       unsigned long *where, const struct mcount_regs *regs, bool caught)
{
	const unsigned long found = *where;
	struct llist_node *cursor = NULL;
	bool record;

	if (is_rethook_trampoline(found))
		*where = rethook_find_ret_addr(current, (unsigned long)where, &cursor) ?: found;
	record = of->pre_handler(ip, *where, regs);
	if (record && caught)
		of->plain(ip, *where);
	*where = found;
	return record && !caught;
}

/* Return true if the return of a call that is made now at the call site @site must be caught. */
static bool mcount_must_catch(const struct mcount_selection *of, unsigned long site)
{
	unsigned long at;

	guard(preempt_notrace)();
	at = of->wants_return() ? mcount_rethook_site(site) : 0;
	return at && of->return_kind(at) != MCOUNT_NOTHING;
}

/*
 * The pre-handler of a selection that wants returns. The handlers run with preemption as it was,
 * which they may record.
 */
static bool mcount_catching_pre_handler(unsigned long ip, unsigned long parent_ip,
					const struct mcount_regs *regs)
{
	unsigned long *where = (unsigned long *)regs->ips + 1;
	const struct mcount_selection *of;
	struct rethook *from;
	bool record, caught;

	/* Pairs with mcount_rethook_prepare(): if it is there, so is all of left_out. */
	from = smp_load_acquire(&rethook);
	of = READ_ONCE(called);
	/* Without it the selection is not in effect yet. */
	caught = from && mcount_must_catch(of, ip - MCOUNT_SITE_SIZE);
	record = mcount_handle_call(of, ip, where, regs, caught);
	if (caught)
		mcount_catch(from, where, ip + 1);
	return record;
}

mcount_pre_handler_t mcount_rethook_pre_handler(const struct mcount_selection *of)
{
	if (!mcount_sees_returns(of))
		return of->pre_handler;
	WRITE_ONCE(called, of);
	return mcount_catching_pre_handler;
}

void mcount_rethook_switch(const struct mcount_selection *of)
{
	WRITE_ONCE(returned, of);
}

int mcount_rethook_prepare(const struct mcount_selection *of)
{
	struct rethook *new;
	int ret;

	if (rethook || !mcount_sees_returns(of))
		return 0;
	ret = mcount_rethook_fill_left_out();
	if (ret)
		return ret;
	new = rethook_alloc(NULL, mcount_return_caught, sizeof(struct caught_call), CALLS);
	if (IS_ERR(new))
		return PTR_ERR(new);
	smp_store_release(&rethook, new);	/* left_out before it */
	return 0;
}

bool mcount_rethook_plain(unsigned long site, unsigned long parent_ip)
{
	const struct mcount_selection *of = READ_ONCE(returned);	/* valid until dropped */

	if (!of)	/* with this pre-handler: a selection with returns begins or ends */
		return READ_ONCE(mcount_pre_handler) == mcount_catching_pre_handler;
	if (of->kind(site) != MCOUNT_HOOK)
		return false;
	of->plain(site + MCOUNT_SITE_SIZE, parent_ip);
	if (mcount_must_catch(of, site))
		this_cpu_inc(missed);
	return true;
}
