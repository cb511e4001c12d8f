#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: Each failing allocation returns ENOMEM, changes nothing, and the next try works
# requires: root tracer helper:failnth helper:tracecheck testmod:mct_target

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

# shellcheck source=faults.sh
. "$(dirname "$0")/faults.sh"

faults_there || skip_all "no fault injection in this kernel"

# If the tracer was never on before, this test includes its first start.
first=
small=64
if [ "$(stat_sum "$WRITTEN")" -eq 0 ] &&
   ! "$MCT_BIN/failnth" 0 map "$MCT_DIR/per_cpu/cpu0/raw" | grep -q ok; then
	first=yes
	rings_kb=$(cat "$MCT_DIR/buffer_size_kb")
	put $small "$MCT_DIR/buffer_size_kb"
	put 1 "$MCT_SYSCTL"
else
	# shellcheck source=rings.sh
	. "$(dirname "$0")/rings.sh"
fi

plan 28

size=$MCT_DIR/buffer_size_kb
mode=$MCT_DIR/mode

at_end()
{
	faults_end
	! mod_loaded mct_target || mod_unload mct_target
	put "" "$MCT_DIR/triggers"
	put "" "$MCT_DIR/filter"
	put function "$mode"
	put "$rings_kb" "$size"
}

faults_begin

# Print the state that a failure must not change.
state()
{
	cat "$MCT_CTRL" "$MCT_SYSCTL" "$size" "$MCT_DIR/options" "$mode"
	sed -e 's/[[:space:]]*#.*//' -e '/^$/d' "$MCT_DIR/filter" "$MCT_DIR/triggers"
	echo "$(grep -c mctracer_ring_alloc /proc/vmallocinfo) rings"
}

# each_fails CALL FILE [TEXT]: let the call's first allocation fail, then the second, until the
# call makes no more. The call may succeed in spite of a failure, if it has another way; its effect
# is undone then, so that the next round repeats it.
each_fails()
{
	local n=0 refused=0 before ctrl kb was said
	while [ $n -lt 2000 ]; do
		n=$((n + 1))
		before=$(state)
		ctrl=$(cat "$MCT_CTRL")
		kb=$(cat "$size")
		was=$(cat "$mode")
		said=$("$MCT_BIN/failnth" $n "$@")
		case $said in
		"whole ok")
			echo "$refused of $((n - 1)) allocations are needed"
			echo "$refused" > "$MCT_TMP/refused"
			return 0 ;;
		"failed ok")
			[ "$(cat "$MCT_CTRL")" = "$ctrl" ] || put "$ctrl" "$MCT_CTRL"
			[ "$(cat "$size")" = "$kb" ] || put "$kb" "$size"
			[ "$(cat "$mode")" = "$was" ] || put "$was" "$mode" ;;
		"failed ENOMEM")
			refused=$((refused + 1))
			[ "$(state)" = "$before" ] && continue
			echo "number $n: before" "$before" "after" "$(state)"
			return 1 ;;
		*)
			echo "number $n: $said"
			return 1 ;;
		esac
	done
	return 1
}

# needs NAME CALL FILE [TEXT]: report each_fails. The call must need at least one allocation.
needs()
{
	name=$1
	shift
	rm -f "$MCT_TMP/refused"
	each_fails "$@" > "$MCT_TMP/said"
	if [ "$(cat "$MCT_TMP/refused" 2>/dev/null)" -gt 0 ] 2>/dev/null; then
		ok "$name"
	else
		not_ok "$name"
	fi
	diag_lines < "$MCT_TMP/said"
}

if [ -n "$first" ]; then
	needs "each failing allocation of the first 1 in ctrl is handled" write "$MCT_CTRL" 1
	check "the tracer records after its first start" wait_until 10 records_flow
else
	skip "each failing allocation of the first 1 in ctrl is handled" \
		"the tracer was used since the machine was booted"
	trace_on
	check "the tracer records" records_flow
fi
needs "each failing allocation of larger rings while tracing is handled" write "$size" 256
check "the tracer still records" records_flow
needs "each failing allocation of smaller rings while tracing is handled" write "$size" $small
for file in trace trace_pipe per_cpu/cpu0/trace; do
	needs "each failing allocation of an open of $file is handled" open "$MCT_DIR/$file"
done
needs "each failing allocation of a mapping of raw is handled" map "$MCT_DIR/per_cpu/cpu0/raw"
check "no mapping remains, so rings can be replaced" put 128 "$size"
needs "each failing allocation of a read of stats is handled" read "$MCT_STATS"
needs "each failing allocation of a write to filter is handled" write "$MCT_DIR/filter" vfs_read
needs "each failing allocation of a stacktrace trigger is handled" \
	write "$MCT_DIR/triggers" 'vfs_read:stacktrace depth=5:1'
