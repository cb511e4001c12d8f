#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: Each hook preserves the preempt count, with all options
# requires: root tracer testmod:mct_regs testmod:mct_hook

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=rings.sh
. "$(dirname "$0")/rings.sh"

rounds=${MCT_REGS_ROUNDS:-200}

plan 16

at_end()
{
	! mod_loaded mct_regs || mod_unload mct_regs
	! mod_loaded mct_hook || mod_unload mct_hook
	put nocontext "$MCT_OPTIONS"
	rings_restore
}

# The module compares the count before and after, with preemption on and off
# and with interrupts off.
unchanged()
{
	regs_rounds "$1: no call changes the preempt count" "$rounds"
}

# In rings that overwrite, and in full ones that do not.
check "the module loads" mod_load mct_regs rounds=1
for context in nocontext context; do
	put $context "$MCT_OPTIONS"
	for overwrite in overwrite nooverwrite; do
		put overwrite "$MCT_OPTIONS"
		trace_clear
		storm
		put $overwrite "$MCT_OPTIONS"
		lost=$(stat_sum "$LOST")
		trace_on
		unchanged "$context, $overwrite"
		trace_off
		if [ $overwrite = overwrite ]; then
			at_least "$context, $overwrite: calls are recorded" \
				"$RING_RECORDS" "$(stat_sum "$ENTRIES")"
		else
			at_least "$context, $overwrite: the ring is full" \
				$((lost + rounds)) "$(stat_sum "$LOST")"
		fi
		put overwrite "$MCT_OPTIONS"
		check "$context, $overwrite: the counts add up" counts_add_up
	done
done

check "a module's plain hook is registered" mod_load mct_hook
put 1 "$MCT_SYSCTL"
unchanged "a plain hook"
at_least "a plain hook: it is called" "$rounds" "$(mod_get mct_hook calls)"
put 0 "$MCT_SYSCTL"
finish
