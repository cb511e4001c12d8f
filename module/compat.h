/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Makes symbols that the kernel does not export, and functions that the series adds to the kernel,
 * available to the series' files in the module. Each of them includes this file first.
 *
 * Functions that are not exported are called by static calls, which are direct calls, because a
 * kernel with CONFIG_X86_KERNEL_IBT has removed the ENDBR of functions whose address is never
 * taken. Data is reached by pointers. compat.c finds all of it when the module is loaded.
 */
#ifndef _MCTRACER_COMPAT_H
#define _MCTRACER_COMPAT_H

#ifdef __ASSEMBLY__

#include <linux/export.h>

/*
 * With symbol versions an export needs a prototype in the kernel's headers, so compat.c exports
 * instead.
 */
#undef EXPORT_SYMBOL_GPL
#define EXPORT_SYMBOL_GPL(sym)

#include <linux/linkage.h>

/* Older kernels have no call depth tracking, and another name for the alignment. */
#include <asm/nospec-branch.h>
#ifndef SYM_F_ALIGN
#define SYM_F_ALIGN		SYM_A_ALIGN
.macro CALL_DEPTH_ACCOUNT
.endm
#endif

#else /* !__ASSEMBLY__ */

#include <linux/buildid.h>
#include <linux/cpuhotplug.h>
#include <linux/debugfs.h>
#include <linux/ftrace.h>
#include <linux/init.h>
#include <linux/kallsyms.h>
#include <linux/kdebug.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/memory.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/panic_notifier.h>
#include <linux/pid_namespace.h>
#include <linux/percpu.h>
#include <linux/pid.h>
#include <linux/rcupdate_wait.h>
#include <linux/rethook.h>
#include <linux/sched/clock.h>
#include <linux/sched/task.h>
#include <linux/seq_buf.h>
#include <linux/slab.h>
#include <linux/static_call.h>
#include <linux/syscore_ops.h>
#include <linux/sysctl.h>
#include <linux/sysrq.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

#include <asm/alternative.h>
#include <asm/nops.h>
#include <asm/nospec-branch.h>
#include <asm/orc_types.h>
#include <asm/sections.h>
#include <asm/stacktrace.h>
#include <asm/text-patching.h>
#include <asm/timer.h>
#include <asm/tsc.h>
#include <asm/unwind.h>

int ftrace_ops_test(struct ftrace_ops *ops, unsigned long ip, void *regs);
int ftrace_is_dead(void);

#include "older.h"
#include "newer.h"

#ifdef CONFIG_MCOUNT_RETHOOK
#define MCTRACER_COMPAT_RETHOOK(F)		\
	MCTRACER_COMPAT_RETHOOK_ADD_NODE(F)	\
	F(rethook_alloc)			\
	F(rethook_find_ret_addr)		\
	F(rethook_free)				\
	F(rethook_hook)				\
	F(rethook_try_get)			\
	F(within_kprobe_blacklist)
#else
#define MCTRACER_COMPAT_RETHOOK(F)
#endif

/* Rings in reserved memory */
#ifdef MCTRACER_HAS_RESERVE_MEM
#define MCTRACER_COMPAT_RESERVED(F)		F(build_id_parse_buf)
#define MCTRACER_COMPAT_RESERVED_DATA(D)	\
	D(const char, __start_notes)		\
	D(const char, __stop_notes)		\
	D(const char, _text)
#else
#define MCTRACER_COMPAT_RESERVED(F)
#define MCTRACER_COMPAT_RESERVED_DATA(D)
#endif

