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
 * To be preserved are all registers but %r10, %r11 and the flags: those carry
 * neither arguments nor, since -pg turns -fipa-ra off, anything across a call.
 * Assembly that calls C functions where a compiler does not expect it saves them.
 */
#ifndef _ASM_X86_MCOUNT_H
#define _ASM_X86_MCOUNT_H

#ifndef CC_USING_FENTRY
#error "CONFIG_MCOUNT needs a compiler that knows -mfentry"
#endif

#ifndef __ASSEMBLY__

#include <asm/rwonce.h>
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
 * pointer. Volatile, so that each is loaded where it is used and occupies no
 * register, to be saved, before.
 */
#define arch_mcount_direct_ip()						\
	READ_ONCE(((const unsigned long *)__builtin_dwarf_cfa())[-1])
#define arch_mcount_direct_parent_ip()					\
	READ_ONCE(((const unsigned long *)__builtin_dwarf_cfa())[0])

#define MCOUNT_SITE_SIZE	CALL_INSN_SIZE

#endif /* __ASSEMBLY__ */

#endif /* _ASM_X86_MCOUNT_H */
