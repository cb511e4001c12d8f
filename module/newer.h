/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What differs in kernels that are newer than 6.12, for which the series is. Each part is chosen by
 * what the kernel's headers have (see Kbuild), not by its version. newer_names.h has the names.
 */
#ifndef _MCTRACER_NEWER_H
#define _MCTRACER_NEWER_H

/* Patching text */
#ifdef MCTRACER_HAS_TEXT_POKE_SINGLE
#define MCTRACER_COMPAT_TEXT_POKE(F)	F(smp_text_poke_single)
#else
#define MCTRACER_COMPAT_TEXT_POKE(F)	F(text_poke_bp)
#endif

/*
 * Variables of a CPU. Some kernels, old and new, have no struct pcpu_hot: declare the only member
 * that hooks use.
 */
#ifdef MCTRACER_HAS_PCPU_HOT
#define MCTRACER_COMPAT_STACK(D)
#else
#define MCTRACER_COMPAT_STACK(D)	D(void * __percpu, hardirq_stack_ptr)
#define arch_mcount_interrupt_stack()	this_cpu_read(*mctracer_at_hardirq_stack_ptr)

struct mctracer_pcpu_hot {
	int preempt_count;
};

extern struct mctracer_pcpu_hot pcpu_hot asm("__preempt_count");
#endif

#define MCTRACER_COMPAT_FUNCTIONS_NEWER(F)	MCTRACER_COMPAT_TEXT_POKE(F)
#define MCTRACER_COMPAT_DATA_NEWER(D)		MCTRACER_COMPAT_STACK(D)

#endif /* _MCTRACER_NEWER_H */
