// SPDX-License-Identifier: GPL-2.0
/* Allocates nodes for caught returns. */
#include "compat.h"

struct rethook *mctracer_compat_rethook_alloc(void *data, mctracer_compat_returned *handler,
					      size_t size, int nr)
{
	return static_call(mctracer_rethook_alloc)(data, handler, size, nr);
}
