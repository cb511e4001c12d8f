/* SPDX-License-Identifier: GPL-2.0 */
/* Includes the header that has these declarations in older kernels. */
#include <linux/kernel.h>
