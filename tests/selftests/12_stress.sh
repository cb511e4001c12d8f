#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: The tracer records every function during a minute of hackbench
# requires: root tracer hackbench helper:tracecheck

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

plan 7

seconds=${MCT_STRESS_SECONDS:-60}
online=$(cpu_list online)
runs=$MCT_TMP/runs
: > "$runs"

# Every run must end with success; a task that is traced wrongly would fail.
load_repeat "hackbench -g 4 -f 5 -l 50 && echo ok >> $runs || echo bad >> $runs"
trace_on

end=$(($(now) + seconds))
stalled=
while [ "$(now)" -lt $end ]; do
	cat "$MCT_STATS" > "$MCT_TMP/before"
	sleep 5
	for cpu in $online; do
		[ "$(stat_cpu "$cpu" "$WRITTEN")" -gt \
		  "$(stat_cpu "$cpu" "$WRITTEN" "$MCT_TMP/before")" ] ||
			stalled="$stalled $cpu"
	done
done
equal "all CPUs wrote records all the time" "" "$stalled"
equal "the tracer is still on" "1 1" \
	"$(cat "$MCT_CTRL") $(cat "$MCT_SYSCTL")"
trace_off
load_stop
diag "$(stat_sum "$WRITTEN") records in $seconds seconds"
at_least "hackbench ran to completion" 1 "$(grep -c ok "$runs")"
diag "hackbench ran $(grep -c ok "$runs") times"
equal "hackbench never failed" 0 "$(grep -c bad "$runs")"

cat "$MCT_TRACE" > "$MCT_TMP/trace"
check "the trace is well-formed" examine "$MCT_TMP/trace"
equal "the trace has as many records as the entries in stats" \
	"$(stat_sum "$ENTRIES")" "$(found records)"
check "the counts add up" stats_add_up
finish
