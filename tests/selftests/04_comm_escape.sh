#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: No task name breaks a line of the trace
# requires: root tracer helper:victim helper:tracecheck

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

trace=$MCT_TMP/trace

# name_test WHAT COMM SHOWN
name_test()
{
	local pid

	trace_on
	pid=$("$MCT_BIN/victim" -t "$MCT_TRACE" -c "$MCT_CTRL" -n "$2" \
		rename | sed -n 's/^pid //p')
	trace_off
	cat "$MCT_TRACE" > "$trace"
	check "$1: all lines are well-formed" examine "$trace"
	"$MCT_BIN/tracecheck" -l -p "${pid:-0}" "$trace" |
		sed -n 's/^\([^\t]*\t\)\{2\}[^\t]*sys_getuid\(16\)\{0,1\}\t[^\t]*\t/=/p' \
		> "$MCT_TMP/shown"
	equal "$1: the name is shown as expected" \
		"=$3" "$(cat "$MCT_TMP/shown")"
}

plan 18
name_test "newline" "$(printf 'a\nCPU 0: b')" 'a?CPU 0: b'
name_test "control characters" "$(printf 'a\001\033[31m\177\tz')" 'a??[31m??z'
name_test "spaces" ' a  b ' ' a  b '
name_test "arrow" 'x <-- y:1' 'x <-- y:1'
name_test "colons" 'a:1 b+0x0/0x1' 'a:1 b+0x0/0x1'
name_test "hash" '# lost: 1' '# lost: 1'
name_test "empty" '' ''
name_test "longest" 'a23456789012345' 'a23456789012345'
name_test "too long" 'b234567890123456789' 'b23456789012345'
finish