#define MCTRACER_COMPAT_FUNCTIONS(F)		\
	MCTRACER_COMPAT_FUNCTIONS_OLDER(F)	\
	MCTRACER_COMPAT_FUNCTIONS_NEWER(F)	\
	F(__kernel_text_address)		\
	F(__module_address)			\
	F(__module_text_address)		\
	F(_printk_deferred)			\
	F(cyc2ns_read_begin)			\
	F(cyc2ns_read_end)			\
	F(find_module)				\
	F(ftrace_is_dead)			\
	F(ftrace_location_range)		\
	F(ftrace_ops_test)			\
	F(get_stack_info_noinstr)		\
	F(kallsyms_lookup)			\
	F(kallsyms_lookup_size_offset)		\
	F(kallsyms_on_each_symbol)		\
	F(kallsyms_show_value)			\
	F(module_kallsyms_on_each_symbol)	\
	F(per_cpu_ptr_to_phys)			\
	MCTRACER_COMPAT_RESERVED(F)		\
	F(seq_buf_putc)				\
	F(seq_buf_putmem)			\
	F(seq_buf_puts)				\
	MCTRACER_COMPAT_RETHOOK(F)		\
	F(unwind_get_return_address_ptr)

#define MCTRACER_COMPAT_DATA(D)						\
	MCTRACER_COMPAT_DATA_OLDER(D)					\
	MCTRACER_COMPAT_DATA_NEWER(D)					\
	MCTRACER_COMPAT_RESERVED_DATA(D)				\
	D(const char, __noinstr_text_start)				\
	D(const char, __noinstr_text_end)				\
	D(const char, _stext)						\
	D(const char, _etext)						\
	D(const char, _end)						\
	D(const char, _sinittext)					\
	D(const char, _einittext)					\
	D(const char, arch_rethook_trampoline)				\
	D(u64, __sched_clock_offset)					\
	D(struct mutex, text_mutex)					\
	D(rwlock_t, tasklist_lock)					\
	D(struct ftrace_ops *, ftrace_ops_list)				\
	D(const unsigned char *, x86_nops)

#define MCTRACER_COMPAT_DECLARE(name)	DECLARE_STATIC_CALL(mctracer_##name, name);
MCTRACER_COMPAT_FUNCTIONS(MCTRACER_COMPAT_DECLARE)
DECLARE_STATIC_CALL(mctracer_kallsyms_lookup_name, kallsyms_lookup_name);

/* All files but compat.c see constants, so the compiler need not keep their values across calls. */
#ifdef MCTRACER_COMPAT_DEFINE
#define MCTRACER_COMPAT_CONST
#else
#define MCTRACER_COMPAT_CONST	const
#endif

#define MCTRACER_COMPAT_POINTER(type, name)	extern type *MCTRACER_COMPAT_CONST mctracer_at_##name;
MCTRACER_COMPAT_DATA(MCTRACER_COMPAT_POINTER)

/*
 * The ring of each CPU, allocated because all modules together can have only 8 KiB of static
 * per-CPU variables.
 */
extern struct mctracer_ring __percpu *MCTRACER_COMPAT_CONST mctracer_at_mctracer_rings;

/* Return or set the expressions of the file "pid" that match a task: marks.c. */
unsigned long mctracer_task_pids(const struct task_struct *task);
bool mctracer_set_task_pids(struct task_struct *task, unsigned long pids);
unsigned long mctracer_tasks_left_out(void);
#define mctracer_task_pids	mctracer_task_pids

/* Replacements that register something, and undo that when the module is unloaded. */
extern struct xarray *mctracer_compat_xarray;
int mctracer_compat_module_notifier(struct notifier_block *nb);
int mctracer_compat_die_notifier(struct notifier_block *nb);
int mctracer_compat_panic_notifier(struct notifier_block *nb);
void mctracer_compat_syscore(struct syscore *syscore);
int mctracer_compat_sysrq_key(u8 key, const struct sysrq_key_op *op);
void mctracer_compat_sysctl(const char *path, struct ctl_table *table, size_t size);
struct dentry *mctracer_compat_dir(const char *name, struct dentry *parent);
int mctracer_compat_hotplug(enum cpuhp_state state, const char *name,
			    int (*startup)(unsigned int cpu), int (*teardown)(unsigned int cpu));
