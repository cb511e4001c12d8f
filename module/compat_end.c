// SPDX-License-Identifier: GPL-2.0
/* Linked behind all others: where their initcalls end. */
#include <linux/init.h>

const initcall_t mctracer_initcalls_end[0] __section(".init.data.mctracer");
