#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: Returns that rethook catches outlive the recording and other users
# requires: root tracer helper:badwrite

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=rings.sh
. "$(dirname "$0")/rings.sh"

mode=$MCT_DIR/mode
filter=$MCT_DIR/filter
triggers=$MCT_DIR/triggers
tracing=/sys/kernel/tracing
sleepers=

needs_returns
returns_are_caught || skip_all "there are call sites before returns"
put graph "$mode"

plan 15

at_end()
{
	# shellcheck disable=SC2086 # numbers
	[ -z "$sleepers" ] || kill $sleepers 2> /dev/null
	[ ! -d $tracing/events/kprobes ] || put 0 $tracing/events/kprobes/enable
	[ ! -e $tracing/kprobe_events ] || put "" $tracing/kprobe_events
	put "" "$triggers"
	put "" "$filter"
	put "" "$MCT_DIR/pid"
	put function "$mode"
	rings_restore
}

# sleepers_start N: start N tasks that sleep in the kernel, within caught calls
sleepers_start()
{
	i=0
	while [ $i -lt "$1" ]; do
		sleep 1000 &
		sleepers="$sleepers $!"
		i=$((i + 1))
	done
	sleep 1
}

# sleepers_end NAME: kill them, and report whether all have ended by that
sleepers_end()
{
	ended=0 started=0
	for one in $sleepers; do
		kill "$one"
		wait "$one" 2> /dev/null
		[ $? != 143 ] || ended=$((ended + 1))
		started=$((started + 1))
	done
	sleepers=
	equal "$1" "$started" "$ended"
}

missed()
{
	sed -n 's/^# returns missed: //p' "$MCT_STATS"
}

# read_bytes N: call read(2) N times
read_bytes()
{
	dd if=/dev/zero of=/dev/null bs=1 count="$1" 2> /dev/null
}

# probed PROBE N: succeed if the probe was hit N times or more
probed()
{
	awk -v probe="$1" -v least="$2" '$1 == probe { hits = $2 } END { exit hits < least }' \
		$tracing/kprobe_profile
}

# orphans: print the number of returns in the trace whose call is not there
orphans()
{
	grep -c ' returns, called before' "$MCT_TRACE"
}

trace_clear
trace_on
sleepers_start 10
trace_off
sleepers_end "calls that sleep when recording ends return to their callers"

trace_on
sleepers_start 10
put function "$mode"
put graph "$mode"
trace_clear
sleepers_end "calls from before the mode changed return to their callers"
trace_off
check "a return from before the mode changed has no call" [ "$(orphans)" -ge 1 ]

trace_on
sleepers_start 10
trace_off
trace_clear
trace_on
sleepers_end "calls from before recording began again return to their callers"
trace_off

put 'hrtimer_nanosleep do_nanosleep' "$filter"
trace_clear
trace_on
sleep 0.01
trace_off
equal "a selected function is recorded with its return" "1 1" \
	"$(grep -c ' sleep:.* hrtimer_nanosleep+.* <-- ' "$MCT_TRACE") $(
	grep -c ' sleep:.* hrtimer_nanosleep+.* returns after ' "$MCT_TRACE")"
equal "the return has its caller" 1 \
	"$(grep -c ' sleep:.* do_nanosleep+.* returns .* --> hrtimer_nanosleep+' "$MCT_TRACE")"
put "" "$filter"
put function "$mode"

put 'do_nanosleep:slow 5ms:ret' "$triggers"
put 'hrtimer_nanosleep' "$filter"
trace_clear
trace_on
sleep 0.01
trace_off
equal "a function that is not selected is timed" 1 \
	"$(grep -c ' do_nanosleep+.* returns 0 after ' "$MCT_TRACE")"
put "" "$filter"

put 'do_nanosleep:ret' "$triggers"
put $$ "$MCT_DIR/pid"
trace_clear
trace_on
sleep 0.01
trace_off
put "" "$MCT_DIR/pid"
equal "the returns of a task that is not selected are not recorded" 0 \
	"$(grep -c ' do_nanosleep+.* returns ' "$MCT_TRACE")"
put "" "$triggers"

put 'do_exit do_group_exit' "$filter"
put graph "$mode"
trace_clear
trace_on
i=0
while [ $i -lt 20 ]; do
	(exec sh -c 'kill -9 $$') 2> /dev/null
	i=$((i + 1))
done
trace_off
check "tasks that die within caught calls are recorded" grep -q ' do_exit+.* <-- ' "$MCT_TRACE"
equal "a call that never returns has no return" 0 "$(grep -c ' do_exit+.* returns' "$MCT_TRACE")"
put "" "$filter"

# The handler of a return probe replaces the return address, too, while its own calls are caught.
[ -e $tracing/trace ] || mount -t tracefs none $tracing 2> /dev/null
if put 'r:mct_return vfs_read' $tracing/kprobe_events &&
   printf 'p:mct_call vfs_read\n' >> $tracing/kprobe_events; then
	put 1 $tracing/events/kprobes/enable
	put 4096 "$MCT_DIR/buffer_size_kb"
	trace_clear
	trace_on
	read_bytes 30
	trace_off
	check "a return probe sees returns while all are caught" probed mct_return 30
	check "all returns are caught while a return probe sees them" \
		[ "$(grep -c ' dd:[0-9]* vfs_read+.* returns after ' "$MCT_TRACE")" -ge 30 ]
	put 0 $tracing/events/kprobes/enable
	put "" $tracing/kprobe_events
else
	skip "a return probe sees returns while all are caught" "no kprobe events"
	skip "all returns are caught while a return probe sees them" "no kprobe events"
fi

# Older kernels trace idle CPUs, where RCU does not watch.
put "$$ children" "$MCT_DIR/pid"
missed_before=$(missed)
trace_on
sleepers_start 200
sleepers_end "200 sleeping tasks return to their callers"
trace_off
put "" "$MCT_DIR/pid"
equal "no return was missed" "$missed_before" "$(missed)"
equal "the trace has calls and returns" "yes yes" \
	"$(grep -q ' <-- ' "$MCT_TRACE" && echo yes) $(grep -q ' returns' "$MCT_TRACE" && echo yes)"
finish
