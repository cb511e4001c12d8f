// SPDX-License-Identifier: GPL-2.0
/*
 * Switch the stub between returning and jumping to a hook's entry code, and generate and recognize
 * the instructions of call sites.
 */
#include <linux/cleanup.h>
#include <linux/cpu.h>
#include <linux/ftrace.h>
#include <linux/kprobes.h>
#include <linux/mcount.h>
#include <linux/memory.h>
#include <linux/mutex.h>
#include <linux/preempt.h>
#include <linux/string.h>
#include <linux/unaligned.h>

#include <asm/alternative.h>
#include <asm/ibt.h>
#include <asm/nops.h>
#include <asm/nospec-branch.h>
#include <asm/text-patching.h>

/*
 * Return where a jump to @entry must go: to the call depth accounting in the padding before @entry,
 * if this kernel needs it; else past its ENDBR, if any.
 */
static void *mcount_jump_target(void *entry)
{
	void *target = callthunks_translate_call_dest(entry);

	if (target == entry && is_endbr(*(u32 *)entry))
		target += ENDBR_INSN_SIZE;
	return target;
}

/*
 * text_poke_bp() makes the change atomic for every CPU: a CPU that executes the site meanwhile
 * takes a breakpoint, and its handler emulates the new instruction.
 */
static void mcount_patch_stub(void *stub, mcount_direct_func_t entry)
{
	const void *insn = x86_nops[JMP32_INSN_SIZE];

	lockdep_assert_cpus_held();

	mutex_lock(&text_mutex);
	if (entry)
		insn = text_gen_insn(JMP32_INSN_OPCODE, stub, mcount_jump_target(entry));
	if (memcmp(stub, insn, JMP32_INSN_SIZE))
		text_poke_bp(stub, insn, JMP32_INSN_SIZE, NULL);
	mutex_unlock(&text_mutex);
}

void arch_mcount_switch(mcount_direct_func_t entry)
{
	mcount_patch_stub(arch_mcount_stub, entry);
}

void arch_mcount_switch_returns(mcount_direct_func_t on_return, mcount_direct_func_t on_tail)
{
	if (!IS_ENABLED(CONFIG_MCOUNT_RETURNS))
		return;
	mcount_patch_stub(arch_mcount_return, on_return);
	mcount_patch_stub(arch_mcount_tail, on_tail);
}

#define REP_PREFIX	0xf3

/*
 * Return true if @insn is what boot has made of a return: a return, or a jump to the thunk that
 * this processor needs.
 */
static bool mcount_insn_is_return(const u8 *insn, u8 opcode)
{
	const void *target = insn + JMP32_INSN_SIZE + get_unaligned((const s32 *)(insn + 1));

	if (opcode == RET_INSN_OPCODE)
		return true;
	if (opcode == REP_PREFIX && insn[1] == RET_INSN_OPCODE)		/* for CONFIG_MK8 */
		return true;
	return IS_ENABLED(CONFIG_MITIGATION_RETHUNK) && opcode == JMP32_INSN_OPCODE &&
	       target == (const void *)x86_return_thunk;
}

/*
 * Return the kprobe at @insn. Skip the probe of an unloaded module: another module's code may be
 * there now.
 */
static const struct kprobe *mcount_kprobe_at(const u8 *insn)
{
	struct kprobe *probe = get_kprobe((void *)insn);

	return probe && !kprobe_gone(probe) ? probe : NULL;
}

/*
 * Behind a breakpoint of a kprobe, use the saved opcode; any other breakpoint counts as a return.
 * The result may change: a jump that static_call() patches is a return while it has no target.
 */
bool arch_mcount_is_tail(const void *site)
{
	const u8 *insn = site + MCOUNT_SITE_SIZE;
	const struct kprobe *probe;
	u8 opcode;

	guard(preempt)();
	probe = mcount_kprobe_at(insn);
	opcode = probe ? probe->opcode : *insn;
	return opcode != INT3_INSN_OPCODE && !mcount_insn_is_return(insn, opcode);
}

