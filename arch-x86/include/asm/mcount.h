/* SPDX-License-Identifier: GPL-2.0 */
/*
 * x86 part of mcount: the stack at the head of a traced function, and the accessors of direct hooks
 * and pre-handlers.
 *
 * The compiler puts "call __fentry__" before anything else in a function, and while a hook is
 * registered the stub there does nothing but jump. So entry code begins with this stack (on 32-bit,
 * 4(%esp) and 0(%esp)):
 *
 *	 8(%rsp)	parent_ip: the return address of the traced function
 *	 0(%rsp)	ip: the return address into the traced function
 *
 * Entry code must preserve all registers but %rax, %r10, %r11 and the flags, which carry neither
 * arguments nor, since -pg turns -fipa-ra off, anything across a call. In %al callers of variadic
 * functions pass the number of arguments in vector registers. The kernel passes none there. A file
 * that is built with SSE all the same only tests whether %al is 0, and if not stores those
 * registers, which nothing reads. Assembly code saves these registers itself if it calls C
 * functions from places where a compiler expects no call.
 */
#ifndef _ASM_X86_MCOUNT_H
#define _ASM_X86_MCOUNT_H

#ifndef CC_USING_FENTRY
#error "CONFIG_MCOUNT needs a compiler that knows -mfentry"
#endif

/*
 * The parameters of the index of a value in mcount_filter: multiplicative hashing of its lower
 * half, with the odd number next to 2^32 divided by the golden ratio (Knuth, volume 3, 6.4). The
 * second table has an unrelated factor, 2^32 divided by e.
 */
#define MCOUNT_FILTER_BITS	18
#define MCOUNT_FILTER_FACTOR	0x9e3779b1
#define MCOUNT_FILTER_BITS_2	16
#define MCOUNT_FILTER_FACTOR_2	0x5e2d58d9

#ifndef __ASSEMBLY__

#include <linux/compiler.h>
#include <asm/asm.h>
#include <asm/current.h>
#include <asm/ibt.h>
#include <asm/page_types.h>
#include <asm/percpu.h>
#include <asm/text-patching.h>

#if !__has_attribute(__no_caller_saved_registers__)
#error "CONFIG_MCOUNT needs a compiler that knows no_caller_saved_registers"
#endif

#ifdef __CHECKER__
void *__builtin_dwarf_cfa(void);	/* sparse does not know it */
#endif

/*
 * For the body of a direct hook, which is entry code written in C: access the stack above from the
 * address where the compiler knows that it begins, with or without a frame pointer. After a
 * barrier() each value is loaded again where it is used. So it occupies no register before, which
 * would have to be saved.
 */
#define arch_mcount_direct_ip()						\
	(((const unsigned long *)__builtin_dwarf_cfa())[-1])
#define arch_mcount_direct_parent_ip()					\
	(((const unsigned long *)__builtin_dwarf_cfa())[0])
#define arch_mcount_direct_ips()					\
	((const unsigned long *)__builtin_dwarf_cfa() - 1)

/* The registers of the traced function that arch_mcount_pre_handler() has saved. */
struct mcount_regs {
	unsigned long bp;
#ifdef CONFIG_X86_64
	unsigned long r9;
	unsigned long r8;
	unsigned long di;
	unsigned long si;
	unsigned long dx;
	unsigned long cx;
#else
	unsigned long dx;
	unsigned long cx;
	unsigned long ax;
#endif
#ifdef CONFIG_FRAME_POINTER
	unsigned long frames[4];	/* for the unwinder */
#endif
	unsigned long ips[];		/* ip, and parent_ip */
};

/* Store the argument registers, in the order of the arguments. Return their number. */
static __always_inline unsigned int arch_mcount_args(const struct mcount_regs *regs,
						     unsigned long *args)
{
#ifdef CONFIG_X86_64
	args[0] = regs->di;
	args[1] = regs->si;
	args[2] = regs->dx;
	args[3] = regs->cx;
	args[4] = regs->r8;
	args[5] = regs->r9;
	return 6;
#else
	args[0] = regs->ax;
	args[1] = regs->dx;
	args[2] = regs->cx;
	return 3;
#endif
}

