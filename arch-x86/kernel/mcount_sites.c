// SPDX-License-Identifier: GPL-2.0
/*
 * The two instructions that a call site can be.
 */
#include <linux/cpu.h>
#include <linux/ftrace.h>
#include <linux/mcount.h>
#include <linux/string.h>

#include <asm/nops.h>
#include <asm/text-patching.h>

static const void *site_insn(void *site, bool call)
{
	if (!call)
		return x86_nops[MCOUNT_SITE_SIZE];
	return text_gen_insn(CALL_INSN_OPCODE, site, __fentry__);
}

bool arch_mcount_site_is(void *site, const u8 *found, bool call)
{
	return !memcmp(found, site_insn(site, call), MCOUNT_SITE_SIZE);
}

/* As in arch_mcount_switch(): for every CPU it is one or the other. */
void arch_mcount_site_queue(void *site, bool call)
{
	text_poke_queue(site, site_insn(site, call), MCOUNT_SITE_SIZE, NULL);
}

void arch_mcount_sites_finish(void)
{
	lockdep_assert_cpus_held();
	text_poke_finish();
}
