#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: A kprobe at a return, or near it, and the call site there work together
# requires: root tracer hackbench kcore testmod:mct_kprobe testmod:mct_shapes helper:kerneltext

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=rings.sh
. "$(dirname "$0")/rings.sh"

mode=$MCT_DIR/mode
filter=$MCT_DIR/filter
triggers=$MCT_DIR/triggers
probes=${MCT_DIR%/*}/kprobes/list

needs_returns
! returns_are_caught || skip_all "there are no call sites before returns"

plan 66

at_end()
{
	put "" "$triggers"
	put "" "$filter"
	put function "$mode"
	! mod_loaded mct_kprobe || mod_unload mct_kprobe
	! mod_loaded mct_shapes || mod_unload mct_shapes
	rings_restore
}

probe()
{
	mod_load mct_kprobe "$@"
}

unprobe()
{
	mod_unload mct_kprobe
}

# offset_at: print the probe's offset in its function
offset_at()
{
	mod_get mct_kprobe at | sed 's/.*+\(0x[0-9a-f]*\)\/.*/\1/'
}

# exit_of FUNCTION: print the offset after the call site of its return or jump, from the trace
exit_of()
{
	sed -n "s/.* $1+\\(0x[0-9a-f]*\\)\\/.* \\(returns\\|goes on\\) .*/\\1/p" "$MCT_TRACE" |
		head -n 1
}

# is_hit WHAT HITS: report the probe's hits while tracing is off
is_hit()
{
	before=$(mod_get mct_kprobe hits)
	mod_set mct_shapes shape tail
	equal "$1: the probe is hit while tracing is off" \
		"$2" $(($(mod_get mct_kprobe hits) - before))
}

# works WHAT HITS: report whether all is recorded and the probe is hit as often
works()
{
	before=$(mod_get mct_kprobe hits)
	traced mod_set mct_shapes shape tail
	equal "$1: all is recorded, and the probe is hit" \
		"tail<run_tail tail~run_tail end<run_tail end>run_tail, $2 hits" \
		"$(seen), $(($(mod_get mct_kprobe hits) - before)) hits"
}

# is_right NAME: report whether results are right while the mode changes
is_right()
{
	wrong=
	trace_on
	for word in function graph function graph; do
		put "$word" "$mode" || wrong="$wrong $word"
		mod_set mct_shapes rounds 20 || wrong="$wrong rounds"
	done
	trace_off
	dmesg | grep -q 'no call site will' && wrong="$wrong broken"
	equal "$1" "" "$wrong"
}

read_one()
{
	read -r _ < /proc/uptime
}

# Succeed if the probe is a jump and not a breakpoint.
is_optimized()
{
	grep -q OPTIMIZED "$probes"
}

# around FUNCTION OFFSET HITS: set probes at the call site before OFFSET, inside it, and after it
around()
{
	site=$(($2 - 5))
	for when in before while; do
		put function "$mode"
		[ $when = before ] || put graph "$mode"
		[ $when = before ] || trace_on
		check "$1: a probe can be set at the call site $when returns are recorded" \
			probe symbol="$1" offset=$site
		equal "$1: the probe is placed after the call site, $when" "$2" "$(offset_at)"
		put graph "$mode"
		works "$1: at the call site, $when" "$3"
		is_right "$1: at the call site, $when: results are right"
		unprobe
		trace_on
		check "$1: $when: no probe can be set inside the call site" \
			not probe symbol="$1" offset=$((site + 1))
		! mod_loaded mct_kprobe || unprobe
		trace_off
		put function "$mode"
		[ $when = before ] || put graph "$mode"
		[ $when = before ] || trace_on
		check "$1: a probe can be set after the call site $when returns are recorded" \
			probe symbol="$1" offset=$(($2))
		[ $when = while ] || is_hit "$1: after it" "$3"
		put graph "$mode"
		works "$1: after it, $when" "$3"
		trace_off
		is_hit "$1: after it, $when, afterwards" "$3"
		is_right "$1: after it, $when: results are right"
		unprobe
		trace_off
	done
}

# recording: if $when is on, switch on in graph mode, else switch off in function mode
recording()
{
	if [ $when = on ]; then
		put graph "$mode"
		trace_on
	else
		trace_off
		put function "$mode"
	fi
}

# Set a probe at each offset of two functions. If its jump would reach into the call site, the
# probe must stay a breakpoint.
no_jump_reaches_sites()
{
	wrong=
	set=0
	jumps=0
	for symbol in shape_end shape_tail; do
		[ $symbol = shape_end ] && exit_at=$((end_exit)) || exit_at=$((tail_exit))
		for offset in $(seq 1 "$exit_at"); do
			recording
			probe symbol=$symbol offset="$offset" 2>/dev/null || continue
			set=$((set + 1))
			at=$(($(offset_at)))
			if wait_until 2 is_optimized; then
				jumps=$((jumps + 1))
				diag "$symbol: a jump at $at, its call site is at $((exit_at - 5))"
				[ $at -ge "$exit_at" ] || [ $((at + 5)) -le $((exit_at - 5)) ] ||
					wrong="$wrong $symbol+$at"
			fi
			put graph "$mode"
			trace_on
			mod_set mct_shapes rounds 1 || wrong="$wrong rounds"
			[ "$(mod_get mct_kprobe hits)" -gt 0 ] || wrong="$wrong $symbol+$at:missed"
			trace_off
			put function "$mode"
			unprobe
		done
	done
	diag "$state: $jumps of $set probes were jumps"
	[ $set -gt 0 ] || wrong="no probe was set"
	equal "$state: no probe reaches into a call site as a jump" "" "$wrong"
}

