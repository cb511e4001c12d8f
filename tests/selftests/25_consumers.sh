#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: Readers, clears, resizes and toggles run at once without an error
# requires: root tracer hackbench helper:rawreader helper:tracecheck

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=rings.sh
. "$(dirname "$0")/rings.sh"

plan 11

seconds=${MCT_CONSUMERS_SECONDS:-20}
pids=
readers=
started=

at_end()
{
	: > "$MCT_TMP/stop"
	# shellcheck disable=SC2086 # lists
	[ -z "$readers$pids" ] || kill $readers $pids 2>/dev/null
	rings_restore
}

# repeat NAME COMMAND...: repeat the command in the background until the end, and count its runs
repeat()
{
	local name=$1
	shift
	started="$started $name"
	(
		n=0
		while [ ! -e "$MCT_TMP/stop" ]; do
			if "$@"; then
				n=$((n + 1))
				echo $n > "$MCT_TMP/did.$name"
			else
				echo "$*" >> "$MCT_TMP/failed"
			fi
		done
	) &
	pids="$pids $!"
}

clear_rings()
{
	trace_clear && sleep 0.5 && put 0 "$(per_cpu 0 trace)" && sleep 0.5
}

resize_rings()
{
	case $(cat "$MCT_SIZE") in
	64)	put 256 "$MCT_SIZE" ;;
	256)	put 128 "$MCT_SIZE" ;;
	128)	put 1024 "$MCT_SIZE" ;;
	*)	put 64 "$MCT_SIZE" ;;
	esac
}

toggle()
{
	put 0 "$1" && put 1 "$1"
}

toggle_option()
{
	put nooverwrite "$MCT_OPTIONS" && sleep 0.3 &&
		put overwrite "$MCT_OPTIONS" && sleep 0.3
}

# Read a limited number of bytes: the ring has no end while it is written.
read_raw()
{
	"$MCT_BIN/rawreader" read "$(per_cpu "$1" raw)" 65536 20000 \
		>/dev/null 2>> "$MCT_TMP/raw.$1"
}

read_trace()
{
	cat "$MCT_TRACE" > "$MCT_TMP/trace"
	examine "$MCT_TMP/trace" && sleep 0.2
}

# Code that patches text waits for busy CPUs, and hackbench would leave it little time.
load_repeat "cat /proc/self/stat /proc/meminfo; sleep 0.01"
load_repeat "cat /proc/self/stat /proc/meminfo; sleep 0.01"
trace_on
for i in 1 2; do
	cat "$MCT_PIPE" > "$MCT_TMP/pipe$i" &
	readers="$readers $!"
done
for cpu in $(cpu_list online | head -n 2); do
	repeat "raw$cpu" read_raw "$cpu"
done
repeat clear clear_rings
repeat resize resize_rings
repeat ctrl toggle "$MCT_CTRL"
repeat sysctl toggle "$MCT_SYSCTL"
repeat option toggle_option
repeat trace read_trace
sleep "$seconds"
: > "$MCT_TMP/stop"
# shellcheck disable=SC2086 # a list
wait $pids
pids=
for file in "$MCT_TMP"/did.*; do
	diag "${file##*.}: $(cat "$file") times"
done
check "no operation failed" not test -e "$MCT_TMP/failed"
[ ! -e "$MCT_TMP/failed" ] || sort "$MCT_TMP/failed" | uniq -c | diag_lines
cat "$MCT_TMP"/raw.* | diag_lines
equal "each operation ran" "$(echo "$started" | wc -w)" \
	"$(cat "$MCT_TMP"/did.* | wc -l)"
equal "the tracer is on" "1 1" "$(cat "$MCT_CTRL") $(cat "$MCT_SYSCTL")"
check "records flow" wait_until 10 records_flow
trace_off
load_stop
emptied()
{
	[ "$(stat_sum "$ENTRIES")" -eq 0 ]
}
check "trace_pipe's readers read the rest" wait_until 60 emptied
# shellcheck disable=SC2086 # a list
kill $readers
# shellcheck disable=SC2086 # a list
wait $readers 2>/dev/null
readers=
for i in 1 2; do
	check "reader $i saw no malformed line" examine "$MCT_TMP/pipe$i"
	at_least "reader $i has read records" 1 "$(found records)"
done
check "the counts add up" counts_add_up
storm
check "the counts add up after one more storm" counts_add_up
sed 's/^/# /' "$MCT_STATS"
finish
