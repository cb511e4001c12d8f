// SPDX-License-Identifier: GPL-2.0
/*
 * Switch the stub between calling nobody and calling a hook's entry code.
 */
#include <linux/mcount.h>
#include <linux/memory.h>
#include <linux/mutex.h>
#include <linux/string.h>

#include <asm/alternative.h>
#include <asm/nops.h>
#include <asm/text-patching.h>

extern u8 mcount_switch_site[JMP32_INSN_SIZE];

/*
 * text_poke_bp() makes the change one step for every CPU: one that meets the
 * site meanwhile takes a breakpoint, and its handler does what the new
 * instruction says.
 */
void arch_mcount_switch(mcount_direct_func_t entry)
{
	const void *insn = x86_nops[JMP32_INSN_SIZE];

	mutex_lock(&text_mutex);
	if (entry)
		insn = text_gen_insn(JMP32_INSN_OPCODE, mcount_switch_site,
				     callthunks_translate_call_dest(entry));
	if (memcmp(mcount_switch_site, insn, JMP32_INSN_SIZE))
		text_poke_bp(mcount_switch_site, insn, JMP32_INSN_SIZE, NULL);
	mutex_unlock(&text_mutex);
}
