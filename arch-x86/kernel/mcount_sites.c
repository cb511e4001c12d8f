// SPDX-License-Identifier: GPL-2.0
/*
 * Changing call sites, all at once.
 */
#include <linux/cpu.h>
#include <linux/mcount.h>

#include <asm/text-patching.h>

/* As in arch_mcount_switch(): for every CPU it is one or the other. */
void arch_mcount_site_queue(void *site, enum mcount_site kind, bool returns)
{
	u8 insn[MCOUNT_SITE_SIZE];

	arch_mcount_site_insn(insn, site, kind, returns);
	text_poke_queue(site, insn, sizeof(insn), NULL);
}

void arch_mcount_sites_finish(void)
{
	lockdep_assert_cpus_held();
	text_poke_finish();
}
