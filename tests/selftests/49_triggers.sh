#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: Triggers do what they say, that often, at their functions only
# requires: root tracer hackbench kcore helper:badwrite helper:kerneltext

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=rings.sh
. "$(dirname "$0")/rings.sh"

plan 80

triggers=$MCT_DIR/triggers
filter=$MCT_DIR/filter
on=$MCT_DIR/tracing_on
snapshot=$MCT_DIR/snapshot
calls=2000

at_end()
{
	put "" "$triggers"
	put "" "$filter"
	put 0 "$snapshot"
	put 1 "$on"
	! mod_loaded mct_target || mod_unload mct_target
	rings_restore
}

# set_to TEXT: what becomes of writing it
set_to()
{
	printf '%s' "$1" | "$MCT_BIN/badwrite" "$triggers" | sed 's/^ok.*/ok/'
}

add()
{
	{ echo "$1" >> "$triggers"; } 2>/dev/null
}

# lines: the file without comments
lines()
{
	sed -e 's/[[:space:]]*#.*//' -e '/^$/d' "$triggers"
}

# hits LINE: how often the functions of the one that begins so were called
hits()
{
	sed -n "s/^$1[^#]*# \\([0-9]*\\) hits.*/\\1/p" "$triggers"
}

why()
{
	dmesg | grep 'mctracer: triggers: ' | tail -n 1 | grep -qF "$1"
}

snapshot_there()
{
	cat "$snapshot" > "$MCT_TMP/snapshot" 2>/dev/null
}

copy()
{
	dd if=/dev/zero of=/dev/null bs=1 count="$calls" 2>/dev/null
}

traced()
{
	trace_clear
	trace_on
	"$@"
	trace_off
}

# number FUNCTION: how many calls of it are in the trace
number()
{
	grep -c "[0-9] $1+0x[^ ]* <-- " "$MCT_TRACE"
}

# chains FUNCTION [FILE]: a line for each of its calls that has a chain: the chain's functions
chains()
{
	awk -v want=" $1[+]" '
		/^    -- / { if (mine) { sub(/[+].*/, "", $2); chain = chain " " $2 } next }
		{ if (chain != "") print chain; chain = ""; mine = $0 ~ want }
		END { if (chain != "") print chain }
	' "${2:-$MCT_TRACE}"
}

put 1024 "$MCT_SIZE"
equal "there are none at first" "" "$(cat "$triggers")"
equal "and recording is not paused" 1 "$(cat "$on")"

# --- count
check "count is set" put read_zero:count "$triggers"
equal "it is in the list" read_zero:count "$(lines)"
traced copy
reads=$(number read_zero)
writes=$(number write_null)
equal "dd reads that often" "$calls" "$reads"
equal "each call is counted" "$reads" "$(hits read_zero:count)"
equal "and recorded as before, with no chain" "" "$(chains read_zero)"
put write_null "$filter"
put read_zero:count "$triggers"
traced copy
equal "written again it begins at 0, and what is not chosen is counted" "$reads" \
	"$(hits read_zero:count)"
equal "but not recorded" 0 "$(number read_zero)"
at_least "what is chosen is" "$calls" "$(number write_null)"
if [ "$(text_kind)" = dynamic ]; then
	trace_on
	"$MCT_BIN/kerneltext" heads > "$MCT_TMP/heads"
	trace_off
	equal "no other call site is a call" "calls 1 gates 1" \
		"$(sed -n '/^calls\|^gates/p' "$MCT_TMP/heads" | xargs)"
	"$MCT_BIN/kerneltext" heads > "$MCT_TMP/heads"
	equal "and none is when it is off" "calls 0 gates 0" \
		"$(sed -n '/^calls\|^gates/p' "$MCT_TMP/heads" | xargs)"
else
	skip "no other call site is a call" "call sites are static"
	skip "and none is when it is off" "call sites are static"
fi
put "" "$filter"
put '[rw][er]*_[zn][eu][rl][ol]:count' "$triggers"
traced copy
equal "of several functions each has its number" "$reads $writes" \
	"$(awk '$1 == "#" && $3 ~ /^(read_zero|write_null)$/ { print $3, $2 }' "$triggers" |
		sort | awk '{ print $2 }' | xargs)"
at_least "and all together theirs" "$((reads + writes))" "$(hits '\[rw\][^:]*:count')"

# --- stacktrace
check "stacktrace is set" put read_zero:stacktrace:5 "$triggers"
traced copy
equal "five calls have a chain" 5 "$(chains read_zero | wc -l)"
equal "which begins with the caller, as the call says" \
	"$(sed -n 's/.* read_zero+.* <-- \([^+]*\)+.*/\1/p' "$MCT_TRACE" | sort -u)" \
	"$(chains read_zero | awk '{ print $1 }' | sort -u)"
