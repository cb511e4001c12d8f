/* SPDX-License-Identifier: GPL-2.0 */
/* Older kernels declare this elsewhere. */
#include <asm/unaligned.h>
