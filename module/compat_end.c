// SPDX-License-Identifier: GPL-2.0
/* Marks the end of the initcalls: this object is linked after all others. */
#include <linux/init.h>

const initcall_t mctracer_initcalls_end[0] __section(".init.data.mctracer");