bool mctracer_compat_queue_delayed(struct delayed_work *work, unsigned long delay);
void *mctracer_compat_calloc(size_t n, size_t size);
struct mctracer_text *mctracer_compat_text_alloc(bool addresses, bool crash);
/* Do nothing: mctracer_compat_text_alloc() frees the text when the module is unloaded. */
void mctracer_compat_text_keep(struct mctracer_text *text);
extern struct workqueue_struct *mctracer_compat_wq;
extern bool mctracer_compat_ready;

/* Returns are caught: a handler gets the address that the function returns to. */
typedef void mctracer_compat_returned(struct rethook_node *node, void *data, unsigned long parent_ip,
				      struct pt_regs *regs);
struct rethook *mctracer_compat_rethook(void *data, mctracer_compat_returned *handler, size_t size,
					int nr);
struct rethook *mctracer_compat_rethook_alloc(void *data, mctracer_compat_returned *handler,
					      size_t size, int nr);

int mctracer_compat_register(struct ftrace_ops *ops);
int mctracer_compat_unregister(struct ftrace_ops *ops);
unsigned long mctracer_compat_location(unsigned long start, unsigned long end);
struct orc_entry *unwind_orc_find(unsigned long ip);
typedef int (*ftrace_location_fn)(unsigned long ip, void *data);
int ftrace_walk_locations(struct module *mod, ftrace_location_fn fn, void *data);
int ftrace_set_notrace_ips(struct ftrace_ops *ops, unsigned long *ips, unsigned int cnt, int remove,
			   int reset);
bool ftrace_goes_elsewhere(unsigned long ip);
bool mctracer_compat_kernel(unsigned long addr);
bool mctracer_compat_kernel_text(unsigned long addr);
bool mctracer_compat_kernel_inittext(unsigned long addr);

#ifndef MCTRACER_COMPAT_DEFINE

#include "older_names.h"
#include "newer_names.h"

#define __kernel_text_address		static_call(mctracer___kernel_text_address)
#define __module_address		static_call(mctracer___module_address)
#define __module_text_address		static_call(mctracer___module_text_address)
#define _printk_deferred		static_call(mctracer__printk_deferred)
#define cyc2ns_read_begin		static_call(mctracer_cyc2ns_read_begin)
#define cyc2ns_read_end			static_call(mctracer_cyc2ns_read_end)
#define find_module			static_call(mctracer_find_module)
#define ftrace_is_dead			static_call(mctracer_ftrace_is_dead)
#define ftrace_ops_test			static_call(mctracer_ftrace_ops_test)
#define get_stack_info_noinstr		static_call(mctracer_get_stack_info_noinstr)
#define kallsyms_lookup			static_call(mctracer_kallsyms_lookup)
#define kallsyms_lookup_name		static_call(mctracer_kallsyms_lookup_name)
#define kallsyms_lookup_size_offset	static_call(mctracer_kallsyms_lookup_size_offset)
#define kallsyms_on_each_symbol		mctracer_compat_on_each_symbol
#define kallsyms_show_value		static_call(mctracer_kallsyms_show_value)
#define module_kallsyms_on_each_symbol	mctracer_compat_on_modules_symbol
#define per_cpu_ptr_to_phys		static_call(mctracer_per_cpu_ptr_to_phys)
#define build_id_parse_buf		static_call(mctracer_build_id_parse_buf)
#define seq_buf_putc			static_call(mctracer_seq_buf_putc)
#define seq_buf_putmem			static_call(mctracer_seq_buf_putmem)
#define seq_buf_puts			static_call(mctracer_seq_buf_puts)
#define rethook_alloc			mctracer_compat_rethook
#define rethook_find_ret_addr		static_call(mctracer_rethook_find_ret_addr)
#define rethook_hook			static_call(mctracer_rethook_hook)
#define rethook_try_get			static_call(mctracer_rethook_try_get)
#define within_kprobe_blacklist		static_call(mctracer_within_kprobe_blacklist)
#define unwind_get_return_address_ptr	static_call(mctracer_unwind_get_return_address_ptr)

