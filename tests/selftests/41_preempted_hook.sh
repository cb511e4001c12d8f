#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: After its removal no task runs a hook, not even a preempted one
# requires: root tracer testmod:mct_hook helper:victim

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

plan 11

# A load takes seconds on an emulated machine.
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

# Succeed if the hook is called. Some calls linger in it.
hook_works()
{
	local before
	before=$(mod_get mct_hook calls)
	cat /proc/self/stat >/dev/null
	[ "$(mod_get mct_hook calls)" -gt "$before" ]
}

# Print the number of tasks in the hook that the module logged at each unload, one per line.
said()
{
	kmsg_since | sed -n 's/.*mct_hook: \([0-9]*\) tasks in the hook$/\1/p'
}

# take_away HOW TIMES COMMAND...: load the hook, wait until it is called, remove it with the
# command
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
	equal "the hook loads and unloads $times times, $how" "" "$wrong"
}

# Run more tasks than CPUs, so that some tasks wait where they were preempted: with this hook,
# mostly in it. Nice tasks wait for long.
for i in $(seq "$(nproc)"); do
	load_repeat "$MCT_BIN/victim -n mct-spin spin"
	load_repeat "$MCT_BIN/victim -n mct-nice -p 15 spin"
done

# The tracer replaces the hook without patching call sites, which allows many removals in a short
# time.
trace_on
take_away "removed by the tracer's hook" "$many" put 1 "$MCT_CTRL"
equal "the module logs the number of tasks in the hook each time" "$many" "$(said | wc -l)"
equal "no task is in a hook that the tracer has replaced" "" "$(said | grep -vx 0 | xargs)"
put 0 "$MCT_CTRL"

take_away "removed by the module's exit" "$few" true
equal "no task is in a hook that the module's exit has removed" "" "$(said | grep -vx 0 | xargs)"

take_away "removed after mcount is disabled" "$few" put 0 "$MCT_SYSCTL"
equal "no task is in a hook that is removed after mcount is disabled" \
	"" "$(said | grep -vx 0 | xargs)"
load_stop

# Call the hook on idle CPUs, on a CPU that goes offline and online, and in interrupts of both. The
# code that waits for hooks relies on RCU watching these CPUs.
check "the hook loads once more" mod_load mct_hook
put 1 "$MCT_SYSCTL"
load_repeat "sleep 0.01"
if [ -e "$online" ]; then
	for i in 0 1 0 1; do
		put $i "$online"
	done
fi
sleep 3
load_stop
at_least "the hook is called on idle CPUs" 10000 "$(mod_get mct_hook calls)"
equal "no online CPU calls the hook where RCU does not watch" 0 "$(mod_get mct_hook unwatched)"
put 0 "$MCT_SYSCTL"
mod_unload mct_hook

trace_on
check "the tracer records at the end" wait_until 10 records_flow
finish
