// SPDX-License-Identifier: GPL-2.0
/* The header of persistent rings, with symbols that the kernel does not export. */
#include <asm/sections.h>

#include "mctracer/crash/persistent.h"

/* Defined after their declarations. */
#define _text		mctracer_at__text
#define _einittext	mctracer_at__einittext
#define __start_notes	mctracer_at___start_notes
#define __stop_notes	mctracer_at___stop_notes

#include "mctracer/crash/persistent_header.c"
