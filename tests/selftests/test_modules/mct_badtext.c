// SPDX-License-Identifier: GPL-2.0
/*
 * Overwrite the call site of a kernel function while this module is loaded.
 *
 *   # insmod mct_badtext.ko function=kernel_halt
 *
 * The kernel does not export functions that write text, so a kprobe finds their addresses: it is
 * placed directly after the call site. text_poke_kgdb() takes no mutex.
 */
#include <linux/errno.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/mcount.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/string.h>

static char *function = "kernel_halt";
module_param(function, charp, 0400);
MODULE_PARM_DESC(function, "The function, which must not be called while the module is loaded");

static void *(*poke)(void *addr, const void *opcode, size_t len);
static unsigned long (*lookup)(const char *name);
static void *site;
static u8 before[MCOUNT_SITE_SIZE];

static unsigned long behind_site(const char *name)
{
	struct kprobe probe = { .symbol_name = name };
	unsigned long addr;

	if (register_kprobe(&probe))
		return 0;
	addr = (unsigned long)probe.addr;
	unregister_kprobe(&probe);
	return addr;
}

static int __init mct_badtext_init(void)
{
	static const u8 wrong[MCOUNT_SITE_SIZE] = { 0x90, 0x90, 0x90, 0x90, 0x90 };
	unsigned long addr = behind_site(function);

	/* The function may be called at the address after its call site. */
	lookup = (void *)behind_site("kallsyms_lookup_name");
	if (!addr || !lookup)
		return -ENOENT;
	poke = (void *)lookup("text_poke_kgdb");
	if (!poke)
		return -ENOENT;
	site = (void *)(addr - MCOUNT_SITE_SIZE);
	memcpy(before, site, sizeof(before));
	poke(site, wrong, sizeof(wrong));
	return 0;
}

static void __exit mct_badtext_exit(void)
{
	poke(site, before, sizeof(before));
}

module_init(mct_badtext_init);
module_exit(mct_badtext_exit);

MODULE_DESCRIPTION("Selftest of mcount: a call site that is overwritten");
MODULE_LICENSE("GPL");
