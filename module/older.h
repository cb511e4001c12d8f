/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What kernels that are older than 6.12, for which the series is, lack or have in another form. Each
 * part is chosen by what the kernel's headers have (see Kbuild), not by its version. older_names.h
 * has the names that differ.
 */
#ifndef _MCTRACER_OLDER_H
#define _MCTRACER_OLDER_H

/* Allocation */
#ifdef __vmalloc_node
#define MCTRACER_COMPAT_VMALLOC(F)	F(__vmalloc_node_noprof)
#else
#define MCTRACER_COMPAT_VMALLOC(F)	F(__vmalloc_node)
#endif

#ifdef MCTRACER_HAS_KVREALLOC_OLDSIZE
#define MCTRACER_COMPAT_KVREALLOC(F)	F(find_vm_area)
void *mctracer_compat_kvrealloc(const void *memory, size_t size, gfp_t gfp);
#else
#define MCTRACER_COMPAT_KVREALLOC(F)
#endif

#ifndef MAX_PAGE_ORDER
#define MAX_PAGE_ORDER	(MAX_ORDER - 1)
#endif

#ifndef MCTRACER_HAS_VM_FLAGS_MOD
DEFINE_FREE(kvfree, void *, if (!IS_ERR_OR_NULL(_T)) kvfree(_T))

static inline void vm_flags_mod(struct vm_area_struct *vma, vm_flags_t set, vm_flags_t clear)
{
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
}
#endif

/* Returns */
#ifdef MCTRACER_HAS_RETHOOK_ADD_NODE
#define MCTRACER_COMPAT_RETHOOK_ADD_NODE(F)	F(rethook_add_node)
#else
#define MCTRACER_COMPAT_RETHOOK_ADD_NODE(F)
#endif

/* Calls */
#ifdef MCTRACER_HAS_CALLTHUNKS
#define MCTRACER_COMPAT_CALLTHUNKS(F)	F(callthunks_translate_call_dest)
#define MCTRACER_COMPAT_THUNK(D)	D(void *, x86_return_thunk)
#else
#define MCTRACER_COMPAT_CALLTHUNKS(F)
#define MCTRACER_COMPAT_THUNK(D)
/* There is no call depth tracking. */
#define callthunks_translate_call_dest(func)	(func)
/* Used only for call sites before returns. */
#define x86_return_thunk	((void *)NULL)
#endif

/* The ORC table */
#ifdef MCTRACER_HAS_ORC_TYPES
#define MCTRACER_COMPAT_ORC(D)						\
	D(const struct orc_entry, __start_orc_unwind)			\
	D(const int, __start_orc_unwind_ip)				\
	D(const int, __stop_orc_unwind_ip)				\
	D(const char, return_to_handler)
#else
#define MCTRACER_COMPAT_ORC(D)
#endif

/* Resuming */
#ifndef MCTRACER_HAS_SYSCORE_ARGUMENT
struct mctracer_compat_syscore_ops {
	void (*resume)(void *data);
};

struct syscore {
	const struct mctracer_compat_syscore_ops *ops;
};
#endif

/* Symbols */
#ifdef MCTRACER_HAS_KALLSYMS_OF_MODULE
#define mctracer_compat_on_each_symbol		static_call(mctracer_kallsyms_on_each_symbol)
#define mctracer_compat_on_modules_symbol	static_call(mctracer_module_kallsyms_on_each_symbol)
#else
typedef int mctracer_compat_see(void *data, const char *name, unsigned long addr);
int mctracer_compat_on_each_symbol(mctracer_compat_see *see, void *data);
int mctracer_compat_on_modules_symbol(const char *only, mctracer_compat_see *see, void *data);
#endif

/* Idle CPUs */
#ifdef MCTRACER_HAS_NOINSTR_CLOCK
#define MCTRACER_COMPAT_IDLE(F)			F(local_clock_noinstr)
#define MCTRACER_COMPAT_POINTS
#define mctracer_compat_watch()			false
#define mctracer_compat_unwatch(missed)		((void)(missed))
#else
#define MCTRACER_COMPAT_IDLE(F)	\
	F(ct_nmi_enter)		\
	F(ct_nmi_exit)

/* Idle CPUs are traced. Where RCU does not watch, announce the reader to RCU as an NMI would. */
#define mctracer_compat_watch()							\
({										\
	bool mctracer_missed = !rcu_is_watching();				\
										\
	if (mctracer_missed)							\
		static_call(mctracer_ct_nmi_enter)();				\
	mctracer_missed;							\
})
#define mctracer_compat_unwatch(missed)						\
do {										\
	if (missed)								\
		static_call(mctracer_ct_nmi_exit)();				\
} while (0)

/* An additional tracepoint for base.c. */
#define MCTRACER_COMPAT_POINTS	{ "cpu_idle", mctracer_compat_idles },
void mctracer_compat_idles(void *data, unsigned int state, unsigned int cpu);

/*
 * mcount_callers.c's arch_mcount_callers(), renamed: old/idle.c defines that name and calls this.
 */
struct mcount_regs;
unsigned int mctracer_compat_callers(unsigned long ip, unsigned long parent_ip,
				     const struct mcount_regs *regs, u32 *callers, u32 *stacks,
				     unsigned int max);
#endif

/* Variables of a CPU */

/*
 * Use a named address space, like newer kernels, so that the compiler can make a variable an
 * operand.
 */
#ifndef this_cpu_try_cmpxchg64
#define this_cpu_try_cmpxchg64(var, old, new)					\
({										\
	const u64 mctracer_was = *(old);					\
	*(old) = this_cpu_cmpxchg_8(var, mctracer_was, new);			\
	likely(*(old) == mctracer_was);						\
})

#if defined(__SEG_GS) && defined(CONFIG_CC_IS_GCC)
#undef raw_cpu_read
#define raw_cpu_read(var)	(*(typeof(var) __seg_gs *)(unsigned long)&(var))
#endif
#endif

/* The size of strscpy() is optional; the default is the size of the array. */
#define MCTRACER_COMPAT_SECOND(first, second, ...)	second

#define MCTRACER_COMPAT_FUNCTIONS_OLDER(F)	\
	MCTRACER_COMPAT_VMALLOC(F)		\
	MCTRACER_COMPAT_KVREALLOC(F)		\
	MCTRACER_COMPAT_CALLTHUNKS(F)		\
	MCTRACER_COMPAT_IDLE(F)

#define MCTRACER_COMPAT_DATA_OLDER(D)		\
	MCTRACER_COMPAT_ORC(D)			\
	MCTRACER_COMPAT_THUNK(D)

#endif /* _MCTRACER_OLDER_H */
