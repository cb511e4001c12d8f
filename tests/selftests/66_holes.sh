#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: No return is paired with a call from before recording was off
# requires: root tracer smp hackbench helper:tracecheck taskset

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=rings.sh
. "$(dirname "$0")/rings.sh"

mode=$MCT_DIR/mode
filter=$MCT_DIR/filter
pid=$MCT_DIR/pid
triggers=$MCT_DIR/triggers
on=$MCT_DIR/tracing_on
snapshot=$MCT_DIR/snapshot
sysrq=/proc/sysrq-trigger
reader=
busy=

needs_returns

plan 64

at_end()
{
	exec 9>&-
	[ -z "$reader" ] || wait "$reader"
	busy_stop
	put 1 "$MCT_SYSCTL"
	put 1 "$on"
	put "" "$triggers"
	put "" "$filter"
	put "" "$pid"
	put function "$mode"
	put 0 "$snapshot"
	rings_restore
}

# asleep: succeed if the reader waits in vfs_read()
asleep()
{
	[ "$(awk '/^State:/ { print $2 }' "/proc/$reader/status")" = S ]
}

# step: make the reader return from vfs_read() and call it again
step()
{
	echo >&9
	sleep 0.2
	wait_until 10 asleep
}

# last_return: print how the trace shows the last return of vfs_read()
last_return()
{
	sed -n 's/^CPU [0-9]*: cat:[0-9]* vfs_read+[^ ]* returns/returns/p' "$MCT_TRACE" | tail -n 1
}

# returns: print the number of returns of vfs_read() in the trace
returns()
{
	grep -c '^CPU [0-9]*: cat:[0-9]* vfs_read+[^ ]* returns' "$MCT_TRACE"
}

# unpaired: succeed if the last return of vfs_read() was recorded, and has no call. Where returns
# are caught, that of a call that was made while nothing was recorded need not be there.
unpaired()
{
	! returns_are_caught || [ "$(returns)" != "$before" ] || return 0
	last=$(last_return)
	echo "$last"
	case $last in
	"" | *" --> "*)	return 1 ;;
	esac
}

# move_to CPU: let the reader run on CPU only, from its next return on
move_to()
{
	taskset -p $((1 << $1)) "$reader" > /dev/null
}

# around WAY FILE OFF ON [FILE-OF-ON]: write OFF, let the reader return and call again, and write
# ON, to the same file or another. The next return has no call in the trace, because only calls from
# before OFF are there. The same if the return is in another ring than the call.
around()
{
	move_to 0
	trace_clear
	step
	step
	diag "$1: $(last_return)"
	case $(last_return) in
	*" --> "*)	ok=1 ;;
	*)		ok= ;;
	esac
	check "$1: while nothing is switched a return has its call" [ -n "$ok" ]
	for cpu in 0 1; do
		put "$3" "$2"
		step
		move_to "$cpu"
		before=$(returns)
		put "$4" "${5:-$2}"
		step
		check "$1: a return on CPU $cpu has no call from before" unpaired
	done
	at_least "$1: the trace shows where recording was off" 1 \
		"$(grep -c '^# recording was off$' "$MCT_TRACE")"
}

# consume: print all that trace_pipe, open as standard input, has now
consume()
{
	timeout 2 cat || [ $? = 124 ] || [ $? = 143 ]
}

# consume_elsewhere: another open file takes all that trace_pipe has now
consume_elsewhere()
{
	consume < "$MCT_DIR/trace_pipe" > /dev/null
}

# between WAY COMMAND...: the reader calls, which trace_pipe shows; then returns and calls again,
# which COMMAND takes from the rings before trace_pipe is read. The next return has no call.
between()
{
	way=$1
	shift
	trace_clear
	exec 8< "$MCT_DIR/trace_pipe"
	step
	consume <&8 > /dev/null
	step
	"$@"
	step
	consume <&8 > "$MCT_TMP/pipe"
	exec 8<&-
	sed -n 's/^CPU [0-9]*: cat:[0-9]* vfs_read+[^ ]* returns/returns/p' "$MCT_TMP/pipe" \
		> "$MCT_TMP/returns"
	diag "$way: $(cat "$MCT_TMP/returns")"
	equal "$way: trace_pipe shows one return, without a call from before" "1 0" \
		"$(grep -c . "$MCT_TMP/returns") $(grep -c -e ' --> ' "$MCT_TMP/returns")"
}

