/* SPDX-License-Identifier: GPL-2.0 */
/* Where older kernels have that. */
#include <linux/cpu.h>
