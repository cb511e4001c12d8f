#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: A writer that waits for a task that does not sleep delays no module and no reader
# requires: root tracer smp timeout testmod:mct_spinner testmod:mct_target testmod:mct_twin
# requires: testmod:mct_context

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=rings.sh
. "$(dirname "$0")/rings.sh"

# A grace period of Tasks RCU lasts at least as long as this kernel thread runs. The first trigger
# waits for one.
seconds=${MCT_SPIN:-20}
most=${MCT_MOST:-8}	# limit for other operations on a slow machine, in seconds
writer=

at_end()
{
	[ -z "$writer" ] || wait "$writer"
	writer=
	put "" "$MCT_DIR/triggers"
	put "" "$MCT_DIR/filter"
	put function "$MCT_DIR/mode"
	put notime "$MCT_DIR/options"
	put nocontext "$MCT_DIR/options"
	put "" "$MCT_DIR/pid"
	put 0 "$MCT_DIR/snapshot"
	rings_restore
	for module in mct_spinner mct_target mct_twin mct_context; do
		! mod_loaded $module || mod_unload $module
	done
}

plan 42

writes()
{
	kill -0 "$writer" 2>/dev/null
}

# at_once COMMAND...: succeed if the command ends in time and the writer still waits
at_once()
{
	timeout $most "$@" > /dev/null && writes
}

loads()
{
	local begun
	begun=$(now)
	mod_load "$1" && mod_unload "$1" && [ $(($(now) - begun)) -le $most ] && writes
}

put "" "$MCT_DIR/triggers"
trace_on
check "a kernel thread runs for $seconds s" mod_load mct_spinner seconds="$seconds"
put vfs_read:count "$MCT_DIR/triggers" &
writer=$!
sleep 2
if writes; then
	for file in ctrl stats options mode filter notrace pid triggers tracing_on \
		    buffer_size_kb; do
		check "$file can be read while the writer waits" at_once cat "$MCT_DIR/$file"
	done
	for file in trace trace_pipe functions; do
		check "$file can be read while the writer waits" \
			at_once head -n 100 "$MCT_DIR/$file"
	done
	check "raw can be read while the writer waits" \
		at_once dd if="$(per_cpu 0 raw)" of=/dev/null bs=64k count=1
	check "max_stack can be read while the writer waits" at_once cat "$MCT_DIR/max_stack"
	check "a snapshot can be taken and read while the writer waits" \
		at_once sh -c "echo 1 > $MCT_DIR/snapshot && head -n 100 $MCT_DIR/snapshot"
	check "pid can be written while the writer waits" at_once sh -c "echo $$ > $MCT_DIR/pid"
	check "tracing_on can be written while the writer waits" \
		at_once sh -c "echo 1 > $MCT_DIR/tracing_on"
	check "buffer_size_kb can be written while the writer waits" \
		at_once sh -c "echo 512 > $MCT_SIZE"
	put "" "$MCT_DIR/pid"
	check "a module loads and unloads while the writer waits" loads mct_target
	check "another module loads and unloads while the writer waits" loads mct_twin
else
	for what in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21; do
		skip "while a writer waits ($what)" "no writer waits for such a thread here"
	done
fi
ended=0
wait "$writer" || ended=$?
writer=
equal "the writer ends" 0 $ended
check "the writer's trigger is in the list" grep -q '^vfs_read:count' "$MCT_DIR/triggers"
mod_unload mct_spinner

# --- other operations that may wait. The filter has a match in mct_target, and none in mct_twin.

# takes MODULE: load and unload it, and print how many seconds that takes
takes()
{
	local begun
	begun=$(now)
	mod_load "$1" && mod_unload "$1"
	echo $(($(now) - begun))
}

# during WHAT COMMAND...: load modules while COMMAND waits for the kernel thread. Where ftrace
# patches the call sites, it waits for the thread under its lock, which the load of each module
# takes, too.
during()
{
	local what=$1 state=returns begun with without
	shift
	mod_load mct_spinner seconds="$seconds"
	begun=$(now)
	"$@" 2> /dev/null &
	writer=$!
	sleep 2
	if writes; then
		state=waits
		waited=$((waited + 1))
	fi
	without=$(takes mct_twin)
	with=$(takes mct_target)
	mod_unload mct_spinner
	wait "$writer"
	writer=
	diag "$what $state: loads take $without s without and $with s with a match," \
		"all $(($(now) - begun)) s"
	if [ -n "$beside" ]; then
		check "$what: a module without a match waits no longer than the thread runs" \
			[ "$without" -le $((seconds + most)) ]
		check "$what: a module with a match waits no longer than the thread runs" \
			[ "$with" -le $((seconds + most)) ]
		return
	fi
	check "$what: a module without a match loads at once" [ "$without" -le $most ]
	check "$what: a module with a match loads at once" [ "$with" -le $most ]
}

beside=$(sed -n 's/.* [tT] \(register_ftrace_function\)$/\1/p' /proc/kallsyms | head -n 1)
waited=0
put 'vfs_* mct_target_*:mod:mct_target' "$MCT_DIR/filter"
put 'vfs_read:count' "$MCT_DIR/triggers"
during "a second trigger" put 'vfs_write:mark' "$MCT_DIR/triggers"
during "removing all triggers" put "" "$MCT_DIR/triggers"
during "option time" put time "$MCT_DIR/options"
during "option notime" put notime "$MCT_DIR/options"
during "mode graph" put graph "$MCT_DIR/mode"
during "mode function" put function "$MCT_DIR/mode"
during "0 in ctrl" put 0 "$MCT_CTRL"
during "1 in ctrl" put 1 "$MCT_CTRL"
diag "$waited operations wait for the kernel thread"
at_least "some operations wait for the kernel thread" 1 $waited

# --- until the hook that records contexts is gone, each call has its own context or none
put context "$MCT_DIR/options"
mod_load mct_context
put 'mct_context_*' "$MCT_DIR/filter"
trace_on
mod_load mct_spinner seconds="$seconds"
put nocontext "$MCT_DIR/options" &
writer=$!
sleep 2
mod_set mct_context rounds 20
mod_unload mct_spinner
wait "$writer"
writer=
put context "$MCT_DIR/options"	# so that trace has the column
sed -n 's/ CPU .* mct_context_irqs_off+.*//p' "$MCT_TRACE" | sort | uniq -c > "$MCT_TMP/contexts"
sed 's/^/# irqs_off: /' "$MCT_TMP/contexts"
equal "no call has the context of an earlier one" "20 0" "$(awk '{ n += $1 }
	!/ d...$/ && !/ ----$/ { bad += $1 } END { print n + 0, bad + 0 }' "$MCT_TMP/contexts")"
finish