# busy_start: start a task that is in a read of /dev/zero most of the time, on each CPU in turn
busy_start()
{
	dd if=/dev/zero of=/dev/null bs=1M 2> /dev/null &
	busy=$!
	load_repeat "taskset -p 1 $busy; sleep 0.02; taskset -p 2 $busy; sleep 0.02"
}

busy_stop()
{
	[ -z "$busy" ] || kill $busy
	[ -z "$busy" ] || wait $busy
	busy=
} 2> /dev/null

# across FILE: print each end of a call that is shown with a call, although the trace lost calls
# after the last call of this function
across()
{
	awk '	/^# lost [0-9]/ || /^# other CPUs lost calls$/ || /^# recording was off$/ {
			split("", open)
		}
		!match($0, / dd:[0-9]+ [^ +]*/) { next }
		{ name = substr($0, RSTART, RLENGTH) }
		/ <-- / { open[name]++ }
		/ (returns|goes on)/ {
			if (open[name] > 0)
				open[name]--
			else if (/ --> /)
				print
		}' "$1"
}

# lose COMMAND...: run COMMAND 20 times while the busy task calls and returns, and copy the trace
lose()
{
	trace_clear
	i=0
	while [ $i -lt 20 ]; do
		sleep 0.05
		"$@" $i
		i=$((i + 1))
	done
	sleep 0.05
	cat "$MCT_TRACE" > "$MCT_TMP/losing"
}

