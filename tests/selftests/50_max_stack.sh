#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: The deepest stack is noted with its functions, and nothing else changes
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

# shown: the table's lines without its head
shown()
{
	sed -n 's/^ *\([0-9]*\)) */\1 /p' "$max"
}

# of FUNCTION: the sizes of its frames
of()
{
	shown | awk -v name="$1" '{ split($4, at, "+") } at[1] == name { print $3 }'
}

depth()
{
	shown | awk 'NR == 1 { print $2 }'
}

# Each line has its number and is less deep than the one before by that one's size. The
# last ends at 0.
well_formed()
{
	shown | awk 'BEGIN { left = -1 }
		$1 != NR - 1 || $3 <= 0 || (left >= 0 && $2 != left) { bad = 1; print }
		{ left = $2 - $3 }
		END { if (left != 0 || !NR) { print "left: " left; bad = 1 } exit bad }'
}

# This shell alone: what it calls in the kernel is no deeper than what the module does.
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

# number FUNCTION: of dd
number()
{
	grep -c "dd:[0-9]* $1+0x[^ ]* <-- " "$MCT_TRACE"
}

put 1024 "$MCT_SIZE"
kind=$(text_kind)
text_save before
check "the module can be loaded" mod_load mct_target
equal "at first it tells how to switch it on" "# echo max_stack > options" "$(cat "$max")"
equal "it is off" nomax_stack "$(grep max_stack "$MCT_OPTIONS")"
check "it can be switched on" put max_stack "$MCT_OPTIONS"
equal "it says so" max_stack "$(grep max_stack "$MCT_OPTIONS")"
equal "nothing is noted while nothing is traced" "# nothing yet" "$(cat "$max")"

noted 3
check "a stack is noted" well_formed
equal "as many functions as it says" "$(shown | wc -l)" \
	"$(sed -n 's/.*Location    (\([0-9]*\) entries)/\1/p' "$max")"
equal "it is the module's" 3 "$(of mct_target_deep | wc -l)"
at_least "each with what it has on the stack" "$frame" \
	"$(of mct_target_deep | sort -n | head -n 1)"
at_least "the whole is deeper than these" $((3 * frame)) "$(depth)"
check "and no deeper than the stack" test "$(depth)" -lt \
	"$(sed -n 's/.* of \([0-9]*\) bytes$/\1/p' "$max")"
equal "it says whose it is" "$$" "$(sed -n 's/^# CPU [0-9]*: .*:\([0-9]*\), of .*/\1/p' "$max")"
check "down to where the kernel was entered" grep -q \
	'do_syscall_64\|do_int80_syscall_32\|do_fast_syscall_32\|entry_' "$max"
before=$(depth)
trace_on
put $$ "$pid"
put 1 "$deep"
trace_off
equal "a less deep one does not take its place" "$before" "$(depth)"
trace_on
put 4 "$deep"
trace_off
put "" "$pid"
at_least "a deeper one does" $((before + frame)) "$(depth)"
before=$(depth)
put nomax_stack "$MCT_OPTIONS"
equal "it is kept when it is switched off" "$before" "$(depth)"
put "" "$max"
equal "until it is cleared" "# echo max_stack > options" "$(cat "$max")"
put $$ "$pid"
trace_on
put 4 "$deep"
trace_off
put "" "$pid"
equal "off it notes nothing" "# echo max_stack > options" "$(cat "$max")"

# --- what is recorded
traced copy
reads=$(number read_zero)
writes=$(number write_null)
put max_stack "$MCT_OPTIONS"
traced copy
equal "calls are recorded as without" "$reads" "$(number read_zero)"
check "the counts add up" counts_add_up
check "any stack is deep enough" well_formed
put write_null "$filter"
put "" "$max"
trace_clear
trace_on
copy
if [ "$kind" = dynamic ]; then
	equal "all call sites call the gate" "calls 0 gates more" \
		"$(heads | sed 's/gates [0-9][0-9][0-9][0-9]*$/gates more/')"
else
	skip "all call sites call the gate" "call sites are static"
fi
trace_off
equal "what is chosen is recorded" "$writes" "$(number write_null)"
equal "nothing else" 0 "$(grep -c -v '^#\| write_null+' "$MCT_TRACE")"
at_least "the stack is that of all functions" 3 "$(shown | wc -l)"
check "and has others than the chosen" not grep -q '  0) .* write_null+' "$max"
put "" "$filter"

# --- under load, which switches it on and off
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
check "what is noted then is whole" well_formed
check "the counts add up after it" counts_add_up

put nomax_stack "$MCT_OPTIONS"
mod_unload mct_target
text_save after
check "all text is as it was" text_same before after
check "a module's function is unknown when it has gone" not grep -q mct_target "$max"
equal "another user can not open it" "open EACCES" "$("$MCT_BIN/badwrite" -u 1000 -r "$max")"
finish