#ifdef CONFIG_X86_64
/* The highest word of this CPU's interrupt stack. */
#ifndef arch_mcount_interrupt_stack
#define arch_mcount_interrupt_stack()	this_cpu_read(pcpu_hot.hardirq_stack_ptr)
#endif

/*
 * Return the lowest address of the stack that contains @where, which is THREAD_SIZE large. For an
 * exception's own stack, which is smaller, return that of the aligned THREAD_SIZE block around it.
 */
static __always_inline unsigned long arch_mcount_stack(const unsigned long *where)
{
	const unsigned long at = (unsigned long)where;
	const unsigned long interrupts = (unsigned long)arch_mcount_interrupt_stack() +
					 sizeof(long) - IRQ_STACK_SIZE;

	return at - interrupts < IRQ_STACK_SIZE ? interrupts : at & -THREAD_SIZE;
}
#endif

/* See mcount_direct_call(). */
#ifdef CONFIG_X86_64
#define ARCH_MCOUNT_CALL_FUNC	"r10"
#define ARCH_MCOUNT_CALL_ARG	"r11"
#else
#define ARCH_MCOUNT_CALL_FUNC	"eax"
#define ARCH_MCOUNT_CALL_ARG	"edx"
#endif

static __always_inline unsigned long
arch_mcount_direct_call(unsigned long (*func)(unsigned long), unsigned long arg)
{
	register unsigned long func_or_result asm(ARCH_MCOUNT_CALL_FUNC) = (unsigned long)func;
	register unsigned long arg_reg asm(ARCH_MCOUNT_CALL_ARG) = arg;

	asm volatile("call arch_mcount_call_preserving"
		     : "+r" (func_or_result), "+r" (arg_reg), ASM_CALL_CONSTRAINT
		     : : "memory", "cc");
	return func_or_result;
}

/* Call a function without argument and result, and preserve these two registers, too. */
static __always_inline void arch_mcount_direct_call_void(void (*func)(void))
{
	asm volatile("push %%" ARCH_MCOUNT_CALL_FUNC "\n\t"
		     "push %%" ARCH_MCOUNT_CALL_ARG "\n\t"
		     "mov %[func], %%" ARCH_MCOUNT_CALL_FUNC "\n\t"
		     "call arch_mcount_call_preserving\n\t"
		     "pop %%" ARCH_MCOUNT_CALL_ARG "\n\t"
		     "pop %%" ARCH_MCOUNT_CALL_FUNC
		     : ASM_CALL_CONSTRAINT : [func] "i" (func) : "memory", "cc");
}

/*
 * Call a function with an argument, preserve all registers, and return whether its result is not 0.
 */
static __always_inline bool
arch_mcount_direct_ask(unsigned long (*func)(unsigned long), unsigned long arg)
{
	bool ret;

	asm volatile("push %%" ARCH_MCOUNT_CALL_FUNC "\n\t"
		     "push %%" ARCH_MCOUNT_CALL_ARG "\n\t"
		     "mov %[arg], %%" ARCH_MCOUNT_CALL_ARG "\n\t"
		     "mov %[func], %%" ARCH_MCOUNT_CALL_FUNC "\n\t"
		     "call arch_mcount_call_preserving\n\t"
		     "test %%" ARCH_MCOUNT_CALL_FUNC ", %%" ARCH_MCOUNT_CALL_FUNC "\n\t"
		     "pop %%" ARCH_MCOUNT_CALL_ARG "\n\t"
		     "pop %%" ARCH_MCOUNT_CALL_FUNC
		     : "=@ccnz" (ret), ASM_CALL_CONSTRAINT
		     : [func] "i" (func), [arg] "ri" (arg) : "memory");
	return ret;
}

#define MCOUNT_SITE_SIZE	CALL_INSN_SIZE

/* A function's site is its first instruction, or follows an ENDBR. */
#define MCOUNT_SITE_OFFSET	ENDBR_INSN_SIZE

#endif /* __ASSEMBLY__ */

#endif /* _ASM_X86_MCOUNT_H */
