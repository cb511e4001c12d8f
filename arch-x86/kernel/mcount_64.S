/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The stub that every traced function calls, and the entry code for plain C hooks, pre-handlers and
 * the arg filter, 64-bit. asm/mcount.h describes the stack and the registers.
 *
 * Call depth tracking counts each return, so each call must be counted, too. The call of the stub
 * itself is exempt (callthunks.c): where the stub returns, it counts the call itself; where it
 * jumps, arch_mcount_switch() makes it jump to the padding before the entry code, which counts.
 */
#include <linux/export.h>
#include <linux/linkage.h>
#include <linux/objtool.h>
#include <asm/asm.h>
#include <asm/mcount.h>
#include <asm/nops.h>
#include <asm/nospec-branch.h>
#include <asm/page.h>

	.code64
	.section .text, "ax"

/*
 * A NOP and a return while there is no hook to call. arch_mcount_switch() patches the NOP to a jump
 * to entry code and back. A kprobe here would patch the same bytes, and every function would hit
 * it.
 *
 * Only called directly, so without an ENDBR, like all functions of this file.
 */
.macro STUB name
SYM_START(\name, SYM_L_GLOBAL, SYM_F_ALIGN)
	ANNOTATE_NOENDBR
	.byte	BYTES_NOP5
	CALL_DEPTH_ACCOUNT
	RET
SYM_FUNC_END(\name)
_ASM_NOKPROBE(\name)
.endm

STUB arch_mcount_stub
#ifndef CONFIG_FUNCTION_TRACER	/* ftrace has its own __fentry__, and nothing calls it */
SYM_FUNC_ALIAS(__fentry__, arch_mcount_stub)
EXPORT_SYMBOL(__fentry__)
#endif

#ifdef CONFIG_MCOUNT_RETURNS
/* Stubs for sites before returns, and before jumps in a return's place. */
STUB arch_mcount_return
STUB arch_mcount_tail
#endif /* CONFIG_MCOUNT_RETURNS */

/*
 * The traced function has not set up its frame, so a frame pointer unwinder would miss the function
 * and its caller. Make both frames for it. With ORC, objtool follows the stack and nothing is
 * needed.
 */
#ifdef CONFIG_FRAME_POINTER
#define FRAMES_SIZE	32

.macro PUSH_FRAMES
	pushq	8(%rsp)			/* the caller's: return address ... */
	pushq	%rbp			/* ... and link */
	movq	%rsp, %rbp
	pushq	16(%rsp)		/* the traced function's */
	pushq	%rbp
	movq	%rsp, %rbp
.endm

.macro POP_FRAMES	/* preserves the flags */
	movq	16(%rsp), %rbp
	leaq	FRAMES_SIZE(%rsp), %rsp
.endm

#else /* !CONFIG_FRAME_POINTER */
#define FRAMES_SIZE	0

.macro PUSH_FRAMES
.endm

.macro POP_FRAMES
.endm
#endif /* CONFIG_FRAME_POINTER */

#define REGS_SIZE	(6 * 8)

/* The registers that a C function may clobber, except %rax, %r10 and %r11. */
.macro PUSH_REGS
	pushq	%rcx
	pushq	%rdx
	pushq	%rsi
	pushq	%rdi
	pushq	%r8
	pushq	%r9
.endm

.macro POP_REGS
	popq	%r9
	popq	%r8
	popq	%rdi
	popq	%rsi
	popq	%rdx
	popq	%rcx
.endm

/*
 * Call mcount_hook(ip, parent_ip), a C function like any other: save the registers that such a
 * function may clobber although the traced function's caller does not expect a call of the stub to
 * clobber them. Loading the pointer and calling it need not be atomic: the core changes mcount_hook
 * first, then waits until no CPU runs the previous hook.
 */
SYM_START(arch_mcount_call_hook, SYM_L_GLOBAL, SYM_F_ALIGN)
	ANNOTATE_NOENDBR
	PUSH_FRAMES
	PUSH_REGS
	movq	FRAMES_SIZE+REGS_SIZE(%rsp), %rdi
	movq	FRAMES_SIZE+REGS_SIZE+8(%rsp), %rsi
	movq	mcount_hook(%rip), %rax
	CALL_NOSPEC rax
	POP_REGS
	POP_FRAMES
	RET
