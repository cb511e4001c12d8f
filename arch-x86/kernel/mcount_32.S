/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The stub that every traced function calls, and the entry code for plain C hooks and pre-handlers,
 * 32-bit. asm/mcount.h describes the stack and the registers.
 */
#include <linux/export.h>
#include <linux/linkage.h>
#include <asm/asm.h>
#include <asm/mcount.h>
#include <asm/nops.h>
#include <asm/nospec-branch.h>

	.section .text, "ax"

/*
 * A NOP and a return while there is no hook to call. arch_mcount_switch() patches the NOP to a jump
 * to entry code and back. A kprobe here would patch the same bytes, and every function would hit
 * it.
 */
SYM_FUNC_START(arch_mcount_stub)
	.byte	BYTES_NOP5
	RET
SYM_FUNC_END(arch_mcount_stub)
SYM_FUNC_ALIAS(__fentry__, arch_mcount_stub)
EXPORT_SYMBOL(__fentry__)
_ASM_NOKPROBE(arch_mcount_stub)

/*
 * The traced function has not set up its frame, so a frame pointer unwinder would miss the function
 * and its caller. Make both frames for it.
 */
#ifdef CONFIG_FRAME_POINTER
#define FRAMES_SIZE	16

.macro PUSH_FRAMES
	pushl	4(%esp)			/* the caller's: return address ... */
	pushl	%ebp			/* ... and link */
	movl	%esp, %ebp
	pushl	8(%esp)			/* the traced function's */
	pushl	%ebp
	movl	%esp, %ebp
.endm

.macro POP_FRAMES
	movl	8(%esp), %ebp
	addl	$FRAMES_SIZE, %esp
.endm

#else /* !CONFIG_FRAME_POINTER */
#define FRAMES_SIZE	0

.macro PUSH_FRAMES
.endm

.macro POP_FRAMES
.endm
#endif /* CONFIG_FRAME_POINTER */

#define REGS_SIZE	(3 * 4)

/*
 * Call mcount_hook(ip, parent_ip), a C function like any other: save the registers that such a
 * function may clobber although the traced function's caller does not expect a call of the stub to
 * clobber them. Loading the pointer and calling it need not be atomic: the core changes mcount_hook
 * first, then waits until no CPU runs the previous hook.
 */
SYM_FUNC_START(arch_mcount_call_hook)
	PUSH_FRAMES
	pushl	%eax
	pushl	%ecx
	pushl	%edx
	movl	FRAMES_SIZE+REGS_SIZE(%esp), %eax
	movl	FRAMES_SIZE+REGS_SIZE+4(%esp), %edx
	movl	mcount_hook, %ecx
	CALL_NOSPEC ecx
	popl	%edx
	popl	%ecx
	popl	%eax
	POP_FRAMES
	RET
SYM_FUNC_END(arch_mcount_call_hook)
_ASM_NOKPROBE(arch_mcount_call_hook)

/*
 * Sites of MCOUNT_PRE_HANDLER call this: call mcount_pre_handler(ip, parent_ip, regs), a C function
 * like mcount_hook. If it returns true, continue at the stub, as if the site had called that. The
 * last pushed registers form struct mcount_regs.
 */
SYM_FUNC_START(arch_mcount_pre_handler)
	PUSH_FRAMES
	pushl	%eax
	pushl	%ecx
	pushl	%edx
	pushl	%ebp
	movl	4+FRAMES_SIZE+REGS_SIZE(%esp), %eax
	movl	4+FRAMES_SIZE+REGS_SIZE+4(%esp), %edx
	movl	%esp, %ecx
	pushl	%ebx
	movl	mcount_pre_handler, %ebx
	CALL_NOSPEC ebx
	popl	%ebx
	testb	%al, %al
	popl	%ebp
	popl	%edx
	popl	%ecx
	popl	%eax
	jz	1f
	POP_FRAMES
	jmp	arch_mcount_stub
1:
	POP_FRAMES
	RET
SYM_FUNC_END(arch_mcount_pre_handler)
_ASM_NOKPROBE(arch_mcount_pre_handler)

/*
 * Call %eax(%edx), a C function, where the compiler expects a call to clobber only these two. The
 * result is in %eax.
 */
SYM_FUNC_START(arch_mcount_call_preserving)
	pushl	%ebp
	movl	%esp, %ebp
	pushl	%ecx
	movl	%eax, %ecx
	movl	%edx, %eax
	CALL_NOSPEC ecx
	popl	%ecx
	popl	%ebp
	RET
SYM_FUNC_END(arch_mcount_call_preserving)
EXPORT_SYMBOL_GPL(arch_mcount_call_preserving)
_ASM_NOKPROBE(arch_mcount_call_preserving)
