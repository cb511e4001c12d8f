// SPDX-License-Identifier: GPL-2.0
/*
 * Loads and unloads the module: finds symbols that the kernel does not export, runs the series'
 * initcalls, and undoes at unload what they did. Also has the replacements that compat.h declares.
 */
#include <linux/err.h>
#include <linux/kprobes.h>
#include <linux/list.h>
#include <linux/mcount.h>
#include <linux/mctracer.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <linux/xarray.h>

#include "compat.h"
#include "base.h"
#include "mctracer/control/control.h"
#include "mctracer/files/debugfs.h"
#include "mctracer/files/text.h"
#include "mctracer/record/record.h"
#include "mctracer/record/triggers.h"
#include "mctracer/select/select.h"

#undef pr_fmt
#define pr_fmt(fmt) "mctracer: " fmt

/* Symbols that the kernel does not export. */

#define DEFINE_FUNCTION(name)	DEFINE_STATIC_CALL_NULL(mctracer_##name, name);
MCTRACER_COMPAT_FUNCTIONS(DEFINE_FUNCTION)

#define DEFINE_POINTER(type, name)	type *mctracer_at_##name __ro_after_init;
MCTRACER_COMPAT_DATA(DEFINE_POINTER)

struct mctracer_ring __percpu *mctracer_at_mctracer_rings __ro_after_init;

DEFINE_STATIC_CALL_NULL(mctracer_kallsyms_lookup_name, kallsyms_lookup_name);

static unsigned long __init find_symbol_by_name(const char *name, int *ret)
{
	unsigned long addr = static_call(mctracer_kallsyms_lookup_name)(name);

	if (!addr) {
		pr_err("this kernel has no %s\n", name);
		*ret = -ENOENT;
	}
	return addr;
}

/*
 * Find all symbols. A kprobe finds the address of kallsyms_lookup_name(), which finds the others.
 */
