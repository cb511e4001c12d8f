#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: The counts are exact once tracing has stopped
# requires: root tracer hackbench helper:tracecheck

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

cpus=$(cpu_list possible)
online=$(cpu_list online)

plan $((14 + $(echo "$cpus" | wc -l) + $(echo "$online" | wc -l)))

laps=5
size=90000	# minimum of calls in a full ring

all_lapped()
{
	local cpu
	for cpu in $online; do
		[ "$(stat_cpu "$cpu" "$OVERWRITTEN")" -gt $((laps * size)) ] ||
			return 1
	done
}

# silence: print why nothing is recorded
silence()
{
	sed -n 's/^# not recorded: //p' "$MCT_STATS"
}

full()
{
	[ "$(silence)" = "the rings are full" ]
}

at_end()
{
	put overwrite "$MCT_DIR/options"
}

equal "stats has one line of headings" 1 "$(grep -c '^# cpu' "$MCT_STATS")"
check "the headings name the columns in order" grep -Eq \
	'^#.*cpu.*entries.*written.*overwritten.*lost.*recursions' "$MCT_STATS"
equal "stats has one line for each possible CPU" \
	"$(echo "$cpus" | xargs)" "$(awk '!/^#/ { print $1 }' "$MCT_STATS" | xargs)"

load_start
trace_on
check "the load overwrites each ring $laps times" \
	wait_until "$MCT_PATIENCE" all_lapped
trace_off
load_stop

cat "$MCT_STATS" > "$MCT_TMP/stats1"
trace=$MCT_TMP/trace
cat "$MCT_TRACE" > "$trace"
examine "$trace"
for cpu in $cpus; do
	equal "CPU $cpu: the trace has as many records as entries" \
		"$(stat_cpu "$cpu" "$ENTRIES")" "$(found "cpu$cpu")"
done
for cpu in $online; do
	at_least "CPU $cpu: its ring is full" $size \
		"$(stat_cpu "$cpu" "$ENTRIES")"
done
check "for each CPU written = entries + overwritten" stats_add_up
check "nothing was lost" stats_zero "$LOST"
# Calls are refused only with another clock: those that the reading of the clock makes.
if dmesg | grep -q 'mctracer: the cycle counter can.t be used'; then
	skip "no call was refused" "the cycle counter is not reliable"
else
	check "no call was refused" stats_zero "$RECURSIONS"
fi

# Reading removes nothing, and nothing changes while the tracer is off.
cat "$MCT_TRACE" > "$MCT_TMP/trace2"
check "the trace reads the same twice" cmp "$trace" "$MCT_TMP/trace2"
cat "$MCT_STATS" > "$MCT_TMP/stats2"
check "stats reads the same twice" cmp "$MCT_TMP/stats1" "$MCT_TMP/stats2"
# While nothing is recorded, stats tells why.
equal "stats says that the tracer is off" "ctrl is 0" "$(silence)"
trace_on
equal "stats gives no reason while the tracer is on" "" "$(silence)"
put 0 "$MCT_DIR/tracing_on"
equal "stats says that recording is paused" "tracing_on is 0" "$(silence)"
put 1 "$MCT_DIR/tracing_on"
put 0 "$MCT_SYSCTL"
equal "stats says that mcount is disabled" "kernel.mcount_enabled is 0" "$(silence)"
put 1 "$MCT_SYSCTL"
load_start
put nooverwrite "$MCT_DIR/options"
check "stats says that the rings are full" wait_until "$MCT_PATIENCE" full
load_stop
put overwrite "$MCT_DIR/options"
trace_off
sed 's/^/# /' "$MCT_TMP/stats2"
finish