#define __noinstr_text_start		mctracer_at___noinstr_text_start
#define __noinstr_text_end		mctracer_at___noinstr_text_end
#define _stext				mctracer_at__stext
#define _etext				mctracer_at__etext
#define __sched_clock_offset		(*mctracer_at___sched_clock_offset)
#define text_mutex			(*mctracer_at_text_mutex)
#define tasklist_lock			(*mctracer_at_tasklist_lock)
#define x86_nops			mctracer_at_x86_nops

#define is_kernel			mctracer_compat_kernel
#define is_kernel_text			mctracer_compat_kernel_text
#define is_kernel_inittext		mctracer_compat_kernel_inittext
#define is_rethook_trampoline(addr)	((addr) == (unsigned long)mctracer_at_arch_rethook_trampoline)
/* Used only for call sites before returns, which the module does not have. */
#define get_kprobe(addr)		((struct kprobe *)NULL)
#define lockdep_assert_cpus_held()	do { } while (0)
#define ftrace_location_range		mctracer_compat_location
#define register_ftrace_function	mctracer_compat_register
#define unregister_ftrace_function	mctracer_compat_unregister
/* Module parameters are set before the module is ready. */
#define slab_is_available()		READ_ONCE(mctracer_compat_ready)

#undef DECLARE_PER_CPU_PAGE_ALIGNED
#define DECLARE_PER_CPU_PAGE_ALIGNED(type, name)	extern type __percpu *const mctracer_at_##name
#undef DEFINE_PER_CPU_PAGE_ALIGNED
#define DEFINE_PER_CPU_PAGE_ALIGNED(type, name)		extern type __percpu *const mctracer_at_##name
#define mctracer_rings			(*mctracer_at_mctracer_rings)

#define register_module_notifier	mctracer_compat_module_notifier
#define register_die_notifier		mctracer_compat_die_notifier
#define atomic_notifier_chain_register(list, nb)	mctracer_compat_panic_notifier(nb)
#define register_syscore		mctracer_compat_syscore
#define register_sysrq_key		mctracer_compat_sysrq_key
#undef register_sysctl_init
#define register_sysctl_init(path, table)	mctracer_compat_sysctl(path, table, ARRAY_SIZE(table))
#define debugfs_create_dir		mctracer_compat_dir
#define cpuhp_setup_state_nocalls	mctracer_compat_hotplug

/* The module's own workqueue, which is emptied when the module is unloaded. */
#define system_unbound_wq		mctracer_compat_wq
#define queue_delayed_work(wq, work, delay)	mctracer_compat_queue_delayed(work, delay)
#ifdef MCTRACER_COMPAT_LASTING
#undef kvcalloc
#define kvcalloc(n, size, gfp)		mctracer_compat_calloc(n, size)
#undef kvfree
#define kvfree(memory)			((void)(memory))	/* freed at unload */
#endif

#ifdef MCTRACER_COMPAT_MODULES
#include <linux/xarray.h>
#undef DEFINE_XARRAY
#define DEFINE_XARRAY(name)	\
	struct xarray name = XARRAY_INIT(name, 0); struct xarray *mctracer_compat_xarray = &name
#endif

/* Initcalls run in the order in which the files are linked. */
#define MCTRACER_COMPAT_INITCALL(fn)	\
	static const initcall_t __used __section(".init.data.mctracer") mctracer_init_##fn = fn
#undef early_initcall
#define early_initcall(fn)		MCTRACER_COMPAT_INITCALL(fn)
#undef core_initcall
#define core_initcall(fn)		MCTRACER_COMPAT_INITCALL(fn)
#undef device_initcall
#define device_initcall(fn)		MCTRACER_COMPAT_INITCALL(fn)
#undef late_initcall
#define late_initcall(fn)		MCTRACER_COMPAT_INITCALL(fn)

#endif /* !MCTRACER_COMPAT_DEFINE */

#endif /* !__ASSEMBLY__ */

#endif /* _MCTRACER_COMPAT_H */
