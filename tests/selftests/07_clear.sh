#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: Any write to trace clears the rings, also while tracing
# requires: root tracer hackbench helper:tracecheck

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

plan 22

trace=$MCT_TMP/trace

fill()
{
	trace_on
	wait_until 10 records_flow
	trace_off
}

truncating()
{
	true > "$MCT_TRACE"
}

# clear_test HOW COMMAND...: fill the rings, switch the tracer off, and clear them with the command
clear_test()
{
	local how=$1
	shift
	fill
	[ "$(stat_sum "$ENTRIES")" -gt 0 ] || diag "nothing to clear"
	"$@"
	equal "$how: no entries are left" 0 "$(stat_sum "$ENTRIES")"
	cat "$MCT_TRACE" > "$trace"
	equal "$how: the trace has only its header" "5 5" \
		"$(wc -l < "$trace" | tr -d ' ') $(grep -c '^# ' "$trace")"
	equal "$how: the header counts nothing" "0 0 0 0" \
		"$(sed -n 's/^# [a-z]*: \([0-9]*\)$/\1/p' "$trace" | xargs)"
}

clear_test "a written line" put 0 "$MCT_TRACE"
clear_test "any text" put "some text" "$MCT_TRACE"
clear_test "opening with O_TRUNC" truncating

fill
check "records are written after a clear" \
	test "$(stat_sum "$ENTRIES")" -gt 0
check "the counts add up after a clear" stats_add_up
true >> "$MCT_TRACE"
check "opening trace without O_TRUNC clears nothing" \
	test "$(stat_sum "$ENTRIES")" -gt 0

# Clear under load.
load_start
trace_on
failures=0
i=0
while [ $i -lt 20 ]; do
	sleep 0.1
	before=$(stat_sum "$WRITTEN")
	trace_clear || failures=$((failures + 1))
	i=$((i + 1))
done
equal "clearing while tracing succeeds" 0 $failures
sleep 1
before=$(stat_sum "$WRITTEN")
trace_clear
after=$(stat_sum "$WRITTEN")
diag "written was $before before a clear and $after after it"
check "a clear while tracing resets the counts" test "$after" -lt "$before"
check "tracing continues after a clear" wait_until 10 records_flow

# Clear from two processes at once, while another process reads.
for i in 1 2; do
	(
		n=0
		while [ $n -lt 50 ] && trace_clear; do
			n=$((n + 1))
		done
		echo $n > "$MCT_TMP/clears$i"
	) &
	eval "clearer$i=\$!"
done
cat "$MCT_TRACE" > "$trace"
for i in 1 2; do
	eval "wait \$clearer$i"
	equal "process $i of two that clear at once clears 50 times" 50 "$(cat "$MCT_TMP/clears$i")"
done
check "a reader saw no malformed line during the clears" examine "$trace"
check "tracing continues after all clears" wait_until 10 records_flow
trace_off
load_stop
check "the counts add up once tracing has stopped" stats_add_up
cat "$MCT_TRACE" > "$trace"
check "the trace is well-formed" examine "$trace"
equal "the trace has as many records as the entries in stats" \
	"$(stat_sum "$ENTRIES")" "$(found records)"
finish
