/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The stack at the head of a traced function, as entry code finds it.
 *
 * The compiler puts "call __fentry__" before anything else in a function, and
 * while a hook is registered the stub there does nothing but jump. So entry
 * code begins with this stack (on 32-bit, 4(%esp) and 0(%esp)):
 *
 *	 8(%rsp)	parent_ip: the return address of the traced function
 *	 0(%rsp)	ip: the return address into the traced function
 *
 * To be preserved are all registers but %rax, %r10, %r11 and the flags: those carry
 * neither arguments nor, since -pg turns -fipa-ra off, anything across a call. In %al
 * callers of variadic functions say how many arguments are in vector registers. The
 * kernel has none there; a file that is built with SSE all the same only asks whether
 * it is 0, and otherwise stores those registers, which nobody reads.
 * Assembly that calls C functions where a compiler does not expect it saves them.
 */
#ifndef _ASM_X86_MCOUNT_H
#define _ASM_X86_MCOUNT_H

#ifndef CC_USING_FENTRY
#error "CONFIG_MCOUNT needs a compiler that knows -mfentry"
#endif

/*
 * Where in mcount_filter a value is: by multiplicative hashing of its lower half, with the odd
 * number next to 2^32 divided by the golden ratio (Knuth, volume 3, 6.4). In the second table by
 * a number that has nothing to do with that, 2^32 divided by e.
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
void *__builtin_dwarf_cfa(void);	/* which sparse does not know */
#endif

/*
 * For the body of a direct hook, which is entry code written in C: the stack above,
 * as seen from where the compiler knows it to begin, with or without a frame
 * pointer. After a barrier() each is loaded again, where it is used, and has occupied
 * no register, to be saved, before.
 */
#define arch_mcount_direct_ip()						\
	(((const unsigned long *)__builtin_dwarf_cfa())[-1])
#define arch_mcount_direct_parent_ip()					\
	(((const unsigned long *)__builtin_dwarf_cfa())[0])
#define arch_mcount_direct_ips()					\
	((const unsigned long *)__builtin_dwarf_cfa() - 1)

/* What arch_mcount_gate() has saved of the traced function's registers. */
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

/* Those in which arguments are passed, in their order: how many there are. */
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
/* The highest word of this CPU's stack for interrupts. */
#ifndef arch_mcount_interrupt_stack
#define arch_mcount_interrupt_stack()	this_cpu_read(pcpu_hot.hardirq_stack_ptr)
#endif

/*
 * The lowest address of the stack that @where is on, which is THREAD_SIZE large; of an exception's
 * own, which is smaller, that of the block it lies in.
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

/* The same for a function without argument and result, so that these two are preserved. */
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

/* The same for one that has both, but all that is asked is whether the result is 0. */
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

/* A function's site is its first instruction, or there is an ENDBR before it. */
#define MCOUNT_SITE_OFFSET	ENDBR_INSN_SIZE

#endif /* __ASSEMBLY__ */

#endif /* _ASM_X86_MCOUNT_H */
