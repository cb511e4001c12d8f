#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: The counts are exact once the tracer rests
# requires: root tracer hackbench helper:tracecheck

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

cpus=$(cpu_list possible)
online=$(cpu_list online)

plan $((9 + $(echo "$cpus" | wc -l) + $(echo "$online" | wc -l)))

laps=5
size=90000	# calls in a full ring, at least

all_lapped()
{
	local cpu
	for cpu in $online; do
		[ "$(stat_cpu "$cpu" "$OVERWRITTEN")" -gt $((laps * size)) ] ||
			return 1
	done
}

equal "one line of headings" 1 "$(grep -c '^# cpu' "$MCT_STATS")"
check "that names the columns in order" grep -Eq \
	'^#.*cpu.*entries.*written.*overwritten.*lost.*recursions' "$MCT_STATS"
equal "one line for each possible CPU" \
	"$(echo "$cpus" | xargs)" "$(awk '!/^#/ { print $1 }' "$MCT_STATS" | xargs)"

load_start
trace_on
check "the storm wraps each ring $laps times" \
	wait_until "$MCT_PATIENCE" all_lapped
trace_off
load_stop

cat "$MCT_STATS" > "$MCT_TMP/stats1"
trace=$MCT_TMP/trace
cat "$MCT_TRACE" > "$trace"
examine "$trace"
for cpu in $cpus; do
	equal "CPU $cpu: as many records as entries" \
		"$(stat_cpu "$cpu" "$ENTRIES")" "$(found "cpu$cpu")"
done
for cpu in $online; do
	at_least "CPU $cpu: its ring is full" $size \
		"$(stat_cpu "$cpu" "$ENTRIES")"
done
check "for each CPU written is entries and overwritten" stats_add_up
check "nothing was lost" stats_zero "$LOST"
# Only by another clock can calls be refused, those that reading it makes.
if dmesg | grep -q 'mctracer: the cycle counter can.t be used'; then
	skip "nothing was refused" "the cycle counter is not reliable"
else
	check "nothing was refused" stats_zero "$RECURSIONS"
fi

# Reading takes nothing away, and at rest nothing changes.
cat "$MCT_TRACE" > "$MCT_TMP/trace2"
check "the trace reads the same twice" cmp "$trace" "$MCT_TMP/trace2"
cat "$MCT_STATS" > "$MCT_TMP/stats2"
check "stats reads the same twice" cmp "$MCT_TMP/stats1" "$MCT_TMP/stats2"
sed 's/^/# /' "$MCT_TMP/stats2"
finish