# losing WAY WANTED COMMAND...: COMMAND loses calls in the middle of the trace, and the trace has
# lines WANTED about that. On a busy machine it may take several attempts.
losing()
{
	way=$1
	wanted=$2
	shift 2
	for _ in 1 2 3 4 5; do
		lose "$@"
		[ "$(grep -cE "^# ($wanted)\$" "$MCT_TMP/losing")" -lt 2 ] || break
	done
	diag "$way: lines about that: $(grep -cE "^# ($wanted)\$" "$MCT_TMP/losing")," \
		"ends of calls with and without the call: $(grep -c ' dd:.* --> ' \
			"$MCT_TMP/losing"), $(grep -c ' dd:.*, called before' "$MCT_TMP/losing")"
	at_least "$way: the trace shows where calls were lost" 2 \
		"$(grep -cE "^# ($wanted)\$" "$MCT_TMP/losing")"
	[ "$wanted" != "$lost" ] || at_least "$way: the other CPU's calls show it, too" 1 \
		"$(grep -c '^# other CPUs lost calls$' "$MCT_TMP/losing")"
	at_least "$way: ends of calls are shown with their calls" 20 \
		"$(grep -c ' dd:.* --> ' "$MCT_TMP/losing")"
	if returns_are_caught; then
		skip "$way: ends of lost calls are shown" \
			"only returns of recorded calls are caught"
	else
		at_least "$way: ends of lost calls are shown" 1 \
			"$(grep -c ' dd:.*, called before' "$MCT_TMP/losing")"
	fi
	equal "$way: no return is paired with a call from before" "" "$(across "$MCT_TMP/losing")"
}

# resize N: make the rings larger or smaller, in turn
resize()
{
	put $((256 << $1 % 2)) "$MCT_SIZE"
}

write_snapshot()
{
	put 1 "$snapshot"
	put 0 "$snapshot"
}

# rearm_snapshot: let the trigger make one more snapshot, at the busy task's next call
rearm_snapshot()
{
	put 0 "$snapshot"
	wait_until 10 snapshot_there
}

freeze_and_thaw()
{
	put T $sysrq
	sleep 0.1
	put 1 "$on"
}

# durations FILE LIMIT: print the number of printed durations, of those longer than LIMIT seconds,
# and of those longer than the time since the file's first record
durations()
{
	awk -v limit="$2" '
		!/^\[/ { next }
		{ at = substr($1, 2, length($1) - 2) }
		!first { first = at }
		/ after ~*[0-9]+ ns --> / {
			took = $0
			sub(/.* after ~*/, "", took)
			took /= 1000000000
			n++
			long += took > limit
			longer += took > at - first + 0.000001
		}
		END { print n + 0, long + 0, longer + 0 }' "$1"
}

put 256 "$MCT_SIZE"
mkfifo "$MCT_TMP/fifo"
cat "$MCT_TMP/fifo" > /dev/null &
reader=$!
exec 9> "$MCT_TMP/fifo"
wait_until 10 asleep

put "$reader" "$pid"
put vfs_read "$filter"
put graph "$mode"
trace_on
around "ctrl" "$MCT_CTRL" 0 1
around "kernel.mcount_enabled" "$MCT_SYSCTL" 0 1
around "tracing_on" "$on" 0 1
around "mode" "$mode" function graph
around "filter" "$filter" vfs_write vfs_read
around "pid" "$pid" 1 "$reader"
if [ -w $sysrq ]; then
	around "freeze" $sysrq T 1 "$on"
	around "freeze and ctrl" $sysrq T 1 "$MCT_CTRL"
else
	for what in 1 2 3 4 5 6 7 8; do
		skip "freeze ($what)" "this kernel has no SysRq"
	done
fi
put function "$mode"
put vfs_read:ret "$triggers"
around "triggers" "$triggers" "" vfs_read:ret
between "clear" trace_clear
between "another reader" consume_elsewhere

# The clear takes a return and a call of CPU 1 away, between a call and a return of CPU 0.
trace_clear
step
move_to 1
step
echo > "$(per_cpu 1 trace)"
move_to 0
step
check "clear of one CPU: a return has no call from before" unpaired

# Only the reader's calls are counted, and it sleeps: a resize loses nothing.
trace_clear
step
put 512 "$MCT_SIZE"
step
equal "a resize without a lost call writes no gap" 0 \
	"$(grep -c -e '^# lost [0-9]' -e '^# other CPUs lost calls$' "$MCT_TRACE")"

# --- a task that calls and returns all the time
put "" "$triggers"
put graph "$mode"
put time "$MCT_OPTIONS"
light_load_start
busy_start
put $busy "$pid"
# Some of them jump to another function before the read.
put 'vfs_read ksys_read read_zero' "$filter"
lost='lost [1-9][0-9]*|other CPUs lost calls'
losing "resize" "$lost" resize
put 256 "$MCT_SIZE"
losing "snapshot by its file" "$lost" write_snapshot
put vfs_read:snapshot "$triggers"
losing "snapshot by a trigger" "$lost" rearm_snapshot
put "" "$triggers"
put 0 "$snapshot"
if [ -w $sysrq ]; then
	losing "freeze and thaw" 'recording was off' freeze_and_thaw
else
	for what in 1 2 3 4; do
		skip "freeze and thaw ($what)" "this kernel has no SysRq"
	done
fi
busy_stop
load_stop

# --- durations, of all tasks, while the rings change
put "" "$pid"
put "" "$filter"
trace_off
trace_clear
light_load_start
begun=$(now)
trace_on
i=0
failed=0
while [ $i -lt 20 ]; do
	resize $i || failed=$((failed + 1))
	sleep 0.1
	[ $((i % 5)) != 0 ] || cat "$MCT_TRACE" > "$MCT_TMP/resized.$((i / 5))"
	i=$((i + 1))
done
trace_off
load_stop
cat "$MCT_TRACE" > "$MCT_TMP/resized.4"
seconds=$(($(now) - begun + 1))
equal "all of $i resizes succeed" 0 $failed
for i in 0 1 2 3 4; do
	durations "$MCT_TMP/resized.$i" $seconds
done > "$MCT_TMP/durations"
diag "of $seconds s, durations, too long ones, ones from before:" \
	"$(paste -s -d , "$MCT_TMP/durations")"
at_least "five traces show durations" 5 "$(awk '$1 >= 1000' "$MCT_TMP/durations" | wc -l)"
equal "no call lasts longer than the test" 0 \
	"$(awk '{ n += $2 } END { print n + 0 }' "$MCT_TMP/durations")"
equal "no call lasts longer than the time since its trace begins" 0 \
	"$(awk '{ n += $3 } END { print n + 0 }' "$MCT_TMP/durations")"
put notime "$MCT_OPTIONS"
cat "$MCT_TRACE" > "$MCT_TMP/trace"
check "the trace is well-formed" examine "$MCT_TMP/trace"
finish
