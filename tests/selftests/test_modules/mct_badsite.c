// SPDX-License-Identifier: GPL-2.0
/*
 * A module with a wrong entry in its table of call sites.
 *
 *   # insmod mct_badsite.ko
 *   # cat /sys/module/mct_badsite/parameters/same
 *
 * same: 1 if the memory at that entry is still unchanged
 */
#include <linux/compiler.h>
#include <linux/init.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/objtool.h>
#include <linux/string.h>
#include <asm/asm.h>

/* Five bytes that are neither the NOP nor the call of a call site, in no traced function. */
void mct_badsite_place(void);
asm("	.pushsection .text, \"ax\"\n"
"	.globl mct_badsite_place\n"
"mct_badsite_place:\n"
	ANNOTATE_NOENDBR
"	.byte 0x90, 0x90, 0x90, 0x90, 0x90, 0xcc\n"
"	.popsection\n"
"	.pushsection __mcount_loc, \"a\"\n"
	_ASM_PTR "mct_badsite_place\n"
"	.popsection\n");

static const u8 wanted[] = { 0x90, 0x90, 0x90, 0x90, 0x90 };

static int same_get(char *buf, const struct kernel_param *kp)
{
	const u8 *place = (const u8 *)mct_badsite_place;

	OPTIMIZER_HIDE_VAR(place);
	return sysfs_emit(buf, "%d\n", !memcmp(place, wanted, sizeof(wanted)));
}

static const struct kernel_param_ops same_ops = {
	.get	= same_get,
};

module_param_cb(same, &same_ops, NULL, 0400);
MODULE_PARM_DESC(same, "1 if the wrong call site is unchanged");

static int __init mct_badsite_init(void)
{
	return 0;
}

static void __exit mct_badsite_exit(void)
{
}

module_init(mct_badsite_init);
module_exit(mct_badsite_exit);

MODULE_DESCRIPTION("Selftest of mcount: a wrong call site");
MODULE_LICENSE("GPL");
