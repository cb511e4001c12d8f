/* SPDX-License-Identifier: GPL-2.0 */
#ifndef MCTRACER_COMPAT_OVERRIDE

/* The part of compat.h that is specific to Linux 6.1, and definitions that newer kernels have. */
#include <linux/cpu.h>

#ifdef CONFIG_MCOUNT_RETHOOK
#define MCTRACER_COMPAT_RETHOOK_6_1(F)	F(rethook_add_node)
#else
#define MCTRACER_COMPAT_RETHOOK_6_1(F)
#endif

#define MCTRACER_COMPAT_FUNCTIONS_HERE(F)	\
	F(__vmalloc_node)			\
	F(ct_nmi_enter)				\
	F(ct_nmi_exit)				\
	F(find_vm_area)				\
	MCTRACER_COMPAT_RETHOOK_6_1(F)		\
	F(seq_buf_putc)				\
	F(seq_buf_puts)

#define MCTRACER_COMPAT_DATA_HERE(D)		\
	D(void * __percpu, hardirq_stack_ptr)

struct syscore_ops_since_6_1 {
	void (*resume)(void *data);
};

struct syscore {
	const struct syscore_ops_since_6_1 *ops;
};

typedef int mctracer_compat_see(void *data, const char *name, unsigned long addr);
int mctracer_compat_on_each_symbol(mctracer_compat_see *see, void *data);
int mctracer_compat_on_modules_symbol(const char *only, mctracer_compat_see *see, void *data);
void *mctracer_compat_kvrealloc(const void *memory, size_t size, gfp_t gfp);

/* The only member of newer kernels' struct pcpu_hot that the hooks use. */
struct mctracer_pcpu_hot {
	int preempt_count;
};

extern struct mctracer_pcpu_hot pcpu_hot asm("__preempt_count");

#define arch_mcount_interrupt_stack()	this_cpu_read(*mctracer_at_hardirq_stack_ptr)

/* 6.1 has no call depth tracking. */
#define callthunks_translate_call_dest(func)	(func)
/* Used only for call sites before returns. */
#define x86_return_thunk	((void *)NULL)

/*
 * Use a named address space, like newer kernels, so that the compiler can make a variable an
 * operand.
 */
#if defined(__SEG_GS) && defined(CONFIG_CC_IS_GCC)
#undef raw_cpu_read
#define raw_cpu_read(var)	(*(typeof(var) __seg_gs *)(unsigned long)&(var))
#endif

#ifndef this_cpu_try_cmpxchg64
#define this_cpu_try_cmpxchg64(var, old, new)					\
({										\
	const u64 mctracer_was = *(old);					\
	*(old) = this_cpu_cmpxchg_8(var, mctracer_was, new);			\
	likely(*(old) == mctracer_was);						\
})
#endif

#define MAX_PAGE_ORDER	(MAX_ORDER - 1)

DEFINE_FREE(kvfree, void *, if (!IS_ERR_OR_NULL(_T)) kvfree(_T))

static inline void vm_flags_mod(struct vm_area_struct *vma, vm_flags_t set, vm_flags_t clear)
{
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
}

/* Where RCU does not watch, announce the reader to RCU as an NMI would. */
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

/* An additional tracepoint for base.c, because idle CPUs are traced in 6.1. */
#define MCTRACER_COMPAT_POINTS	{ "cpu_idle", mctracer_compat_idles },
void mctracer_compat_idles(void *data, unsigned int state, unsigned int cpu);

/*
 * mcount_callers.c's arch_mcount_callers(), renamed: compat_6_1.c defines that name and calls this.
 */
struct mcount_regs;
unsigned int mctracer_compat_callers(unsigned long ip, unsigned long parent_ip,
				     const struct mcount_regs *regs, u32 *callers, u32 *stacks,
				     unsigned int max);

#define MCTRACER_COMPAT_SECOND(first, second, ...)	second

#else /* MCTRACER_COMPAT_OVERRIDE */

/* The size is optional; the default is the size of the array. */
#undef strscpy
#define strscpy(to, from, ...)	\
	(strscpy)(to, from, MCTRACER_COMPAT_SECOND(_, ##__VA_ARGS__, sizeof(to)))
#define __vmalloc_node			static_call(mctracer___vmalloc_node)
#define seq_buf_putc			static_call(mctracer_seq_buf_putc)
#define seq_buf_puts			static_call(mctracer_seq_buf_puts)
#define local_clock_noinstr()		sched_clock_cpu(raw_smp_processor_id())
#define syscore_ops			syscore_ops_since_6_1
#define kvrealloc			mctracer_compat_kvrealloc
#define copy_splice_read		generic_file_splice_read
/* RCU does not watch idle CPUs, which are traced in 6.1, so wait by Tasks Rude RCU instead. */
#define synchronize_rcu			synchronize_rcu_tasks_rude
#define call_rcu_hurry			call_rcu_tasks_rude
/* The state is always TASK_UNINTERRUPTIBLE. */
#define wait_rcu_gp_state(state, ...)	synchronize_rcu_mult(__VA_ARGS__)
#define arch_ftrace_set_direct_caller(fregs, addr)	\
	arch_ftrace_set_direct_caller(&(fregs)->regs, addr)

#endif /* MCTRACER_COMPAT_OVERRIDE */
