#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: max_stack records the deepest stack and its functions and changes nothing else
# requires: root tracer hackbench kcore helper:badwrite helper:kerneltext testmod:mct_target

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=rings.sh
. "$(dirname "$0")/rings.sh"

plan 33

max=$MCT_DIR/max_stack
filter=$MCT_DIR/filter
pid=$MCT_DIR/pid
deep=/sys/module/mct_target/parameters/deep
frame=900	# bytes, as in mct_target.c
calls=2000

at_end()
{
	put nomax_stack "$MCT_OPTIONS"
	put "" "$filter"
	put "" "$pid"
	put "" "$max"
	! mod_loaded mct_target || mod_unload mct_target
	rings_restore
}

# shown: print the table's lines without its head
shown()
{
	sed -n 's/^ *\([0-9]*\)) */\1 /p' "$max"
}

# of FUNCTION: print the sizes of its frames
of()
{
	shown | awk -v name="$1" '{ split($4, at, "+") } at[1] == name { print $3 }'
}

depth()
{
	shown | awk 'NR == 1 { print $2 }'
}

# Succeed if each line has its number, each depth is the previous depth minus the previous frame's
# size, and the last line's frame ends at 0.
well_formed()
{
	shown | awk 'BEGIN { left = -1 }
		$1 != NR - 1 || $3 <= 0 || (left >= 0 && $2 != left) { bad = 1; print }
		{ left = $2 - $3 }
		END { if (left != 0 || !NR) { print "left: " left; bad = 1 } exit bad }'
}

# noted DEPTH: record the stacks of this shell alone, whose own calls are less deep than the
# module's
noted()
{
	put "" "$max"
	put $$ "$pid"
	trace_on
	put "$1" "$deep"
	trace_off
	put "" "$pid"
	diag_lines < "$max"
}

heads()
{
	"$MCT_BIN/kerneltext" heads | sed -n '/^calls\|^gates/p' | xargs
}

# number FUNCTION: count dd's calls of it
number()
{
	grep -c "dd:[0-9]* $1+0x[^ ]* <-- " "$MCT_TRACE"
}

put 1024 "$MCT_SIZE"
kind=$(text_kind)
text_save before
check "the module loads" mod_load mct_target
equal "max_stack first shows how to switch it on" "# echo max_stack > options" "$(cat "$max")"
equal "the option is off at first" nomax_stack "$(grep max_stack "$MCT_OPTIONS")"
check "the option can be switched on" put max_stack "$MCT_OPTIONS"
equal "the option is read as on" max_stack "$(grep max_stack "$MCT_OPTIONS")"
equal "no stack is recorded while nothing is traced" "# nothing yet" "$(cat "$max")"

noted 3
check "a stack is recorded" well_formed
equal "the head shows the number of functions" "$(shown | wc -l)" \
	"$(sed -n 's/.*Location    (\([0-9]*\) entries)/\1/p' "$max")"
equal "the recorded stack has the module's functions" 3 "$(of mct_target_deep | wc -l)"
at_least "each frame has at least the size of its array" "$frame" \
	"$(of mct_target_deep | sort -n | head -n 1)"
at_least "the stack is deeper than the module's frames" $((3 * frame)) "$(depth)"
check "the recorded depth is less than the stack's size" test "$(depth)" -lt \
	"$(sed -n 's/.* of \([0-9]*\) bytes$/\1/p' "$max")"
equal "the head shows the task" "$$" "$(sed -n 's/^# CPU [0-9]*: .*:\([0-9]*\), of .*/\1/p' "$max")"
check "the stack begins where the kernel was entered" grep -q \
	'do_syscall_64\|do_int80_syscall_32\|do_fast_syscall_32\|entry_' "$max"
before=$(depth)
trace_on
put $$ "$pid"
put 1 "$deep"
trace_off
equal "a less deep stack does not replace the recorded one" "$before" "$(depth)"
trace_on
put 4 "$deep"
trace_off
put "" "$pid"
# An interrupt may have made the one before deeper than the module's frames, but not by a frame.
equal "a deeper stack replaces the recorded one" "4 deeper" "$(of mct_target_deep | wc -l) $(
	[ "$(depth)" -gt "$before" ] && echo deeper)"
before=$(depth)
put nomax_stack "$MCT_OPTIONS"
equal "the stack is kept when the option is switched off" "$before" "$(depth)"
put "" "$max"
equal "a write to max_stack clears the stack" "# echo max_stack > options" "$(cat "$max")"
put $$ "$pid"
trace_on
put 4 "$deep"
trace_off
put "" "$pid"
equal "with the option off no stack is recorded" "# echo max_stack > options" "$(cat "$max")"

# --- recorded calls
traced copy
reads=$(number read_zero)
writes=$(number write_null)
put max_stack "$MCT_OPTIONS"
traced copy
equal "with the option each call is recorded" "$reads" "$(number read_zero)"
check "the counts add up" counts_add_up
check "a stack of any task is recorded" well_formed
put write_null "$filter"
put "" "$max"
trace_clear
trace_on
copy
if [ "$kind" = dynamic ]; then
	equal "all call sites call the pre-handler" "calls 0 gates more" \
		"$(heads | sed 's/gates [0-9][0-9][0-9][0-9]*$/gates more/')"
else
	skip "all call sites call the pre-handler" "call sites are static"
fi
trace_off
equal "the selected function is recorded" "$writes" "$(number write_null)"
equal "no other function is recorded" 0 "$(grep -c -v '^#\| write_null+' "$MCT_TRACE")"
at_least "the stack has functions that are not selected" 3 "$(shown | wc -l)"
check "the deepest function of the stack is not the selected one" \
	not grep -q '  0) .* write_null+' "$max"
put "" "$filter"

# --- switch the option under load
failed=0
load_start
trace_on
for _ in 1 2 3 4 5 6 7 8; do
	put nomax_stack "$MCT_OPTIONS" || failed=$((failed + 1))
	put "" "$max"
	put max_stack "$MCT_OPTIONS" || failed=$((failed + 1))
	shown > /dev/null || failed=$((failed + 1))
done
equal "switching under load does not fail" 0 "$failed"
trace_off
load_stop
check "the recorded stack is complete after that" well_formed
check "the counts add up after that" counts_add_up

put nomax_stack "$MCT_OPTIONS"
mod_unload mct_target
text_save after
check "all text is the same as before" text_same before after
check "an unloaded module's function is unknown" not grep -q mct_target "$max"
equal "another user can not open max_stack" "open EACCES" "$("$MCT_BIN/badwrite" -u 1000 -r "$max")"
finish