static int __init find_symbols(void)
{
	struct kprobe probe = { .symbol_name = "kallsyms_lookup_name" };
	unsigned long addr;
	int ret;

	ret = register_kprobe(&probe);
	if (ret) {
		pr_err("kallsyms_lookup_name() can't be probed: %pe\n", ERR_PTR(ret));
		return ret;
	}
	addr = (unsigned long)probe.addr;
	unregister_kprobe(&probe);
	static_call_update(mctracer_kallsyms_lookup_name, (typeof(&kallsyms_lookup_name))addr);

#define FIND_FUNCTION(name)						\
	addr = find_symbol_by_name(#name, &ret);			\
	if (addr)							\
		static_call_update(mctracer_##name, (typeof(&name))addr);
	MCTRACER_COMPAT_FUNCTIONS(FIND_FUNCTION)

#define FIND_POINTER(type, name)					\
	mctracer_at_##name = (type *)find_symbol_by_name(#name, &ret);
	MCTRACER_COMPAT_DATA(FIND_POINTER)

	return ret;
}

bool mctracer_compat_kernel_text(unsigned long addr)
{
	return addr >= (unsigned long)mctracer_at__stext && addr < (unsigned long)mctracer_at__etext;
}

bool mctracer_compat_kernel(unsigned long addr)
{
	return addr >= (unsigned long)mctracer_at__stext && addr < (unsigned long)mctracer_at__end;
}

bool mctracer_compat_kernel_inittext(unsigned long addr)
{
	return addr >= (unsigned long)mctracer_at__sinittext &&
	       addr < (unsigned long)mctracer_at__einittext;
}

#ifdef CONFIG_MCOUNT_RETHOOK
static void undo_rethook(void *rethook)
{
	static_call(mctracer_rethook_free)(rethook);	/* when the last call has returned */
}

/* Allocate nodes for returns, until the module is unloaded. */
struct rethook *mctracer_compat_rethook(void *data, mctracer_compat_returned *handler, size_t size,
					int nr)
{
	struct rethook *rethook = mctracer_compat_rethook_alloc(data, handler, size, nr);

	if (!IS_ERR(rethook))
		mctracer_undo_later(false, undo_rethook, rethook);
	return rethook;
}
#endif /* CONFIG_MCOUNT_RETHOOK */

bool mctracer_compat_ready;

/* Exported for modules with direct hooks. Assembly can't export it here, see compat.h. */
void arch_mcount_call_preserving(void);
EXPORT_SYMBOL_GPL(arch_mcount_call_preserving);

/* ftrace */

/*
 * Functions that are left out of tracing: those that pre-handlers call, which would be recorded at
 * each trigger; those that a CPU runs after it reported itself dead, because no grace period waits
 * for a hook there; and those that a CPU runs before it can handle a breakpoint, which ftrace puts
 * there while it changes the call sites. With the series, the kernel compiles nearly all of them
 * without call sites.
 */
static char *const not_traced[] = {
	"__cpuidle_get_cpu_driver",
	"__is_insn_slot_addr",
	"__kernel_text_address",
	"__module_address",
	"__module_text_address",
	"__phys_addr",
	"__unwind_start",
	"acpi_idle_play_dead",
	"acpi_processor_ffh_play_dead",
	"arch_rethook_fixup_return",
	"arch_rethook_prepare",
	"arch_rethook_trampoline_callback",
	"arch_irq_work_raise",
	"bpf_ksym_find",
	"cond_wakeup_cpu0",
	"copy_from_kernel_nofault",
	"copy_from_kernel_nofault_allowed",
	"cpu_init_fred_exceptions",
	"cpu_report_death",
	"cpuhp_ap_report_dead",
	"cpuidle_get_cpu_driver",
	"cpuidle_play_dead",
	"ftrace_graph_ret_addr",
	"get_stack_info",
	"hlt_play_dead",
	"in_gate_area_no_mm",
	"intel_idle_enter_dead",
	"irq_work_queue",
	"is_bpf_text_address",
	"is_module_text_address",
	"kernel_text_address",
	"load_current_idt",
	"mod_find",
	"mwait_play_dead",
	"native_play_dead",
	"play_dead_common",
	"rethook_find_ret_addr",
	"setup_ghcb",
	"sev_es_ap_hlt_loop",
	"sev_es_play_dead",
	"stack_access_ok",
	"tboot_enabled",
	"tboot_shutdown",
	"unwind_get_return_address",
	"unwind_get_return_address_ptr",
	"unwind_next_frame",
	"wait_for_freeze",
};

static unsigned long not_traced_sites[ARRAY_SIZE(not_traced)];

static void __init find_not_traced(void)
{
	unsigned long addr;
	int i;

	for (i = 0; i < ARRAY_SIZE(not_traced); i++) {
		addr = static_call(mctracer_kallsyms_lookup_name)(not_traced[i]);
		if (addr)
			not_traced_sites[i] = static_call(mctracer_ftrace_location_range)
						(addr, addr + MCOUNT_SITE_OFFSET);
	}
}

unsigned long mctracer_compat_location(unsigned long start, unsigned long end)
{
	unsigned long site = static_call(mctracer_ftrace_location_range)(start, end);
	int i;

	for (i = 0; site && i < ARRAY_SIZE(not_traced_sites); i++)
		if (not_traced_sites[i] == site)
			return 0;
	return site;
}

static void undo_filter(void *ops)
{
	ftrace_free_filter(ops);
}

/*
 * Leave the functions out of @ops, by name, when @ops is registered for the first time: ftrace
 * keeps the list when @ops is unregistered. Pre-handlers have lists of their own.
 */
static void leave_out(struct ftrace_ops *ops)
{
	static struct ftrace_ops *done[4];
	int i, ret;

	for (i = 0; i < ARRAY_SIZE(done) && done[i]; i++)
		if (done[i] == ops)
			return;
	if (WARN_ON_ONCE(i == ARRAY_SIZE(done)))
		return;
	done[i] = ops;
	mctracer_undo_later(false, undo_filter, ops);
	for (i = 0; ops->trampoline == (unsigned long)arch_mcount_stub && i < ARRAY_SIZE(not_traced);
	     i++) {
		if (!not_traced_sites[i])
			continue;
		ret = ftrace_set_notrace(ops, not_traced[i], strlen(not_traced[i]), 0);
		if (ret)
			pr_warn("%s can't be left out: %pe\n", not_traced[i], ERR_PTR(ret));
	}
}

int mctracer_compat_register(struct ftrace_ops *ops)
{
	leave_out(ops);
	return register_ftrace_function(ops);
}

/* True if functions call the stub forever, so that the module must stay. */
static bool stuck;

static void stay(void)
{
	if (stuck)
		return;
	stuck = true;
	__module_get(THIS_MODULE);
	pr_err("ftrace is dead: the module can't be unloaded\n");
}

/* Unregister @ops. After an internal error ftrace changes nothing any more, so keep the module. */
int mctracer_compat_unregister(struct ftrace_ops *ops)
{
	int ret = unregister_ftrace_function(ops);

	if (ret || static_call(mctracer_ftrace_is_dead)())
		stay();
	return ret;
}

/* Functions that the series adds to ftrace. */

struct found_location {
	ftrace_location_fn fn;
	void *data;
};

static int see_symbol(void *data, const char *name, unsigned long addr)
{
	const struct found_location *found = data;
	unsigned long site = mctracer_compat_location(addr, addr + MCOUNT_SITE_OFFSET);

	if (need_resched())
		cond_resched();
	return site ? found->fn(site, found->data) : 0;
}

/*
 * Call @fn for each call site, found by symbols: a function with several names comes several times.
 */
int ftrace_walk_locations(struct module *mod, ftrace_location_fn fn, void *data)
{
	struct found_location found = { .fn = fn, .data = data };

	if (mod)
		return mctracer_compat_on_modules_symbol(mod->name, see_symbol, &found);
	return mctracer_compat_on_each_symbol(see_symbol, &found) ?:
	       mctracer_compat_on_modules_symbol(NULL, see_symbol, &found);
}

/* ftrace can't leave out addresses for a module; the module only calls this with @cnt 0. */
int ftrace_set_notrace_ips(struct ftrace_ops *ops, unsigned long *ips, unsigned int cnt, int remove,
			   int reset)
{
	return cnt ? -EOPNOTSUPP : 0;
}

/*
 * Return true if ftrace sends calls at @ip elsewhere. A module can't read ftrace's records, so ask
 * all ops.
 */
bool ftrace_goes_elsewhere(unsigned long ip)
{
	bool missed = mctracer_compat_watch();
	struct ftrace_ops *ops;

	for (ops = READ_ONCE(*mctracer_at_ftrace_ops_list); ops; ops = READ_ONCE(ops->next))
		if (ops->flags & (FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_DIRECT) &&
		    static_call(mctracer_ftrace_ops_test)(ops, ip, &ops))	/* anything but NULL */
			break;
	mctracer_compat_unwatch(missed);
	return ops;
}

/* Actions to undo, the latest first. mctracer_undo_later() may sleep. */

struct undo {
	struct list_head list;
	void (*undo)(void *arg);
	void *arg;
};

static DEFINE_MUTEX(undo_mutex);
/* Files and sysctls, which user space sees; and all other actions. */
static LIST_HEAD(files);
static LIST_HEAD(others);

void mctracer_undo_later(bool file, void (*undo)(void *arg), void *arg)
{
	struct undo *new = kmalloc(sizeof(*new), GFP_KERNEL | __GFP_NOFAIL);

	new->undo = undo;
	new->arg = arg;
	mutex_lock(&undo_mutex);
	list_add(&new->list, file ? &files : &others);
	mutex_unlock(&undo_mutex);
}

static void undo_all(struct list_head *of)
{
	struct undo *undo, *next;

	list_for_each_entry_safe(undo, next, of, list) {
		undo->undo(undo->arg);
		kfree(undo);
	}
}

static void undo_module_notifier(void *nb)
{
	unregister_module_notifier(nb);
}

int mctracer_compat_module_notifier(struct notifier_block *nb)
{
	int ret = register_module_notifier(nb);

	if (!ret)
		mctracer_undo_later(false, undo_module_notifier, nb);
	return ret;
}

static void undo_die_notifier(void *nb)
{
	unregister_die_notifier(nb);
}

int mctracer_compat_die_notifier(struct notifier_block *nb)
{
	int ret = register_die_notifier(nb);

	if (!ret)
		mctracer_undo_later(false, undo_die_notifier, nb);
	return ret;
}

static void undo_panic_notifier(void *nb)
{
	atomic_notifier_chain_unregister(&panic_notifier_list, nb);
}

int mctracer_compat_panic_notifier(struct notifier_block *nb)
{
	int ret = atomic_notifier_chain_register(&panic_notifier_list, nb);

	if (!ret)
		mctracer_undo_later(false, undo_panic_notifier, nb);
	return ret;
}

static u8 sysrq_key;

static void undo_sysrq_key(void *op)
{
	unregister_sysrq_key(sysrq_key, op);
}

/* Register the SysRq key; do without it if another user has it. */
int mctracer_compat_sysrq_key(u8 key, const struct sysrq_key_op *op)
{
	if (register_sysrq_key(key, op)) {
		pr_info("SysRq-%c is already in use\n", key);
		return 0;
	}
	sysrq_key = key;
	mctracer_undo_later(false, undo_sysrq_key, (void *)op);
	return 0;
}

static void undo_dir(void *dir)
{
	debugfs_remove(dir);
}

struct dentry *mctracer_compat_dir(const char *name, struct dentry *parent)
{
	struct dentry *dir = debugfs_create_dir(name, parent);

	if (!parent && !IS_ERR(dir))
		mctracer_undo_later(true, undo_dir, dir);
	return dir;
}

static void undo_calloc(void *memory)
{
	kvfree(memory);
}

void *mctracer_compat_calloc(size_t n, size_t size)
{
	void *memory = kvcalloc(n, size, GFP_KERNEL);

	if (memory)
		mctracer_undo_later(false, undo_calloc, memory);
	return memory;
}

static void undo_text(void *text)
{
	mctracer_text_free(text);
}

struct mctracer_text *mctracer_compat_text_alloc(bool addresses, bool crash)
{
	struct mctracer_text *text = mctracer_text_alloc(addresses, crash);

	if (text)
		mctracer_undo_later(false, undo_text, text);
	return text;
}

void mctracer_compat_text_keep(struct mctracer_text *text)
{
}

/* Work */

struct workqueue_struct *mctracer_compat_wq __ro_after_init;

static struct delayed_work *delayed[8];

/*
 * Queue @work, and remember it for stop_work(). There are few works, which exist as long as the
 * module.
 */
bool mctracer_compat_queue_delayed(struct delayed_work *work, unsigned long delay)
{
	struct delayed_work *other = NULL;
	int i;

	for (i = 0; i < ARRAY_SIZE(delayed) && other != work; i++) {
		other = cmpxchg(&delayed[i], NULL, work);
		if (!other)
			break;
	}
	if (WARN_ON_ONCE(i == ARRAY_SIZE(delayed)))
		return false;
	return queue_delayed_work(mctracer_compat_wq, work, delay);
}

static void stop_work(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(delayed) && delayed[i]; i++)
		cancel_delayed_work_sync(delayed[i]);
	destroy_workqueue(mctracer_compat_wq);
}

/* CPU hotplug callbacks, which must be removed before the workqueue is destroyed. */

static int hotplug_states[2];
static int nr_hotplug_states;

int mctracer_compat_hotplug(enum cpuhp_state state, const char *name,
			    int (*startup)(unsigned int cpu), int (*teardown)(unsigned int cpu))
{
	int ret = cpuhp_setup_state_nocalls(state, name, startup, teardown);

	if (ret >= 0 && !WARN_ON_ONCE(nr_hotplug_states == ARRAY_SIZE(hotplug_states)))
		hotplug_states[nr_hotplug_states++] = ret;
	return ret;
}

static void stop_hotplug(void)
{
	while (nr_hotplug_states)
		cpuhp_remove_state_nocalls(hotplug_states[--nr_hotplug_states]);
}

/* compat.o is linked before all initcalls, compat_end.o after them. */
static const initcall_t initcalls_begin[0] __used __section(".init.data.mctracer");
extern const initcall_t mctracer_initcalls_end[];

static int __init call_initcalls(void)
{
	const initcall_t *call;
	int ret;

	for (call = initcalls_begin; call < mctracer_initcalls_end; call++) {
		ret = (*call)();
		if (ret) {
			pr_err("%ps: %pe\n", *call, ERR_PTR(ret));
			return ret;
		}
	}
	return 0;
}

/*
 * Undo everything. No file of the module is open, so only callers that this function removes can
 * still call the module.
 */
static void quit(void)
{
	char nothing[1];

	kernel_param_lock(THIS_MODULE);
	WRITE_ONCE(mctracer_compat_ready, false);
	kernel_param_unlock(THIS_MODULE);
	undo_all(&files);
	mctracer_base_stop();
	mctracer_stop();
	mcount_set_enabled(false);
	*nothing = '\0';
	mctracer_set_triggers(nothing, false);
	mctracer_set_functions(MCTRACER_FILTER, nothing, false);
	mctracer_set_functions(MCTRACER_NOTRACE, nothing, false);
	mctracer_set_pids(nothing, false);
	mctracer_snapshot_clear();
	stop_hotplug();
	mctracer_cancel_turn_off();	/* the callbacks of hotplug may have queued it again */
	stop_work();
	undo_all(&others);
	xa_destroy(mctracer_compat_xarray);
	mctracer_free_rings();
	free_percpu(mctracer_at_mctracer_rings);
	mctracer_marks_free();
}

static void do_nothing(unsigned long ip, unsigned long parent_ip, struct ftrace_ops *ops,
		       struct ftrace_regs *regs)
{
}

/*
 * Keeps ftrace switched on: kprobes at the heads of functions use ftrace, and while it is off
 * unregister_kprobe() fails without a word and leaves a pointer to the probe.
 */
static struct ftrace_ops holder;

/* Keep ftrace on until release_ftrace(). Return 0, -EBUSY if it is off, or another error. */
static int hold_ftrace(void)
{
	int ret;

	/* Anew each time: ftrace_free_filter() leaves pointers to what it frees. */
	holder = (struct ftrace_ops) { .func = do_nothing, .flags = FTRACE_OPS_FL_PERMANENT };
	/* Not the self-test's function: it calls the stub only if nothing else traces it. */
	ret = ftrace_set_filter(&holder, "lcm", strlen("lcm"), 1) ?:
	      register_ftrace_function(&holder);
	if (ret)
		ftrace_free_filter(&holder);
	return ret;
}

static void release_ftrace(void)
{
	if (unregister_ftrace_function(&holder))
		stay();
	else
		ftrace_free_filter(&holder);
}

static int __init begin(void)
{
	int ret;

	ret = find_symbols();
	if (ret)
		return ret;
	find_not_traced();
	mctracer_at_mctracer_rings = alloc_percpu(struct mctracer_ring);
	if (!mctracer_at_mctracer_rings)
		return -ENOMEM;
	mctracer_compat_wq = alloc_workqueue("mctracer", WQ_UNBOUND, 0);
	if (!mctracer_compat_wq) {
		free_percpu(mctracer_at_mctracer_rings);
		return -ENOMEM;
	}
	kernel_param_lock(THIS_MODULE);
	WRITE_ONCE(mctracer_compat_ready, true);
	ret = mctracer_marks_alloc() ?: mctracer_base_start() ?: call_initcalls();
	kernel_param_unlock(THIS_MODULE);
	if (ret)
		quit();
	return ret;
}

static int __init init(void)
{
	int ret = hold_ftrace();

	if (ret) {
		pr_err("ftrace can't be used: %pe%s\n", ERR_PTR(ret),
		       ret == -EBUSY ? ", kernel.ftrace_enabled is 0" : "");
		return ret;
	}
	ret = begin();
	release_ftrace();
	/* If ftrace has died meanwhile, functions call the module for ever: it must stay. */
	return stuck ? 0 : ret;
}
module_init(init);

static void __exit leave(void)
{
	int ret;

	while ((ret = hold_ftrace()) == -EBUSY) {
		pr_warn_once("rmmod waits until kernel.ftrace_enabled is 1\n");
		schedule_timeout_uninterruptible(HZ);
	}
	quit();
	if (!ret)
		release_ftrace();
	while (stuck)
		schedule_timeout_uninterruptible(MAX_SCHEDULE_TIMEOUT);
}
module_exit(leave);

MODULE_DESCRIPTION("A light function tracer");
MODULE_LICENSE("GPL");