/* Return true if the site can be a return itself: not while a kprobe behind it must be hit. */
static bool mcount_may_hold_return(const void *site)
{
	const u8 *insn = site + MCOUNT_SITE_SIZE;

	guard(preempt)();
	return !mcount_kprobe_at(insn) && mcount_insn_is_return(insn, *insn);
}

/* Generate a return for @site: a jump to the thunk where the address needs it. */
static void mcount_generate_return(u8 *insn, const void *site)
{
	if (cpu_wants_rethunk_at((void *)site)) {
		__text_gen_insn(insn, JMP32_INSN_OPCODE, site, x86_return_thunk,
				MCOUNT_SITE_SIZE);
		return;
	}
	memset(insn, INT3_INSN_OPCODE, MCOUNT_SITE_SIZE);
	*insn = RET_INSN_OPCODE;
}

bool arch_mcount_holds_return(const void *site)
{
	u8 insn[MCOUNT_SITE_SIZE];

	if (!IS_ENABLED(CONFIG_MCOUNT_RETURNS))
		return false;
	mcount_generate_return(insn, site);
	return !memcmp(site, insn, sizeof(insn));
}

static void *mcount_site_target(const void *site, enum mcount_site kind, bool returns)
{
	if (!IS_ENABLED(CONFIG_MCOUNT_RETURNS) || !returns)
		return kind == MCOUNT_PRE_HANDLER ? arch_mcount_pre_handler : arch_mcount_stub;
	if (arch_mcount_is_tail(site))
		return kind == MCOUNT_PRE_HANDLER ? arch_mcount_tail_pre_handler : arch_mcount_tail;
	return kind == MCOUNT_PRE_HANDLER ? arch_mcount_return_pre_handler : arch_mcount_return;
}

/* The called functions don't begin with an ENDBR. */
void arch_mcount_site_insn(u8 *insn, void *site, enum mcount_site kind, bool returns)
{
	if (kind != MCOUNT_NOTHING)
		__text_gen_insn(insn, CALL_INSN_OPCODE, site,
				mcount_site_target(site, kind, returns),
				MCOUNT_SITE_SIZE);
	else if (IS_ENABLED(CONFIG_MCOUNT_RETURNS) && returns && mcount_may_hold_return(site))
		mcount_generate_return(insn, site);
	else
		memcpy(insn, x86_nops[MCOUNT_SITE_SIZE], MCOUNT_SITE_SIZE);
}

/* A former return may be a jump now, so accept the functions of both. */
static int mcount_kind_of_call(const void *called, bool returns)
{
	if (!IS_ENABLED(CONFIG_MCOUNT_RETURNS) || !returns) {
		if (called == (const void *)arch_mcount_stub)
			return MCOUNT_HOOK;
		return called == (const void *)arch_mcount_pre_handler ? MCOUNT_PRE_HANDLER :
		       -EINVAL;
	}
	if (called == (const void *)arch_mcount_return ||
	    called == (const void *)arch_mcount_tail)
		return MCOUNT_HOOK;
	if (called == (const void *)arch_mcount_return_pre_handler ||
	    called == (const void *)arch_mcount_tail_pre_handler)
		return MCOUNT_PRE_HANDLER;
	return -EINVAL;
}

int arch_mcount_site_kind(const void *site, bool returns)
{
	const u8 *insn = site;

	if (!memcmp(insn, x86_nops[MCOUNT_SITE_SIZE], MCOUNT_SITE_SIZE))
		return MCOUNT_NOTHING;
	if (*insn != CALL_INSN_OPCODE)
		return returns && arch_mcount_holds_return(site) ? MCOUNT_NOTHING : -EINVAL;
	return mcount_kind_of_call(site + MCOUNT_SITE_SIZE + get_unaligned((const s32 *)(insn + 1)),
				   returns);
}
