#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: Both CPUs are traced, each by its number, and merged in time order
# requires: root tracer smp helper:victim helper:tracecheck taskset

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

plan 9

trace=$MCT_TMP/trace

# On each CPU, run one task that never sleeps.
taskset 1 "$MCT_BIN/victim" -n mct-cpu0 spin &
spin0=$!
taskset 2 "$MCT_BIN/victim" -n mct-cpu1 spin &
spin1=$!
sleep 1
trace_on
sleep 1
trace_off
kill "$spin0" "$spin1"
wait "$spin0" "$spin1" 2>/dev/null
cat "$MCT_TRACE" > "$trace"

for cpu in 0 1; do
	eval "pid=\$spin$cpu"
	"$MCT_BIN/tracecheck" -l -p "$pid" "$trace" > "$MCT_TMP/spin"
	at_least "CPU $cpu: the trace has records of its task" 1000 \
		"$(wc -l < "$MCT_TMP/spin")"
	equal "CPU $cpu: all records of its task have this CPU's number" "$cpu" \
		"$(cut -f 1 "$MCT_TMP/spin" | sort -u)"
	equal "CPU $cpu: its task's comm is right" "mct-cpu$cpu" \
		"$(cut -f 5 "$MCT_TMP/spin" | sort -u)"
done

# One task makes calls on CPU 0 and CPU 1 in turn. Each call ends before the next call on the other
# CPU, so the trace must show this order.
trace_on
"$MCT_BIN/victim" -t "$MCT_TRACE" -c "$MCT_CTRL" hop 200 > "$MCT_TMP/said"
trace_off
cat "$MCT_TRACE" > "$trace"
pid=$(sed -n 's/^pid //p' "$MCT_TMP/said")
sed '/^pid/d' "$MCT_TMP/said" > "$MCT_TMP/wanted"
"$MCT_BIN/tracecheck" -l -p "${pid:-0}" "$trace" | awk -F '\t' '
	$3 ~ /sys_get(ppid|uid|gid|euid|egid)(16)?$/ {
		sub(/.*sys_/, "", $3)
		sub(/16$/, "", $3)
		print $1, $3
	}' > "$MCT_TMP/got"
equal "all calls of the hopping task are recorded" 200 \
	"$(wc -l < "$MCT_TMP/got")"
check "the calls of the hopping task have the right order and CPUs" \
	diff "$MCT_TMP/wanted" "$MCT_TMP/got"
check "all lines are well-formed" examine "$trace"
finish
