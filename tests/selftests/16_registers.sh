#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: The stub and the hooks preserve arguments, results and registers
# requires: root tracer hackbench testmod:mct_regs

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

rounds=${MCT_REGS_ROUNDS:-1000}
toggles=6
sample=
[ -n "$(missing module:mcount-sample)" ] || sample=yes

plan 15

at_end()
{
	[ ! -w "$MCT_DIR/options" ] || {
		put nocontext "$MCT_DIR/options"
		put overwrite "$MCT_DIR/options"
	}
	! mod_loaded mct_regs || mod_unload mct_regs
	! mod_loaded mcount_sample || mod_unload mcount_sample
}

# toggled_test NAME FILE: like regs_rounds, while the file is toggled a few times
toggled_test()
{
	local before wrong=
	before=$(mod_get mct_regs rounds)
	toggles_start "$2"
	while [ -z "$wrong" ] && ! toggles_reach $toggles; do
		mod_set mct_regs rounds 100 2>/dev/null || wrong=yes
	done
	toggles_stop
	diag "$(($(mod_get mct_regs rounds) - before)) rounds"
	if [ -z "$wrong" ]; then
		ok "$1"
	else
		not_ok "$1"
		kmsg_since | grep 'mct_regs: ' | diag_lines
	fi
	check "$1: no toggle failed" not toggles_failed
}

check "the module loads, and finds no difference with the tracer off" \
	mod_load mct_regs rounds=10
regs_rounds "registers are preserved with the tracer off" "$rounds"
load_start
trace_on
regs_rounds "registers are preserved with the tracer's hook" "$rounds"
check "the tracer's hook is called" records_flow
toggled_test "registers are preserved while the tracer's hook is registered and unregistered" \
	"$MCT_CTRL"
trace_on
toggled_test "registers are preserved while the tracer's hook is enabled and disabled" "$MCT_SYSCTL"

# Each combination of these options has a hook of its own.
put 1 "$MCT_SYSCTL"
for options in "context overwrite" "nocontext nooverwrite" "context nooverwrite"; do
	name="registers are preserved with the hook for $options"
	if [ ! -w "$MCT_DIR/options" ]; then
		skip "$name" "there are no options"
		continue
	fi
	for option in $options; do
		put "$option" "$MCT_DIR/options"
	done
	regs_rounds "$name" "$rounds"
done

if [ -n "$sample" ]; then
	modprobe mcount-sample
	regs_rounds "registers are preserved with a module's plain hook" "$rounds"
	toggled_test "registers are preserved while a plain hook is enabled and disabled" \
		"$MCT_SYSCTL"
else
	for name in "registers are preserved with a module's plain hook" \
		    "registers are preserved while a plain hook is enabled and disabled" \
		    "no toggle failed"; do
		skip "$name" "no module mcount-sample"
	done
fi
trace_off
regs_rounds "registers are preserved when all is off again" "$rounds"
finish
