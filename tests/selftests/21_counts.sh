#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: written = read + entries + overwritten + lost after each operation
# requires: root tracer hackbench helper:pipecheck helper:rawreader

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=rings.sh
. "$(dirname "$0")/rings.sh"

plan 42

stats=$MCT_TMP/stats

at_end()
{
	rings_restore
	[ ! -e "$MCT_CPUS/cpu1/online" ] || put 1 "$MCT_CPUS/cpu1/online"
}

# add_up AFTER: two results that end each part
add_up()
{
	check "$1: the counts add up" counts_add_up
	check "$1: each CPU's trace has as many records as entries" entries_are_there
}

# grown COLUMN: print the growth of a column since stats was copied
grown()
{
	echo $(($(stat_sum "$1") - $(awk -v col="$1" '
		!/^#/ { n += $col } END { printf "%.0f", n }' "$stats")))
}

# same COLUMN...: succeed if these columns have not changed since then
same()
{
	local column
	for column in "$@"; do
		[ "$(grown "$column")" -eq 0 ] || return 1
	done
}

# Print the number of CPU 0's calls that were not lost.
recorded()
{
	echo $(($(stat_cpu 0 "$WRITTEN") - $(stat_cpu 0 "$LOST")))
}

storm
add_up "a storm"
check "a storm: each CPU's ring is full" \
	each_cpu_has "$ENTRIES" "$RING_RECORDS"
check "a storm: each CPU has overwritten records" each_cpu_has "$OVERWRITTEN" 1
check "a storm: nothing is lost or read" \
	test "$(stat_sum "$LOST") $(stat_sum "$READ")" = "0 0"

cat "$MCT_STATS" > "$stats"
cat "$MCT_TRACE" >/dev/null
cat "$(per_cpu 0 trace)" >/dev/null
check "reading trace changes no count" cmp "$stats" "$MCT_STATS"

trace_clear
check "after a clear: every count is 0" test "$(stat_sum "$ENTRIES") \
$(stat_sum "$WRITTEN") $(stat_sum "$OVERWRITTEN") $(stat_sum "$LOST") \
$(stat_sum "$READ")" = "0 0 0 0 0"
storm
add_up "a storm after a clear"
put 1 "$(per_cpu 0 trace)"
equal "clearing one CPU: its counts are 0" 0 "$(stat_cpu 0 "$WRITTEN")"
at_least "clearing one CPU: the counts of other CPUs remain" 1 "$(stat_sum "$WRITTEN")"

trace_clear
storm
cat "$MCT_STATS" > "$stats"
dd if="$MCT_PIPE" of="$MCT_TMP/some" bs=4096 count=20 2>/dev/null
some=$(records_of "$MCT_TMP/some" | wc -l)
equal "trace_pipe: the read count grows by the number of lines" "$some" \
	"$(grown "$READ")"
equal "trace_pipe: entries shrinks by the number of lines" "-$some" "$(grown "$ENTRIES")"
check "trace_pipe: no other count changes" same "$WRITTEN" "$OVERWRITTEN" "$LOST"
add_up "some of trace_pipe"

cat "$MCT_STATS" > "$stats"
"$MCT_BIN/rawreader" read "$(per_cpu 0 raw)" > "$MCT_TMP/raw"
equal "raw: the read count grows by the number of records" "$(grown "$READ")" \
	"$(awk '$1 == "records" { print $2 }' "$MCT_TMP/raw")"
equal "raw: no entries remain" 0 "$(stat_cpu 0 "$ENTRIES")"
add_up "raw"
"$MCT_BIN/pipecheck" drain "$MCT_PIPE" > /dev/null
equal "draining trace_pipe: no entries remain" 0 "$(stat_sum "$ENTRIES")"

storm
put 256 "$MCT_SIZE"
add_up "resizing up"
storm
put 128 "$MCT_SIZE"
add_up "resizing down"
put "$RING_KB" "$MCT_SIZE"

# With nooverwrite the oldest calls stay.
trace_clear
put nooverwrite "$MCT_OPTIONS"
storm
check "nooverwrite: each CPU has lost calls" each_cpu_has "$LOST" 1
equal "nooverwrite: no call is overwritten" 0 "$(stat_sum "$OVERWRITTEN")"
records_of > "$MCT_TMP/first"
storm
records_of > "$MCT_TMP/second"
check "nooverwrite: the oldest calls are kept" cmp "$MCT_TMP/first" "$MCT_TMP/second"
add_up "nooverwrite"
# The ring frees its memory by quarters; this reads two of them.
recorded=$(recorded)
dd if="$(per_cpu 0 raw)" of=/dev/null bs=4096 count=8 2>/dev/null
storm
at_least "nooverwrite: reading makes room for new calls" \
	$((recorded + RING_RECORDS / 4)) "$(recorded)"
add_up "nooverwrite and reading"

# The sync words between the calls fill the rings, too.
put time "$MCT_OPTIONS"
put context "$MCT_OPTIONS"
trace_clear
storm
dd if="$MCT_PIPE" of=/dev/null bs=4096 count=20 2>/dev/null
storm
equal "nooverwrite with times and contexts: no call is overwritten" 0 \
	"$(stat_sum "$OVERWRITTEN")"
check "nooverwrite with times and contexts: each CPU has lost calls" each_cpu_has "$LOST" 1
add_up "nooverwrite with times and contexts"
trace_clear
equal "a clear removes the trace's lines about lost calls" 0 \
	"$(trace_on; trace_off; grep -c '^# lost [0-9]' "$MCT_TRACE")"
put notime "$MCT_OPTIONS"
put nocontext "$MCT_OPTIONS"
put overwrite "$MCT_OPTIONS"
storm

light_load_start
for file in "$MCT_CTRL" "$MCT_SYSCTL"; do
	trace_on
	toggles_start "$file"
	wait_until 10 toggles_reach 6
	toggles_stop
done
trace_off
load_stop
add_up "toggles"

if [ -e "$MCT_CPUS/cpu1/online" ]; then
	light_load_start
	trace_on
	put 0 "$MCT_CPUS/cpu1/online"
	put 1 "$MCT_CPUS/cpu1/online"
	put 0 "$MCT_CPUS/cpu1/online"
	trace_off
	load_stop
	add_up "CPU 1 offline"
	put 1 "$MCT_CPUS/cpu1/online"
else
	skip "CPU 1 offline: the counts add up" "it can not go"
	skip "CPU 1 offline: each CPU's trace has as many records as entries" \
		"it can not go"
fi
sed 's/^/# /' "$MCT_STATS"
finish
