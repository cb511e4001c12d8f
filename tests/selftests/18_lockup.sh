#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: Switching the tracer never delays other tasks of the only CPU for long
# requires: root tracer hackbench helper:victim

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

limit_ms=${MCT_LATENCY_MS:-500}
kernel=/proc/sys/kernel
stall=/sys/module/rcupdate/parameters/rcu_cpu_stall_timeout
others=$(cpu_list online | sed 1d)
watchdog=

[ -w $kernel/watchdog_thresh ] && watchdog=$(cat $kernel/watchdog_thresh)
[ -w $stall ] && old_stall=$(cat $stall)

plan 7

at_end()
{
	local cpu
	for cpu in $others; do
		put 1 "$MCT_CPUS/cpu$cpu/online"
	done
	[ -z "$watchdog" ] || put "$watchdog" $kernel/watchdog_thresh
	[ -z "${old_stall-}" ] || put "$old_stall" $stall
}

alone()
{
	local cpu
	for cpu in $others; do
		put 0 "$MCT_CPUS/cpu$cpu/online" || return 1
	done
	[ "$(cpu_list online | wc -l)" = 1 ]
}

name="only one CPU is online"
if [ -z "$others" ]; then
	ok "$name"
elif [ -e "$MCT_CPUS/cpu$(echo "$others" | head -n 1)/online" ]; then
	check "$name" alone
else
	skip "$name" "CPUs can not go offline"
fi

# finish looks for lockups and stalls in the log.
name="the kernel reports a CPU that does not schedule for two seconds"
if [ -n "$watchdog" ] && [ -e $kernel/soft_watchdog ]; then
	put 1 $kernel/soft_watchdog
	put 1 $kernel/watchdog_thresh
	equal "$name" "1 1" \
		"$(cat $kernel/soft_watchdog $kernel/watchdog_thresh | xargs)"
else
	skip "$name" "no detector of soft lockups"
fi
[ -z "${old_stall-}" ] || put 3 $stall

# latency COMMAND...: set $latency to the longest wait, in milliseconds, of a real-time task while
# the command runs
latency()
{
	"$MCT_BIN/victim" -n mct-latency latency > "$MCT_TMP/latency" &
	local pid=$!
	sleep 0.5
	"$@"
	kill -TERM "$pid"
	wait "$pid"
	latency=$(sed -n 's/^longest //p' "$MCT_TMP/latency")
}

# toggle N
toggle()
{
	local n=0
	failures=0
	while [ "$n" -lt "$1" ]; do
		put $((n % 2)) "$MCT_CTRL" || failures=$((failures + 1))
		n=$((n + 1))
	done
}

put 1 "$MCT_SYSCTL"
latency sleep 2
diag "at rest the longest wait was ${latency:-?} ms"
begun=$(now)
latency toggle 20
diag "20 toggles in $(($(now) - begun)) seconds," \
     "the longest wait was ${latency:-?} ms"
equal "20 toggles do not fail" 0 "$failures"
check "a real-time task never waits for $limit_ms ms" \
	test "${latency:-$limit_ms}" -lt "$limit_ms"

load_start
latency toggle 10
load_stop
diag "under load the longest wait was ${latency:-?} ms"
equal "10 toggles under load do not fail" 0 "$failures"
check "a real-time task never waits for $limit_ms ms under load" \
	test "${latency:-$limit_ms}" -lt "$limit_ms"
put 1 "$MCT_CTRL"
check "records are written at the end" wait_until 10 records_flow
finish