check "and goes to where the kernel was entered" not grep -qv do_syscall_64 <<-EOF
	$(chains read_zero | sed 's/do_int80_syscall_32\|do_fast_syscall_32/do_syscall_64/')
EOF
equal "each call is recorded once" "$reads" "$(number read_zero)"
check "the counts add up" counts_add_up
equal "nothing is left" read_zero:stacktrace:0 "$(lines)"
equal "but it was called more often" "$reads" "$(hits read_zero:stacktrace)"
cp "$triggers" "$MCT_TMP/list"
check "what is read can be written" cp "$MCT_TMP/list" "$triggers"
equal "and is the same then" read_zero:stacktrace:0 "$(lines)"
traced copy
equal "with nothing left there are no chains" "" "$(chains read_zero)"
put 'read_zero:stacktrace depth=2:3' "$triggers"
put write_null "$filter"
traced copy
equal "a chain has at most the depth that is set" "2 2 2" \
	"$(chains read_zero | awk '{ print NF }' | xargs)"
equal "only its calls are recorded of what is not chosen" 3 "$(number read_zero)"
put "" "$filter"
for option in time context; do
	put "$option" "$MCT_OPTIONS"
	put read_zero:stacktrace:4 "$triggers"
	traced copy
	equal "with $option, too" 4 "$(chains read_zero | wc -l)"
done
equal "and each call once" "$reads" "$(number read_zero)"
put read_zero:stacktrace:5 "$triggers"
traced copy
timeout 30 awk '{ print } /^    -- entry_/ && ++n == 5 { exit }' "$MCT_DIR/trace_pipe" \
	> "$MCT_TMP/pipe" || :
equal "trace_pipe has each chain behind its call" "5 0" \
	"$(chains read_zero "$MCT_TMP/pipe" | wc -l) $(
		grep -B 1 '^    -- ' "$MCT_TMP/pipe" | grep -cv '^\[.*read_zero+\|^    -- \|^--')"
put nooverwrite "$MCT_OPTIONS"
traced hackbench 1 process 50 > /dev/null 2>&1
check "the counts add up with full rings" counts_add_up
put overwrite "$MCT_OPTIONS"
put nocontext "$MCT_OPTIONS"
put notime "$MCT_OPTIONS"
put update_process_times:stacktrace:3 "$triggers"
traced sleep 1
at_least "in an interrupt" 1 "$(chains update_process_times | wc -l)"
put tick_nohz_idle_enter:stacktrace:3 "$triggers"
traced sleep 1
if [ "$(number tick_nohz_idle_enter)" = 0 ]; then
	skip "in idle" "tick_nohz_idle_enter is not called"
else
	at_least "in idle" 1 "$(chains tick_nohz_idle_enter | grep -c do_idle)"
fi

# --- mark, traceon, traceoff
put read_zero:mark:7 "$triggers"
traced copy
equal "mark writes a line, each time" 7 \
	"$(grep -c '^# mark \[[0-9]*\.[0-9]*\] CPU [0-9]*: .* read_zero+' "$MCT_TRACE")"
equal "nothing else is missing" "$reads" "$(number read_zero)"
put read_zero:traceoff "$triggers"
trace_clear
trace_on
copy
equal "traceoff stops recording" 0 "$(cat "$on")"
equal "while the tracer is on" 1 "$(cat "$MCT_CTRL")"
equal "the call itself is the last of its function" 1 "$(number read_zero)"
equal "and the stop is the last line" 1 \
	"$(tail -n 1 "$MCT_TRACE" | grep -c '^# traceoff \[[0-9.]*\] CPU [0-9]*: .* read_zero+')"
check "nothing more comes" not records_flow
put "" "$triggers"
put 1 "$on"
check "until it is switched on again" records_flow
put 0 "$on"
check "or off" not records_flow
put 1 "$MCT_CTRL"
check "ctrl switches it on, too" records_flow
trace_off
printf 'read_zero:traceon\nwrite_null:traceoff\n' > "$triggers"
trace_clear
trace_on
put 0 "$on"
copy
trace_off
put 1 "$on"
equal "a window begins with each read" "$reads" "$(number read_zero)"
equal "and ends with each write" "$calls 0" \
	"$(number write_null) $(grep -c ' dd:[0-9]* ksys_read+' "$MCT_TRACE")"
put 'read_*' "$filter"
put 'read_zero:traceoff after=4000:1' "$triggers"
trace_clear
trace_on
copy
equal "after a while it is still on" 1 "$(cat "$on")"
at_least "and has recorded since" "$((calls / 2))" "$(number read_zero)"
wait_for_off()
{
	[ "$(cat "$on")" = 0 ]
}
check "then it goes off" wait_until 60 wait_for_off
equal "what is to come and what has come are lines" "1 1" \
	"$(grep -c '^# traceoff soon .* read_zero+' "$MCT_TRACE") $(
		grep -c '^# traceoff \[.* read_zero+' "$MCT_TRACE")"
