#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: CPU 1 goes offline and online while tracing
# requires: root tracer smp hackbench cpu:1 helper:tracecheck

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

plan 14

# MCT_HOTPLUG sets the number of cycles, for machines where a cycle takes long.
cycles=${MCT_HOTPLUG:-200}
online=$MCT_CPUS/cpu1/online
trace=$MCT_TMP/trace

at_end()
{
	[ "$(cat "$online")" = 1 ] || put 1 "$online"
}

cpu1_writes()
{
	local before
	before=$(stat_cpu 1 "$WRITTEN")
	sleep 0.1
	[ "$(stat_cpu 1 "$WRITTEN")" -gt "$before" ]
}

load_start
trace_on
check "CPU 1 writes records" wait_until 10 cpu1_writes

check "CPU 1 goes offline while tracing" put 0 "$online"
check "tracing continues on the other CPUs" wait_until 10 records_flow
equal "CPU 1 writes nothing while it is offline" \
	"$(stat_cpu 1 "$WRITTEN")" "$(sleep 1; stat_cpu 1 "$WRITTEN")"
trace_off
at_least "CPU 1's records are kept" 1 "$(stat_cpu 1 "$ENTRIES")"
cat "$MCT_TRACE" > "$trace"
examine "$trace"
equal "CPU 1's records can be read while it is offline" \
	"$(stat_cpu 1 "$ENTRIES")" "$(found cpu1)"
check "the counts add up" stats_add_up

trace_on
failed=0
done=0
begun=$(now)
at_end
while [ $done -lt $cycles ]; do
	put 0 "$online" || failed=$((failed + 1))
	put 1 "$online" || failed=$((failed + 1))
	done=$((done + 1))
done
diag "$cycles cycles in $(($(now) - begun)) seconds"
equal "CPU 1 goes offline and online $cycles times while tracing" 0 $failed
check "CPU 1 writes records after the cycles" wait_until 10 cpu1_writes
trace_off
load_stop
check "the counts add up after the cycles" stats_add_up
cat "$MCT_TRACE" > "$trace"
check "the trace is well-formed" examine "$trace"

# Switch the tracer meanwhile: a starting CPU must not run call sites or the stub while they are
# patched.
failed=0
done=0
begun=$(now)
toggles_start "$MCT_SYSCTL"
put 1 "$MCT_CTRL"
while [ $done -lt $((cycles / 4)) ]; do
	put 0 "$online" || failed=$((failed + 1))
	put 1 "$online" || failed=$((failed + 1))
	done=$((done + 1))
done
toggles_stop
diag "$((cycles / 4)) cycles in $(($(now) - begun)) seconds"
equal "CPU 1 goes offline and online $((cycles / 4)) times while tracing is switched" 0 $failed
check "each switch succeeded" not toggles_failed
trace_on
check "CPU 1 writes records at the end" wait_until 10 cpu1_writes
finish