SYM_FUNC_END(arch_mcount_call_hook)
STACK_FRAME_NON_STANDARD_FP(arch_mcount_call_hook)
_ASM_NOKPROBE(arch_mcount_call_hook)

/*
 * Sites of MCOUNT_PRE_HANDLER call arch_mcount_pre_handler: call mcount_pre_handler(ip, parent_ip,
 * regs), a C function like mcount_hook. If it returns true, continue at the stub, as if the site
 * had called that. The last pushed registers form struct mcount_regs.
 *
 * Only called directly. The stub, or its jump target, counts the call; where the stub is not
 * reached, this code counts it.
 */
.macro CALL_PRE_HANDLER
	PUSH_FRAMES
	PUSH_REGS
	pushq	%rbp
	movq	8+FRAMES_SIZE+REGS_SIZE(%rsp), %rdi
	movq	8+FRAMES_SIZE+REGS_SIZE+8(%rsp), %rsi
	movq	%rsp, %rdx
	movq	mcount_pre_handler(%rip), %rax
	CALL_NOSPEC rax
	popq	%rbp
	POP_REGS
	POP_FRAMES
.endm

SYM_START(arch_mcount_pre_handler, SYM_L_GLOBAL, SYM_F_ALIGN)
	ANNOTATE_NOENDBR
	CALL_PRE_HANDLER
	testb	%al, %al
	jnz	arch_mcount_stub
	CALL_DEPTH_ACCOUNT
	RET
SYM_FUNC_END(arch_mcount_pre_handler)
STACK_FRAME_NON_STANDARD_FP(arch_mcount_pre_handler)
_ASM_NOKPROBE(arch_mcount_pre_handler)

#ifdef CONFIG_MCOUNT_FTRACE
/*
 * ftrace continues here after it has called other ops, as if the site had called this. %r10, which
 * holds nothing at a function's head, contains the address at which the function continues without
 * redirection, see arch_mcount_ftrace_call(). If other ops have redirected the function, only
 * return.
 */
.macro IN_TURN name to
SYM_START(\name, SYM_L_GLOBAL, SYM_F_ALIGN)
	ANNOTATE_NOENDBR
	cmpq	(%rsp), %r10
	je	\to
	CALL_DEPTH_ACCOUNT
	RET
SYM_FUNC_END(\name)
_ASM_NOKPROBE(\name)
.endm

IN_TURN arch_mcount_stub_in_turn arch_mcount_stub
IN_TURN arch_mcount_pre_handler_in_turn arch_mcount_pre_handler
#endif /* CONFIG_MCOUNT_FTRACE */

#ifdef CONFIG_MCOUNT_FILTER
/*
 * Direct hooks that call the pre-handler if the value of an argument register may be in the filter.
 * Four instructions for each register, since most calls of the kernel do nothing else. %r10 holds
 * nothing at a function's head.
 *
 * A value that seems to be in the filter is looked up again in the second table. Otherwise a single
 * false positive that is passed all the time would cost as much as the values in the filter.
 *
 * The pre-handler's result is ignored: the hook that it would let through is one of these.
 */
.macro ASK_FILTER value, factor, bits, table, found
	imull	$\factor, \value, %r10d
	shrl	$(32 - \bits), %r10d
	cmpb	$0, \table(%r10)
	jne	\found
.endm

.macro ASK_FILTER_FOR_ARGS factor, bits, table, found
	ASK_FILTER %edi, \factor, \bits, \table, \found
	ASK_FILTER %esi, \factor, \bits, \table, \found
	ASK_FILTER %edx, \factor, \bits, \table, \found
	ASK_FILTER %ecx, \factor, \bits, \table, \found
	ASK_FILTER %r8d, \factor, \bits, \table, \found
	ASK_FILTER %r9d, \factor, \bits, \table, \found
.endm

SYM_START(mcount_filter_pre_handler, SYM_L_LOCAL, SYM_A_ALIGN)
	ANNOTATE_NOENDBR
	CALL_PRE_HANDLER
	RET