trace_off
put "" "$filter"
put 1 "$on"

# --- snapshot
check "there is no snapshot at first" not snapshot_there
put 'read_zero:snapshot' "$triggers"
trace_clear
trace_on
copy
check "there is one" wait_until 30 snapshot_there
copy
trace_off
equal "which ends with the function's first call" "1 1" \
	"$(grep -c ' read_zero+.* <-- ' "$MCT_TMP/snapshot") $(
		grep -c '^# snapshot \[[0-9.]*\] CPU [0-9]*: .* read_zero+' "$MCT_TMP/snapshot")"
check "recording goes on, and what is lost is counted" counts_add_up
at_least "what came later is there" "$calls" "$(number read_zero)"
traced copy
cat "$snapshot" > "$MCT_TMP/later"
check "no other is taken" cmp "$MCT_TMP/snapshot" "$MCT_TMP/later"
put 0 "$snapshot"
check "until it is cleared" not snapshot_there
traced copy
check "then it is" wait_until 30 snapshot_there
put "" "$triggers"
trace_clear
put 1 "$snapshot"
equal "or by hand" 0 "$(grep -c read_zero "$snapshot")"
put 0 "$snapshot"

# --- what can't be set
put 'vfs_write:count' "$triggers"
for bad in vfs_read vfs_read: :count vfs_read:dance vfs_read:count:5 vfs_read:mark:x \
	vfs_read:mark:-1 'vfs_read:stacktrace depth=0' 'vfs_read:stacktrace depth=65' \
	'vfs_read:mark depth=3' 'vfs_read vfs_write:count' '*:stacktrace' '*:mark' \
	'vfs_read:mark:9223372036854775808' 'vfs_read:traceoff after=x'; do
	result=$(set_to "$bad")
	[ "$result" = "write EINVAL" ] || diag "$bad: $result"
	[ "$result" = "write EINVAL" ] || break
done
equal "what can't be read is refused" "write EINVAL" "$result"
equal "a function that is not there" "write ENOENT" "$(set_to nosuch:count)"
check "the log says which" why '"nosuch": no such function'
equal "one that is not traced" "write ENOENT" "$(set_to __fentry__:count)"
equal "one that is not set can't be removed" "write ENOENT" "$(set_to '!vfs_read:count')"
equal "nothing was changed" vfs_write:count "$(lines)"
for good in 0 1 2147483648; do
	put "vfs_read:mark:$good" "$triggers"
	equal "a count of $good" "vfs_read:mark:$good" "$(lines)"
done
check "all functions, with a count" put '*:stacktrace:20' "$triggers"
traced copy
equal "that often" 20 "$(grep -B 1 '^    -- ' "$MCT_TRACE" | grep -c '^CPU')"
put 'vfs_read:count' "$triggers"
add 'vfs_write:mark:3'
add '!vfs_read:count'
equal "each can be removed" "vfs_write:mark:3" "$(lines)"

# --- modules
if reason=$(missing testmod:mct_target); [ -n "$reason" ]; then
	for name in 1 2 3 4; do
		skip "modules $name" "$reason"
	done
else
	check "a module's function may get one before it is loaded" \
		put 'mct_target_leaf:mod:mct_target:count' "$triggers"
	check "the list says so" grep -q 'not loaded' "$triggers"
	mod_load mct_target
	traced mod_set mct_target calls 10
	equal "then it is counted" 10 "$(hits mct_target_leaf)"
	mod_unload mct_target
	mod_load mct_target
	traced mod_set mct_target calls 5
	equal "also when it comes again, and all together" 15 "$(hits mct_target_leaf)"
	mod_unload mct_target
fi
printf '%s\n' 'vfs_read:mark:1' 'vfs_read:mark:2' > "$triggers"
equal "of two equal ones the later stays" "vfs_read:mark:2" "$(lines)"

# --- what triggers call, and while others are in them
printf '%s\n' 'irq_work_queue:count' '*queue_delayed_work*:count' '*unwind*:count' > \
	"$triggers" 2>/dev/null || printf '%s\n' '*queue_delayed_work*:count' > "$triggers"
add 'vfs_read:traceoff after=1'
add 'try_to_wake_up:stacktrace'
traced copy
put 1 "$on"
check "with triggers where triggers go, all is well" counts_add_up
load_start
traced_change()
{
	put 'sock_*:count' "$triggers" && put '' "$triggers" &&
		put 'vfs_*:stacktrace:100' "$triggers" && put '' "$triggers"
}
trace_on
check "they come and go while others are in them" traced_change
check "and again" traced_change
load_stop
trace_off
check "the counts add up after that" counts_add_up
finish
