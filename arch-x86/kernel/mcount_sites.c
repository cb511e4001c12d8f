// SPDX-License-Identifier: GPL-2.0
/*
 * Change call sites: many in a batch, a site that does not run yet, or one that must become a NOP.
 */
#include <linux/bug.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/kallsyms.h>
#include <linux/lockdep.h>
#include <linux/mcount.h>
#include <linux/memory.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/string.h>

#include <asm/nmi.h>
#include <asm/nops.h>
#include <asm/text-patching.h>

/* A module's text does not run yet. NMIs may run the kernel's own text, so they are stopped. */
void __init_or_module arch_mcount_site_init(void *site, bool returns)
{
	u8 insn[MCOUNT_SITE_SIZE];

	arch_mcount_site_insn(insn, site, MCOUNT_NOTHING, returns);
	if (!memcmp(site, insn, sizeof(insn)))
		return;
	if (is_kernel((unsigned long)site)) {
		WARN_ON_ONCE(num_online_cpus() > 1);
		guard(preempt)();
		stop_nmi();
		text_poke_early(site, insn, sizeof(insn));
		restart_nmi();
	} else {
		text_poke_early(site, insn, sizeof(insn));
	}
}

/* The change is atomic for every CPU, as in arch_mcount_switch(). */
void arch_mcount_site_queue(void *site, enum mcount_site kind, bool returns)
{
	u8 insn[MCOUNT_SITE_SIZE];

	lockdep_assert_held(&text_mutex);
	arch_mcount_site_insn(insn, site, kind, returns);
	text_poke_queue(site, insn, sizeof(insn), NULL);
}

void arch_mcount_sites_finish(void)
{
	lockdep_assert_cpus_held();
	text_poke_finish();
}

void mcount_open_return(void *insn)
{
	void *site = insn - MCOUNT_SITE_SIZE;

	lockdep_assert_cpus_held();
	lockdep_assert_held(&text_mutex);
	if (mcount_is_site((unsigned long)site) && arch_mcount_holds_return(site))
		text_poke_bp(site, x86_nops[MCOUNT_SITE_SIZE], MCOUNT_SITE_SIZE, NULL);
}
