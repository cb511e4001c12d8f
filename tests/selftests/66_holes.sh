#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: No return is paired with a call from before recording was off
# requires: root tracer smp helper:tracecheck taskset

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
reader=

needs_returns

plan 33

at_end()
{
	exec 9>&-
	[ -z "$reader" ] || wait "$reader"
	put 1 "$MCT_SYSCTL"
	put 1 "$on"
	put "" "$triggers"
	put "" "$filter"
	put "" "$pid"
	put function "$mode"
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

# around WAY FILE OFF ON: write OFF, let the reader return and call again, and write ON. The next
# return has no call in the trace, because only calls from before OFF are there. The same if the
# return is in another ring than the call.
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
		put "$4" "$2"
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
trace_off
cat "$MCT_TRACE" > "$MCT_TMP/trace"
check "the trace is well-formed" examine "$MCT_TMP/trace"
finish
