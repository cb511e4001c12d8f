// SPDX-License-Identifier: GPL-2.0
/* Mark the end of the initcalls. Linked last. */
#include <linux/init.h>

const initcall_t mctracer_initcalls_end[0] __section(".init.data.mctracer");
