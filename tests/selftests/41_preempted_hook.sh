#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: A hook that was taken away is no longer run by anyone, preempted tasks included
# requires: root tracer testmod:mct_hook helper:victim

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

plan 11

# An emulated machine takes seconds for each.
loads=${MCT_MODULE_LOADS:-100}
few=$(((loads + 9) / 10))
many=$((4 * loads))
online=$MCT_CPUS/cpu1/online

at_end()
{
	! mod_loaded mct_hook || mod_unload mct_hook
}

hook_loads()
{
	mod_load mct_hook linger=50000 clobber=1
}

# Calls come, and some of them linger.
hook_works()
{
	local before
	before=$(mod_get mct_hook calls)
	cat /proc/self/stat >/dev/null
	[ "$(mod_get mct_hook calls)" -gt "$before" ]
}

# What the module has said when it went, one number a line.
said()
{
	kmsg_since | sed -n 's/.*mct_hook: \([0-9]*\) tasks in the hook$/\1/p'
}

# take_away HOW TIMES COMMAND...: the hook comes, is at work, goes by the command
take_away()
{
	local how=$1 times=$2 i=0 wrong=
	shift 2
	while [ $i -lt "$times" ]; do
		put 1 "$MCT_SYSCTL"
		hook_loads || wrong="$wrong load $i;"
		wait_until 10 hook_works || wrong="$wrong calls $i;"
		"$@" || wrong="$wrong gone $i;"
		mod_unload mct_hook || wrong="$wrong unload $i;"
		i=$((i + 1))
		[ $((i % 20)) -ne 0 ] || diag "$i times"
	done
	equal "$how: $times times it comes and goes" "" "$wrong"
}

# More tasks that want to run than CPUs, so that some wait where they were
# preempted: with such a hook, mostly in it. The nice ones wait for long.
for i in $(seq "$(nproc)"); do
	load_repeat "$MCT_BIN/victim -n mct-spin spin"
	load_repeat "$MCT_BIN/victim -n mct-nice -p 15 spin"
done

# While the tracer's hook comes in turn, no call site has to be patched: that
# makes it many times in a short while.
trace_on
take_away "overridden by the tracer" "$many" put 1 "$MCT_CTRL"
equal "each time it said how many are in it" "$many" "$(said | wc -l)"
equal "no task is in the hook any more" "" "$(said | grep -vx 0 | xargs)"
put 0 "$MCT_CTRL"

take_away "by the module's exit" "$few" true
equal "nor when nobody has taken its place" "" "$(said | grep -vx 0 | xargs)"

take_away "disabled before" "$few" put 0 "$MCT_SYSCTL"
equal "nor when mcount was disabled before" "" "$(said | grep -vx 0 | xargs)"
load_stop

# With idle CPUs, one that goes and comes, and what interrupts them: who waits for hooks there
# relies on RCU's seeing such CPUs.
check "the hook comes once more" mod_load mct_hook
put 1 "$MCT_SYSCTL"
load_repeat "sleep 0.01"
if [ -e "$online" ]; then
	for i in 0 1 0 1; do
		put $i "$online"
	done
fi
sleep 3
load_stop
at_least "it was called" 10000 "$(mod_get mct_hook calls)"
equal "no CPU that is online called it where RCU does not watch" 0 "$(mod_get mct_hook unwatched)"
put 0 "$MCT_SYSCTL"
mod_unload mct_hook

trace_on
check "the tracer records after all" wait_until 10 records_flow
finish
