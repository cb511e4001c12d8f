/* SPDX-License-Identifier: GPL-2.0 */
/* Older kernels declare this elsewhere. */
#include <linux/kernel.h>