# Set a probe that becomes a jump. Which functions allow this depends on the code after their last
# return.
a_jump()
{
	found=
	for symbol in shape_six shape_variadic_tail shape_large shape_pointer_tail shape_exits; do
		recording
		probe symbol=$symbol
		wait_until 10 is_optimized && found=$symbol && break
		unprobe
	done
	put graph "$mode"
	if [ -n "$found" ]; then
		kb=$(cat "$MCT_SIZE")
		put 1024 "$MCT_SIZE"
		traced mod_set mct_shapes rounds 1
		equal "$state: a probe on $found is a jump, and each call hits it" \
			"$(grep -c " $found+.* <-- " "$MCT_TRACE")" "$(mod_get mct_kprobe hits)"
		is_right "$state: results are right with that probe"
		unprobe
		put "$kb" "$MCT_SIZE"
	else
		skip "$state: a probe is a jump" "none was optimized"
		skip "$state: results are right with that probe" "none was optimized"
	fi
	trace_off
}

mod_load mct_shapes
put 'mod:mct_shapes' "$filter"
probe symbol=shape_end
unprobe
put graph "$mode"
trace_on
trace_off
text_save clean
traced mod_set mct_shapes shape tail
tail_exit=$(exit_of shape_tail)
end_exit=$(exit_of shape_end)
diag "shape_tail goes on at $tail_exit, shape_end returns at $end_exit"

around shape_end "$end_exit" 1
around shape_tail "$tail_exit" 1

# In these functions the call site of the return or jump is next to the call site at the head.
for shape in empty int_tail; do
	for when in before while; do
		put function "$mode"
		[ $when = before ] || put graph "$mode"
		[ $when = before ] || trace_on
		check "shape_$shape: a probe can be set at its head $when returns are recorded" \
			probe symbol=shape_$shape
		put graph "$mode"
		before=$(mod_get mct_kprobe hits)
		traced mod_set mct_shapes shape $shape
		equal "shape_$shape: $when: all is recorded, and each call hits the probe" \
			"2 or more, $(grep -c " shape_$shape+.* <-- " "$MCT_TRACE")" \
			"$(grep -c " shape_$shape+" "$MCT_TRACE" | sed 's/^[2-9]$/2 or more/'), \
$(($(mod_get mct_kprobe hits) - before))"
		is_right "shape_$shape: $when: results are right"
		unprobe
		trace_off
	done
done
trace_on	# a NOP that a probe has left becomes the return again
trace_off
text_save now
check "the text is the same as before after these probes" text_same clean now

# --- probes that become jumps
for when in off on; do
	[ $when = off ] && state="while off" || state="while returns are recorded"
	if [ -r "$probes" ] && [ -w /proc/sys/debug/kprobes-optimization ]; then
		no_jump_reaches_sites
		a_jump
	else
		for name in "no probe reaches into a call site as a jump" "a probe is a jump" \
			    "results are right with that probe"; do
			skip "$state: $name" "probes are not optimized"
		done
	fi
done

# --- return probes
put graph "$mode"
check "a return probe can be set" probe symbol=shape_end entry=0 ret=1
traced mod_set mct_shapes shape tail
equal "with a return probe all is recorded with the right callers" \
	"tail<run_tail tail~run_tail end<run_tail end>run_tail" "$(seen)"
equal "the return probe is hit" \
	"1 144" "$(mod_get mct_kprobe returns) $(mod_get mct_kprobe results)"
is_right "results are right with the return probe"
unprobe
probe symbol=shape_int ret=1
put 'shape_int:fail:stacktrace depth=3' "$triggers"
traced mod_set mct_shapes shape error
equal "a return with a return probe has the right callers" "shape_int run_error" \
	"$(sed -n -e 's/^CPU .* \(shape_int\)+.* returns.*/\1/p' \
	-e 's/^    -- \(run_error\)+.*/\1/p' "$MCT_TRACE" | xargs)"
put "" "$triggers"
unprobe

# --- a hot kernel function, under load
put vfs_read "$filter"
traced read_one
hot_exit=$(exit_of vfs_read)
put "" "$filter"
if [ -z "$hot_exit" ]; then
	skip "probes in a hot function" "vfs_read is not there"
	skip "the log" "vfs_read is not there"
else
	light_load_start
	trace_on
	toggles_start "$mode" graph function
	wrong=
	while ! toggles_reach 6; do
		for offset in $((hot_exit - 5)) $((hot_exit)); do
			probe symbol=vfs_read offset=$offset ret=1 || wrong="$wrong set $offset;"
			read_one
			[ "$(mod_get mct_kprobe returns)" -ge 1 ] || wrong="$wrong returns $offset;"
			unprobe || wrong="$wrong removed $offset;"
		done
	done
	toggles_stop
	load_stop
	equal "probes can be set and removed in a hot function while the mode changes" "" "$wrong"
	check "no toggle failed" not toggles_failed
fi
put "" "$filter"
put graph "$mode"
trace_on	# as above: NOPs become returns again
trace_off
put function "$mode"
check "the kernel still changes its call sites" \
	not sh -c 'dmesg | grep -e "mcount: .* holds" -e "no call site will"'
text_save now
check "the text is restored at the end" text_same clean now
finish
