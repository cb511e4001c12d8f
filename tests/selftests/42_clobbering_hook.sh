#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: A plain hook may change each register that a C function may
# requires: root tracer testmod:mct_regs testmod:mct_hook

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

rounds=${MCT_REGS_ROUNDS:-200}

plan 5

at_end()
{
	! mod_loaded mct_regs || mod_unload mct_regs
	! mod_loaded mct_hook || mod_unload mct_hook
}

check "the comparing module loads" mod_load mct_regs rounds=1
check "the module with the hook that changes all these registers loads" mod_load mct_hook clobber=1
put 1 "$MCT_SYSCTL"
regs_rounds "no traced function notices" "$rounds"
put 0 "$MCT_SYSCTL"
at_least "the hook was called" "$rounds" "$(mod_get mct_hook calls)"
equal "the comparing module has completed all rounds" $((rounds + 1)) \
	"$(mod_get mct_regs rounds)"
finish
