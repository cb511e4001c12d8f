#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: The machine suspends and hibernates while all functions are traced
# requires: root tracer hackbench helper:tracecheck

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=rings.sh
. "$(dirname "$0")/rings.sh"

mode=$MCT_DIR/mode
power=/sys/power
alarm=/sys/class/rtc/rtc0/wakealarm

[ -n "${MCT_SUSPEND-}" ] ||
	skip_all "the machine suspends, and may not come back: set MCT_SUSPEND=1"
[ -e $power/pm_test ] || skip_all "no CONFIG_PM_SLEEP_DEBUG"

plan 33

at_end()
{
	[ -z "${tests-}" ] || put "$tests" $power/pm_test
	[ -z "${disk-}" ] || put "$disk" $power/disk
	[ -z "${mem-}" ] || put "$mem" $power/mem_sleep
	[ ! -w $alarm ] || put 0 $alarm
	[ ! -e "$mode" ] || put function "$mode"
	rings_restore
}

# chosen FILE: print the word in brackets
chosen()
{
	sed 's/.*\[\(.*\)\].*/\1/' "$1"
}

has()
{
	grep -qw "$2" "$1" 2>/dev/null
}

tests=$(chosen $power/pm_test)
disk=
[ ! -e $power/disk ] || disk=$(chosen $power/disk)
mem=
[ ! -e $power/mem_sleep ] || mem=$(chosen $power/mem_sleep)

# no_sleep NAME REASON: two skips
no_sleep()
{
	skip "$1: the machine comes back" "$2"
	skip "$1: tracing continues" "$2"
}

# sleeps NAME LEVEL STATE: two results
sleeps()
{
	local before
	if ! has $power/state "$3" || ! has $power/pm_test "$2"; then
		no_sleep "$1" "this kernel can't"
		return
	fi
	put "$2" $power/pm_test
	before=$(stat_sum "$WRITTEN")
	check "$1: the machine comes back" eval "echo $3 > $power/state"
	check "$1: tracing continues" goes_on "$before"
}

# goes_on WRITTEN: succeed if records were written meanwhile and each CPU still writes records.
goes_on()
{
	local cpu
	[ "$(stat_sum "$WRITTEN")" -gt "$1" ] || return 1
	for cpu in $(cpu_list online); do
		each_writes "$cpu" || return 1
	done
}

each_writes()
{
	local before
	before=$(stat_cpu "$1" "$WRITTEN")
	wait_until 20 eval "[ \$(stat_cpu $1 $WRITTEN) -gt $before ]" && return 0
	echo "CPU $1 writes no more"
	return 1
}

put 1024 "$MCT_SIZE"
put time "$MCT_OPTIONS"
{ [ -e "$mode" ] && put graph "$mode"; } || diag "only calls: this kernel does not see returns"
light_load_start
trace_on
deep=
if has $power/mem_sleep deep; then
	put deep $power/mem_sleep
	deep=yes
fi
for level in freezer devices platform; do
	sleeps "mem, $level" $level mem
	sleeps "freeze, $level" $level freeze
done
# Only a suspend to RAM reaches these levels.
for level in processors core; do
	if [ -n "$deep" ]; then
		sleeps "mem, $level" $level mem
	else
		no_sleep "mem, $level" "no suspend to RAM"
	fi
done
for level in freezer devices platform processors core; do
	sleeps "disk, $level" $level disk
done

# Suspend completely, which loses the registers, and wake up by an alarm.
if [ -n "$deep" ] && put 0 $alarm && put +10 $alarm; then
	sleeps "mem" none mem
else
	no_sleep "mem" "nothing wakes the machine"
fi

# Hibernate to disk and resume; only the power-off is left out.
if has $power/disk test_resume && [ "$(wc -l < /proc/swaps)" -gt 1 ]; then
	put test_resume $power/disk
	sleeps "disk" none disk
else
	no_sleep "disk" "no swap"
fi
trace_off
load_stop
check "the counts add up" counts_add_up
cat "$MCT_TRACE" > "$MCT_TMP/trace"
equal "no CPU's time decreases" 0 "$(backwards "$MCT_TMP/trace")"
put notime "$MCT_OPTIONS"
cat "$MCT_TRACE" > "$MCT_TMP/trace"
check "the trace is well-formed" examine "$MCT_TMP/trace"
finish