if put 'vfs_read:unfollow 1' "$MCT_DIR/triggers"; then
	put "" "$MCT_DIR/triggers"
	needs "each failing allocation of a follow trigger while tracing is handled" \
		write "$MCT_DIR/triggers" 'vfs_read:follow 1'
	equal "the follow trigger is in the list" 'vfs_read:follow 1' \
		"$(sed 's/ *#.*//' "$MCT_DIR/triggers" | xargs)"
	needs "each failing allocation of a further trigger is handled" \
		write "$MCT_DIR/triggers" 'vfs_read:count'
else
	for name in "a follow trigger" "the follow trigger is in the list" "a further trigger"; do
		skip "$name" "nothing can be followed"
	done
fi
put "" "$MCT_DIR/triggers"
put "" "$MCT_DIR/filter"
if put graph "$mode"; then
	put function "$mode"
	needs "each failing allocation of graph mode while tracing is handled" write "$mode" graph
	check "returns are recorded in graph mode" wait_until 10 grep -q ' returns' "$MCT_TRACE"
	needs "each failing allocation of an open of trace in graph mode is handled" \
		open "$MCT_TRACE"
	needs "each failing allocation of function mode after graph mode is handled" \
		write "$mode" function
	needs "each failing allocation of a trigger at returns is handled" \
		write "$MCT_DIR/triggers" vfs_read:ret
	needs "each failing allocation of a follow trigger for results is handled" \
		write "$MCT_DIR/triggers" 'vfs_write:follow 1 -> ret'
	needs "each failing allocation of a slow trigger is handled" \
		write "$MCT_DIR/triggers" 'vfs_read:slow 1ms:count'
	equal "all three triggers are in the list" \
		"vfs_read:ret vfs_write:follow 1 -> ret vfs_read:slow 1ms:count" \
		"$(sed 's/ *#.*//' "$MCT_DIR/triggers" | xargs)"
	put "" "$MCT_DIR/triggers"
else
	for name in "graph mode" "returns are recorded in graph mode" \
		"an open of trace in graph mode" \
		"function mode after graph mode" "a trigger at returns" \
		"a follow trigger for results" \
		"a slow trigger" "all three triggers are in the list"; do
		skip "$name" "this kernel does not see returns"
	done
fi
# Load a module with selected functions, and let each allocation of its load fail in turn.
# records_truly: if stats shows a failure, writing 1 to ctrl repairs it; ctrl is 0 only with a
# failure, and what ctrl shows is true.
records_truly()
{
	if grep -q '^# failed: ' "$MCT_STATS"; then
		put 1 "$MCT_CTRL" || return
	fi
	[ "$(cat "$MCT_CTRL")" = 1 ] || return
	trace_clear
	cat /proc/self/stat > /dev/null
	grep -q ' vfs_read+' "$MCT_TRACE"
}

hits()
{
	sed -n 's/.*# \([0-9]*\) hits.*/\1/p' "$MCT_DIR/triggers"
}

# module_truly: the loaded module's functions are recorded and hit their trigger, or stats shows a
# failure
module_truly()
{
	local before
	before=$(hits)
	trace_clear
	mod_set mct_target calls 10
	grep -q '^# failed: ' "$MCT_STATS" ||
		{ grep -q ' mct_target_leaf' "$MCT_TRACE" && [ "$(hits)" -gt "$before" ]; }
}

each_load_is_told()
{
	local n=0 ended=0
	while [ "$n" -lt 2000 ]; do
		n=$((n + 1))
		said=$("$MCT_BIN/failnth" "$n" load "$MCT_BIN/test_modules/mct_target.ko")
		if mod_loaded mct_target; then
			module_truly || {
				echo "number $n: $said, and the module is not recorded"
				return 1
			}
			records_truly && module_truly || {
				echo "number $n: $said, and 1 does not repair the module"
				return 1
			}
			mod_unload mct_target
		fi
		[ "$(cat "$MCT_CTRL")" = 1 ] || ended=$((ended + 1))
		records_truly || {
			echo "number $n: $said, and vfs_read is not recorded"
			return 1
		}
		[ "$said" != "whole ok" ] || {
			echo "$((n - 1)) allocations, $ended of them ended tracing"
			return 0
		}
	done
	return 1
}

put 'vfs_read mod:mct_target' "$MCT_DIR/filter"
put 'mct_target_*:mod:mct_target:count' "$MCT_DIR/triggers"
trace_on
check "ctrl shows whether a module's load without memory ended tracing, and 1 repairs it" \
	each_load_is_told
check "stats shows no failure after the repair" not grep -q '^# failed: ' "$MCT_STATS"
check "the selected functions are recorded after the repair" records_truly
put "" "$MCT_DIR/triggers"
put "" "$MCT_DIR/filter"
trace_off
cat "$MCT_TRACE" > "$MCT_TMP/trace"
check "the trace is well-formed at the end" examine "$MCT_TMP/trace"
finish