SYM_FUNC_END(mcount_filter_pre_handler)
STACK_FRAME_NON_STANDARD_FP(mcount_filter_pre_handler)
_ASM_NOKPROBE(mcount_filter_pre_handler)

SYM_START(mcount_filter_again, SYM_L_LOCAL, SYM_A_ALIGN)
	ANNOTATE_NOENDBR
	ASK_FILTER_FOR_ARGS MCOUNT_FILTER_FACTOR_2, MCOUNT_FILTER_BITS_2, \
			    mcount_filter_2, mcount_filter_pre_handler
	RET
SYM_FUNC_END(mcount_filter_again)
_ASM_NOKPROBE(mcount_filter_again)

SYM_START(mcount_filter_hook, SYM_L_GLOBAL, SYM_F_ALIGN)
	ANNOTATE_NOENDBR
	ASK_FILTER_FOR_ARGS MCOUNT_FILTER_FACTOR, MCOUNT_FILTER_BITS, \
			    mcount_filter, mcount_filter_again
	RET
SYM_FUNC_END(mcount_filter_hook)
_ASM_NOKPROBE(mcount_filter_hook)

/* The same; also if the lowest address of the current stack is in the filter. */
SYM_START(mcount_filter_stack_hook, SYM_L_GLOBAL, SYM_F_ALIGN)
	ANNOTATE_NOENDBR
	movl	%esp, %r10d
	andl	$-THREAD_SIZE, %r10d
	ASK_FILTER %r10d, MCOUNT_FILTER_FACTOR, MCOUNT_FILTER_BITS, \
		   mcount_filter, mcount_filter_pre_handler
	jmp	mcount_filter_hook
SYM_FUNC_END(mcount_filter_stack_hook)
_ASM_NOKPROBE(mcount_filter_stack_hook)
#endif /* CONFIG_MCOUNT_FILTER */

#ifdef CONFIG_MCOUNT_RETURNS
/*
 * Pre-handlers of sites before returns, where all registers may hold something: call
 * mcount_return_pre_handler(ip, parent_ip, regs, result). Struct mcount_regs lies on the stack
 * above the saved result, which is only %rax.
 */
.macro RETURN_PRE_HANDLER name stub
SYM_START(\name, SYM_L_GLOBAL, SYM_F_ALIGN)
	ANNOTATE_NOENDBR
	PUSH_FRAMES
	PUSH_REGS
	pushq	%rbp
	pushq	%rax
	pushq	%r10
	pushq	%r11
	movq	32+FRAMES_SIZE+REGS_SIZE(%rsp), %rdi
	movq	32+FRAMES_SIZE+REGS_SIZE+8(%rsp), %rsi
	leaq	24(%rsp), %rdx
	movq	%rax, %rcx
	movq	mcount_return_pre_handler(%rip), %rax
	CALL_NOSPEC rax
	testb	%al, %al
	popq	%r11
	popq	%r10
	popq	%rax
	popq	%rbp
	POP_REGS
	POP_FRAMES
	jnz	\stub
	CALL_DEPTH_ACCOUNT
	RET
SYM_FUNC_END(\name)
STACK_FRAME_NON_STANDARD_FP(\name)
_ASM_NOKPROBE(\name)
.endm

RETURN_PRE_HANDLER arch_mcount_return_pre_handler arch_mcount_return
RETURN_PRE_HANDLER arch_mcount_tail_pre_handler arch_mcount_tail
#endif /* CONFIG_MCOUNT_RETURNS */

/*
 * Call %r10(%r11), a C function, where the compiler expects a call to clobber nothing but these
 * two. The result is in %r10.
 */
SYM_START(arch_mcount_call_preserving, SYM_L_GLOBAL, SYM_F_ALIGN)
	ANNOTATE_NOENDBR
	pushq	%rbp
	movq	%rsp, %rbp
	pushq	%rax
	PUSH_REGS
	movq	%r11, %rdi
	CALL_NOSPEC r10
	movq	%rax, %r10
	POP_REGS
	popq	%rax
	popq	%rbp
	RET
SYM_FUNC_END(arch_mcount_call_preserving)
EXPORT_SYMBOL_GPL(arch_mcount_call_preserving)
_ASM_NOKPROBE(arch_mcount_call_preserving)
