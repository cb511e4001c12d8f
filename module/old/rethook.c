// SPDX-License-Identifier: GPL-2.0
/*
 * Allocates nodes for caught returns in kernels that add them one by one, and that call the handler
 * without the return address.
 */
#include "compat.h"

static mctracer_compat_returned *returned;

static void function_returned(struct rethook_node *node, void *data, struct pt_regs *regs)
{
	returned(node, data, instruction_pointer(regs), regs);
}

struct rethook *mctracer_compat_rethook_alloc(void *data, mctracer_compat_returned *handler,
					      size_t size, int nr)
{
	struct rethook *rethook = static_call(mctracer_rethook_alloc)(data, function_returned);
	struct rethook_node *node;

	if (!rethook)
		return ERR_PTR(-ENOMEM);
	returned = handler;
	while (nr--) {
		node = kzalloc(size, GFP_KERNEL);
		if (!node) {
			static_call(mctracer_rethook_free)(rethook);
			return ERR_PTR(-ENOMEM);
		}
		static_call(mctracer_rethook_add_node)(rethook, node);
	}
	return rethook;
}
