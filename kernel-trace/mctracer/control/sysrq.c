// SPDX-License-Identifier: GPL-2.0
/* SysRq-T freezes recording, as a crash of the kernel does. */
#include <linux/init.h>
#include <linux/mctracer.h>
#include <linux/sysrq.h>

static void sysrq_freeze(u8 key)
{
	mctracer_freeze(MCTRACER_SYSRQ);
}

static const struct sysrq_key_op freeze_op = {
	.handler	= sysrq_freeze,
	.help_msg	= "freeze-function-Trace(T)",
	.action_msg	= "Freeze mctracer",
	.enable_mask	= SYSRQ_ENABLE_DUMP,
};

static int __init mctracer_sysrq_init(void)
{
	return register_sysrq_key('T', &freeze_op);
}
device_initcall(mctracer_sysrq_init);
