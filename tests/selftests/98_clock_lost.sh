#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: When the kernel finds the cycle counter unreliable, times stay right
# requires: root tracer hackbench helper:tracecheck helper:victim testmod:mct_clock

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=rings.sh
. "$(dirname "$0")/rings.sh"

plan 20

trace=$MCT_TMP/trace

at_end()
{
	! mod_loaded mct_clock || mod_unload mct_clock
	put nocontext "$MCT_OPTIONS"
	rings_restore
}

said()
{
	kmsg_since | grep -q 'mctracer: the cycle counter can.t be used'
}

# second_apart: succeed if two events that are a second apart have such times
second_apart()
{
	local a b uptime logged
	trace_clear
	uptime=$(cut -d ' ' -f 1 /proc/uptime)
	"$MCT_BIN/victim" -n mcta many 1 > /dev/null
	echo "test of the clock $uptime" > /dev/kmsg
	sleep 1
	"$MCT_BIN/victim" -n mctb many 1 > /dev/null
	uptime="$uptime $(cut -d ' ' -f 1 /proc/uptime)"
	put 0 "$MCT_CTRL"
	put time "$MCT_OPTIONS"
	cat "$MCT_TRACE" > "$trace"
	put notime "$MCT_OPTIONS"
	put 1 "$MCT_CTRL"
	a=$(getppid_time mcta0 "$trace")
	b=$(getppid_time mctb0 "$trace")
	logged=$(kmsg_since | sed -n "s/^\[ *\([0-9.]*\)\] test of the clock ${uptime% *}$/\1/p")
	echo "$a $logged $b" > "$MCT_TMP/times"
	echo "getppid at $a and $b, uptime $uptime, log $logged"
	echo "$a $b $uptime" | awk 'NF == 4 {
		took = $2 - $1
		ok = took >= 1 && took <= $4 - $3 + 0.02
	} END { exit !ok }'
}

# like_log: succeed if the log has the line that was written between these events at such a time
like_log()
{
	cat "$MCT_TMP/times"
	awk '{ ok = NF == 3 && $1 <= $2 && $2 <= $3 - 0.5 } END { exit !ok }' "$MCT_TMP/times"
}

put 4096 "$MCT_SIZE"
trace_on
check "with the cycle counter a second is a second" second_apart
check "the times are the log's" like_log
check "the log has no complaint about the counter yet" not said

# Open a trace now, and read it when the tracer uses the other clock.
put time "$MCT_OPTIONS"
moment
cat "$MCT_TRACE" > "$trace.before"
exec 3< "$MCT_TRACE"
trace_on

mod_load mct_clock
check "the tracer logs within seconds that the counter can't be used" wait_until 60 said
equal "the tracer is still on" 1 "$(cat "$MCT_CTRL")"
check "the tracer still records" wait_until 10 records_flow
cat <&3 > "$trace.after"
exec 3<&-
put notime "$MCT_OPTIONS"
at_least "the open trace has the records from before" 100 \
	"$(records_of "$trace.after" | wc -l)"
check "the open trace's times still belong to the old clock" \
	cmp "$trace.before" "$trace.after"
check "with the other clock a second is a second" second_apart
check "with the other clock the times are the log's" like_log
equal "no CPU's time decreases" 0 "$(backwards "$trace")"
trace_clear
hackbench -g 1 -f 4 -l 20 > /dev/null
trace_off
at_least "calls from the reading of the clock are refused and counted" 1 \
	"$(stat_sum "$RECURSIONS")"
check "the counts add up" counts_add_up
cat "$MCT_TRACE" > "$trace"
check "the trace is well-formed" examine "$trace"

put 'vfs_read:stacktrace:3' "$MCT_DIR/triggers"
trace_clear
trace_on
cat /proc/self/stat /proc/self/stat /proc/self/stat > /dev/null
trace_off
equal "a stacktrace trigger runs as often as its count" \
	"vfs_read:stacktrace:0" "$(sed 's/[[:space:]].*//' "$MCT_DIR/triggers")"
at_least "the trigger's chains are recorded" 3 "$(grep -c '^    -- ' "$MCT_TRACE")"
put "" "$MCT_DIR/triggers"

put context "$MCT_OPTIONS"
put nooverwrite "$MCT_OPTIONS"
put "$RING_KB" "$MCT_SIZE"
trace_clear
trace_on
hackbench -g 1 -f 4 -l 20 > /dev/null
trace_off
at_least "with nooverwrite calls are lost" 1 "$(stat_sum "$LOST")"
equal "with nooverwrite no call is overwritten" 0 "$(stat_sum "$OVERWRITTEN")"
check "with nooverwrite the counts add up" counts_add_up
at_least "the context is recorded" 1 \
	"$(grep -c '^d... CPU' "$MCT_TRACE")"
finish
