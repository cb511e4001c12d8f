// SPDX-License-Identifier: GPL-2.0
/* The tracer, with a function that only the module needs: it frees the rings. */
#include "mctracer/control/tracer.c"
#include "base.h"

void mctracer_free_rings(void)
{
	guard(mutex)(&memory_mutex);
	guard(mutex)(&mctracer_mutex);
	tracer_free_rings(&mctracer_rings);
	have_rings = false;
}
