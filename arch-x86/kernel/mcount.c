// SPDX-License-Identifier: GPL-2.0
/*
 * Switch the stub between calling nobody and calling a hook's entry code; and the
 * instructions that a call site can be.
 */
#include <linux/cpu.h>
#include <linux/ftrace.h>
#include <linux/mcount.h>
#include <linux/memory.h>
#include <linux/mutex.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include <asm/alternative.h>
#include <asm/ibt.h>
#include <asm/nops.h>
#include <asm/text-patching.h>

/* The accounting padding before @entry, where needed; else past its ENDBR, if any. */
static void *jump_target(void *entry)
{
	void *target = callthunks_translate_call_dest(entry);

	if (target == entry && is_endbr(*(u32 *)entry))
		target += ENDBR_INSN_SIZE;
	return target;
}

/*
 * text_poke_bp() makes the change one step for every CPU: one that meets the
 * site meanwhile takes a breakpoint, and its handler does what the new
 * instruction says.
 */
void arch_mcount_switch(mcount_direct_func_t entry)
{
	const void *insn = x86_nops[JMP32_INSN_SIZE];
	void *site = __fentry__;

	lockdep_assert_cpus_held();

	mutex_lock(&text_mutex);
	if (entry)
		insn = text_gen_insn(JMP32_INSN_OPCODE, site, jump_target(entry));
	if (memcmp(site, insn, JMP32_INSN_SIZE))
		text_poke_bp(site, insn, JMP32_INSN_SIZE, NULL);
	mutex_unlock(&text_mutex);
}

/* Neither of what is called begins with an ENDBR. */
void arch_mcount_site_insn(u8 *insn, void *site, enum mcount_site kind)
{
	void *called = kind == MCOUNT_GATE ? arch_mcount_gate : __fentry__;

	if (kind == MCOUNT_NOTHING)
		memcpy(insn, x86_nops[MCOUNT_SITE_SIZE], MCOUNT_SITE_SIZE);
	else
		__text_gen_insn(insn, CALL_INSN_OPCODE, site, called, MCOUNT_SITE_SIZE);
}

int arch_mcount_site_kind(const void *site)
{
	const u8 *insn = site;
	const void *called = site + MCOUNT_SITE_SIZE + get_unaligned((const s32 *)(insn + 1));

	if (!memcmp(insn, x86_nops[MCOUNT_SITE_SIZE], MCOUNT_SITE_SIZE))
		return MCOUNT_NOTHING;
	if (*insn == CALL_INSN_OPCODE && called == (const void *)__fentry__)
		return MCOUNT_HOOK;
	if (*insn == CALL_INSN_OPCODE && called == (const void *)arch_mcount_gate)
		return MCOUNT_GATE;
	return -EINVAL;
}
