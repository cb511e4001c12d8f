#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: Triggers run their actions, as often as set, and only at their functions
# requires: root tracer hackbench kcore helper:badwrite helper:kerneltext helper:pipecheck

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=rings.sh
. "$(dirname "$0")/rings.sh"

plan 129

triggers=$MCT_DIR/triggers
filter=$MCT_DIR/filter
on=$MCT_DIR/tracing_on
snapshot=$MCT_DIR/snapshot
pipecheck=$MCT_BIN/pipecheck
calls=2000
copying=
# Functions that can end a chain: entries of the kernel, and beginnings of tasks and CPUs.
begins='entry_[A-Za-z0-9_]*|asm_[a-z_]*|handle_exception'
begins="$begins|ret_from_fork[a-z_]*|[a-z0-9_]*start[a-z0-9_]*"
nmi_entry='asm_exc_nmi|end_repeat_nmi'

at_end()
{
	put "" "$triggers"
	put "" "$filter"
	put 0 "$snapshot"
	put 1 "$on"
	for mod in mct_target mct_twin mct_context mct_nmi; do
		! mod_loaded $mod || mod_unload $mod
	done
	[ -z "$copying" ] || end_copies
	rings_restore
}

# left LINE: print the remaining count of the trigger that begins with LINE
left()
{
	sed -n "s/^$1:\\([0-9]*\\)[[:space:]].*/\\1/p" "$triggers"
}

none_left()
{
	[ "$(left "$1")" = 0 ]
}

# marks ACTION TASK FUNCTION: count the lines of this action; each argument is a regular expression
marks()
{
	grep -c "^# $1 \\[[0-9]*\\.[0-9]*\\] CPU [0-9]*: $2:[0-9]* $3+" "$MCT_TRACE"
}

# less A B: print A - B, or 0 if that is negative
less()
{
	echo $(($1 > $2 ? $1 - $2 : 0))
}

# skip_these NAME...: skip these results because of $reason
skip_these()
{
	for name; do
		skip "$name" "$reason"
	done
}

# number FUNCTION: count its calls in the trace
number()
{
	grep -c "[0-9] $1+0x[^<]* <-- " "$MCT_TRACE"
}

# chains FUNCTION [FILE]: print the functions of each chain of this function, one chain per line
chains()
{
	awk -v want=" $1[+]" '
		/^    -- / { if (mine) { sub(/[+].*/, "", $2); chain = chain " " $2 } next }
		{ if (chain != "") print chain; chain = ""; mine = $0 ~ want }
		END { if (chain != "") print chain }
	' "${2:-$MCT_TRACE}"
}

# begin_copies: run copy repeatedly until end_copies, which sets $copies to the number of runs
begin_copies()
{
	rm -f "$MCT_TMP/copies.stop"
	(
		n=0
		while [ ! -e "$MCT_TMP/copies.stop" ]; do
			copy
			n=$((n + 1))
		done
		echo $n > "$MCT_TMP/copies"
	) &
	copying=$!
}

end_copies()
{
	: > "$MCT_TMP/copies.stop"
	wait "$copying"
	copying=
	read -r copies < "$MCT_TMP/copies"
}

put 1024 "$MCT_SIZE"
equal "the list is empty at first" "" "$(cat "$triggers")"
equal "recording is not paused at first" 1 "$(cat "$on")"

# --- count
check "a count trigger can be set" put read_zero:count "$triggers"
equal "the count trigger is in the list" read_zero:count "$(lines)"
traced copy
reads=$(number read_zero)
writes=$(number write_null)
equal "each read of dd is recorded" "$calls" "$reads"
equal "the count trigger counts each call" "$reads" "$(hits read_zero:count)"
equal "a count trigger adds no chain" "" "$(chains read_zero)"
put write_null "$filter"
put read_zero:count "$triggers"
traced copy
equal "a new count begins at 0 and counts calls of functions that are not selected" "$reads" \
	"$(hits read_zero:count)"
equal "a counted function that is not selected is not recorded" 0 "$(number read_zero)"
at_least "a selected function is recorded" "$calls" "$(number write_null)"
if [ "$(text_kind)" = dynamic ]; then
	trace_on
	"$MCT_BIN/kerneltext" heads > "$MCT_TMP/heads"
	trace_off
	equal "only the two functions' call sites are calls" "calls 1 gates 1" \
		"$(sed -n '/^calls\|^gates/p' "$MCT_TMP/heads" | xargs)"
	"$MCT_BIN/kerneltext" heads > "$MCT_TMP/heads"
	equal "no call site is a call when tracing is off" "calls 0 gates 0" \
		"$(sed -n '/^calls\|^gates/p' "$MCT_TMP/heads" | xargs)"
else
	skip "only the two functions' call sites are calls" "call sites are static"
	skip "no call site is a call when tracing is off" "call sites are static"
fi
put "" "$filter"
put '[rw][er]*_[zn][eu][rl][ol]:count' "$triggers"
traced copy
equal "each function of a pattern has its own count" "$reads $writes" \
	"$(awk '$1 == "#" && $3 ~ /^(read_zero|write_null)$/ { print $3, $2 }' "$triggers" |
		sort | awk '{ print $2 }' | xargs)"
at_least "the pattern has the sum of these counts" \
	"$((reads + writes))" "$(hits '\[rw\][^:]*:count')"

# --- stacktrace
check "a stacktrace trigger can be set" put read_zero:stacktrace:5 "$triggers"
traced copy
equal "stacktrace:5 records five chains" 5 "$(chains read_zero | wc -l)"
equal "each chain begins with the caller of the call" \
	"$(sed -n 's/.* read_zero+.* <-- \([^+]*\)+.*/\1/p' "$MCT_TRACE" | sort -u)" \
	"$(chains read_zero | awk '{ print $1 }' | sort -u)"
check "each chain ends where the kernel was entered" not grep -qv do_syscall_64 <<-EOF
	$(chains read_zero | sed 's/do_int80_syscall_32\|do_fast_syscall_32/do_syscall_64/')
EOF
equal "with stacktrace each call is recorded once" "$reads" "$(number read_zero)"
check "the counts add up" counts_add_up
equal "the remaining count is 0" read_zero:stacktrace:0 "$(lines)"
equal "hits continue to be counted after that" "$reads" "$(hits read_zero:stacktrace)"
cp "$triggers" "$MCT_TMP/list"
check "the list can be written back" cp "$MCT_TMP/list" "$triggers"
equal "the list is the same after that" read_zero:stacktrace:0 "$(lines)"
traced copy
equal "with a remaining count of 0 no chain is recorded" "" "$(chains read_zero)"
put 'read_zero:stacktrace depth=2:3' "$triggers"
put write_null "$filter"
traced copy
equal "a chain has at most the depth of the trigger" "2 2 2" \
	"$(chains read_zero | awk '{ print NF }' | xargs)"
equal "a function that is not selected is recorded only with its chains" 3 "$(number read_zero)"
# All calls of kernels with built-in checkers would not fit into the rings.
put 'vfs_read read_zero' "$filter"
for option in time context; do
	put "$option" "$MCT_OPTIONS"
	put read_zero:stacktrace:4 "$triggers"
	traced copy
	equal "with $option four chains are recorded" 4 "$(chains read_zero | wc -l)"
done
equal "with time and context each call is recorded once" "$reads" "$(number read_zero)"
put read_zero:stacktrace:5 "$triggers"
traced copy
timeout 30 awk '{ print } /^    -- entry_/ && ++n == 5 { exit }' "$MCT_DIR/trace_pipe" \
	> "$MCT_TMP/pipe" || :
equal "trace_pipe prints each chain after its call" "5 0" \
	"$(chains read_zero "$MCT_TMP/pipe" | wc -l) $(
		grep -B 1 '^    -- ' "$MCT_TMP/pipe" | grep -cv '^\[.*read_zero+\|^    -- \|^--')"
put "" "$filter"
put nooverwrite "$MCT_OPTIONS"
traced hackbench 1 process 50 > /dev/null 2>&1
check "the counts add up with full rings" counts_add_up
put overwrite "$MCT_OPTIONS"
put nocontext "$MCT_OPTIONS"
put notime "$MCT_OPTIONS"
put update_process_times:stacktrace:3 "$triggers"
traced sleep 1
at_least "a chain is recorded in an interrupt" 1 "$(chains update_process_times | wc -l)"
put tick_nohz_idle_enter:stacktrace:3 "$triggers"
traced sleep 1
if [ "$(number tick_nohz_idle_enter)" = 0 ]; then
	skip "a chain is recorded in the idle task" "tick_nohz_idle_enter is not called"
else
	at_least "a chain is recorded in the idle task" \
		1 "$(chains tick_nohz_idle_enter | grep -c do_idle)"
fi

# --- marks alone wake a poll
echo kernel_power_off > "$filter"
put read_zero:mark:3 "$triggers"
trace_clear
"$pipecheck" poll "$MCT_PIPE" 60000 > "$MCT_TMP/poll" &
poller=$!
trace_on
copy
wait "$poller"
trace_off
equal "poll is woken by a mark" in "$(cat "$MCT_TMP/poll")"
put 128 "$MCT_SIZE"
equal "poll finds a mark after a resize" in \
	"$("$pipecheck" poll "$MCT_PIPE" 1)"
put 1024 "$MCT_SIZE"
equal "trace_pipe prints all marks" 3 "$("$pipecheck" drain "$MCT_PIPE" | grep -c '^# mark ')"
equal "poll waits after all marks are read" timeout "$("$pipecheck" poll "$MCT_PIPE" 300)"
put "" "$filter"

# --- mark, traceon, traceoff
put read_zero:mark:7 "$triggers"
traced copy
equal "mark writes one line per call" 7 \
	"$(grep -c '^# mark \[[0-9]*\.[0-9]*\] CPU [0-9]*: .* read_zero+' "$MCT_TRACE")"
equal "with mark each call is recorded" "$reads" "$(number read_zero)"
put read_zero:traceoff "$triggers"
trace_clear
trace_on
copy
equal "traceoff stops recording" 0 "$(cat "$on")"
equal "traceoff leaves ctrl on" 1 "$(cat "$MCT_CTRL")"
equal "the call with traceoff is the last recorded call of its function" 1 "$(number read_zero)"
sed '1,/^# traceoff \[[0-9.]*\] CPU [0-9]*: dd:[0-9]* read_zero+/d' "$MCT_TRACE" > "$MCT_TMP/rest"
equal "traceoff writes a line" 1 "$(marks traceoff dd read_zero)"
equal "no call of dd follows the line of traceoff" 0 \
	"$(grep -c ' dd:[0-9]* \(vfs\|ksys\)_' "$MCT_TMP/rest")"
check "nothing is recorded after traceoff" not records_flow
put "" "$triggers"
put 1 "$on"
check "1 in tracing_on resumes recording" records_flow
put 0 "$on"
check "0 in tracing_on pauses recording" not records_flow
put 1 "$MCT_CTRL"
check "1 in ctrl resumes recording" records_flow
trace_off
printf 'read_zero:traceon\nwrite_null:traceoff\n' > "$triggers"
trace_clear
trace_on
put 0 "$on"
copy
trace_off
put 1 "$on"
equal "traceon starts recording at each read" "$reads" "$(number read_zero)"
equal "traceoff ends recording at each write" "$calls 0" \
	"$(number write_null) $(grep -c ' dd:[0-9]* ksys_read+' "$MCT_TRACE")"
put 'read_*' "$filter"
put 'read_zero:traceoff after=4000:1' "$triggers"
trace_clear
trace_on
copy
equal "traceoff after=4000 does not stop recording at once" 1 "$(cat "$on")"
at_least "calls after the trigger are recorded" "$((calls / 2))" "$(number read_zero)"
wait_for_off()
{
	[ "$(cat "$on")" = 0 ]
}
check "recording stops later" wait_until 60 wait_for_off
equal "both the trigger and the later stop write a line" "1 1" \
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
check "the snapshot trigger takes a snapshot" wait_until 30 snapshot_there
copy
trace_off
equal "the snapshot ends with the function's first call" "1 1" \
	"$(grep -c ' read_zero+.* <-- ' "$MCT_TMP/snapshot") $(
		grep -c '^# snapshot \[[0-9.]*\] CPU [0-9]*: .* read_zero+' "$MCT_TMP/snapshot")"
check "the counts add up after a snapshot" counts_add_up
at_least "later calls are recorded" "$calls" "$(number read_zero)"
traced copy
cat "$snapshot" > "$MCT_TMP/later"
check "a second call does not replace the snapshot" cmp "$MCT_TMP/snapshot" "$MCT_TMP/later"
put 0 "$snapshot"
check "0 in the file snapshot removes the snapshot" not snapshot_there
traced copy
check "the trigger takes a new snapshot after that" wait_until 30 snapshot_there
put "" "$triggers"
trace_clear
put 1 "$snapshot"
equal "1 in the file snapshot takes a snapshot" 0 "$(grep -c read_zero "$snapshot")"
put 0 "$snapshot"

# --- with interrupts off, and in interrupts
rounds=20
if reason=$(missing testmod:mct_context); [ -n "$reason" ]; then
	for context in irqs_off softirq hardirq; do
		skip_these "$context: each call is counted and has a chain" \
			"$context: each chain ends where a kernel stack begins"
	done
	skip_these "a mark" "traceoff"
else
	mod_load mct_context
	put mod:mct_context "$filter"
	printf 'mct_context_%s\n' 'irqs_off:stacktrace depth=64' 'softirq:stacktrace depth=64' \
		'hardirq:stacktrace depth=64' "hardirq:mark:$((rounds - 3))" > "$triggers"
	traced mod_set mct_context rounds $rounds
	for name in irqs_off softirq hardirq; do
		chains mct_context_$name > "$MCT_TMP/chains"
		sort "$MCT_TMP/chains" | uniq -c | diag_lines
		equal "$name: each call is counted and has a chain" "$rounds $rounds" \
			"$(hits "mct_context_$name:stacktrace") $(wc -l < "$MCT_TMP/chains")"
		check "$name: each chain ends where a kernel stack begins" \
			not grep -qvE " ($begins)\$" "$MCT_TMP/chains"
	done
	equal "in interrupts mark writes the set number of lines" "$((rounds - 3)) 0" \
		"$(marks mark '.*' mct_context_hardirq) $(left mct_context_hardirq:mark)"
	put mct_context_irqs_off:traceoff "$triggers"
	traced mod_set mct_context rounds $rounds
	equal "with interrupts off traceoff stops the calls that follow" "1 1 0" \
		"$(number mct_context_plain) $(number mct_context_irqs_off) $(
			number mct_context_preempt_off)"
	put "" "$triggers"
	put "" "$filter"
	put 1 "$on"
	mod_unload mct_context
fi

# --- in the idle task
if ! put tick_nohz_idle_enter "$filter"; then
	reason="there is no tick_nohz_idle_enter"
	skip_these "marks in idle" "traceoff in idle" "nothing more is recorded"
else
	put tick_nohz_idle_enter:mark:50 "$triggers"
	trace_clear
	trace_on
	wait_until 60 none_left tick_nohz_idle_enter:mark
	trace_off
	equal "in the idle tasks of all CPUs mark writes the set number of lines" "50 0" \
		"$(marks mark 'swapper/[0-9]*' tick_nohz_idle_enter) $(
			left tick_nohz_idle_enter:mark)"
	put "" "$filter"
	put tick_nohz_idle_enter:traceoff "$triggers"
	trace_clear
	trace_on
	wait_until 60 wait_for_off
	equal "traceoff in the idle task stops recording" 1 \
		"$(marks traceoff 'swapper/[0-9]*' tick_nohz_idle_enter)"
	check "traceoff in the idle task stops recording on all CPUs" records_stand
	trace_off
	put 1 "$on"
fi

# --- in NMIs
nmis=30
if reason=$(missing testmod:mct_nmi); [ -n "$reason" ]; then
	skip_these "calls" "chains" "marks" "traceoff" "all CPUs" "the last line"
else
	mod_load mct_nmi
	put mod:mct_nmi "$filter"
	printf 'mct_nmi_in_task:%s\n' count 'stacktrace depth=64' mark:7 > "$triggers"
	traced mod_set mct_nmi self $nmis
	equal "in NMIs each call is counted, and recorded once" \
		"$(mod_get mct_nmi in_task) $nmis $nmis" \
		"$nmis $(hits mct_nmi_in_task:count) $(number mct_nmi_in_task)"
	chains mct_nmi_in_task > "$MCT_TMP/chains"
	sort "$MCT_TMP/chains" | uniq -c | diag_lines
	equal "in NMIs each call has a chain through the interrupted code" "$nmis" \
		"$(grep -cE "$nmi_entry.* mct_nmi_send .* ($begins)\$" "$MCT_TMP/chains")"
	equal "in NMIs mark writes the set number of lines" 7 "$(marks mark '.*' mct_nmi_in_task)"
	put mct_nmi_in_task:traceoff "$triggers"
	put "" "$filter"
	traced mod_set mct_nmi self $nmis
	equal "traceoff in an NMI stops recording" "0 1" "$(cat "$on") $(number mct_nmi_in_task)"
	equal "traceoff in an NMI stops recording on all CPUs after the NMI" \
		0 "$(number mct_nmi_after)"
	cpu=$(sed -n 's/^# traceoff \[.*\] CPU \([0-9]*\): .*/\1/p' "$MCT_TRACE")
	equal "the line of traceoff is the last of its CPU" 1 \
		"$(tail -n 1 "$(per_cpu "$cpu" trace)" | grep -c '^# traceoff .* mct_nmi_in_task+')"
	put 1 "$on"
fi
reason=${reason:-$(missing smp)}
if [ -n "$reason" ]; then
	skip_these "idle calls" "idle chains" "idle traceoff" "idle all CPUs" \
		"NMIs everywhere" "each of them" "counts"
else
	put mod:mct_nmi "$filter"
	printf 'mct_nmi_in_idle:%s\n' count 'stacktrace depth=64' > "$triggers"
	before=$(mod_get mct_nmi in_idle)
	traced mod_set mct_nmi idle $nmis
	idle=$(($(mod_get mct_nmi in_idle) - before))
	equal "in NMIs in the idle task each call is counted, and recorded once" "$idle $idle" \
		"$(hits mct_nmi_in_idle:count) $(number mct_nmi_in_idle)"
	chains mct_nmi_in_idle > "$MCT_TMP/chains"
	sort "$MCT_TMP/chains" | uniq -c | diag_lines
	equal "in NMIs in the idle task each call has a chain through the idle loop" "$idle" \
		"$(grep -cE "$nmi_entry.* do_idle .*($begins)\$" "$MCT_TMP/chains")"
	put mct_nmi_in_idle:traceoff "$triggers"
	traced mod_set mct_nmi idle 1
	equal "traceoff in an NMI in the idle task stops recording" \
		"0 1" "$(cat "$on") $(number mct_nmi_in_idle)"
	equal "traceoff in an NMI in the idle task stops recording on all CPUs after the NMIs" \
		$(($(number mct_nmi_in_task) * $(nproc))) "$(number mct_nmi_after)"
	put 1 "$on"
	# NMIs can interrupt an action of a trigger, a hook, or a CPU that changes its call sites.
	put "" "$filter"
	printf '%s\n' mct_nmi_in_idle:stacktrace mct_nmi_in_task:stacktrace mct_nmi_in_task:mark \
		read_zero:stacktrace 'vfs_*:count' write_null:mark > "$triggers"
	before=$(($(mod_get mct_nmi in_idle) + $(mod_get mct_nmi in_task)))
	trace_clear
	trace_on
	begin_copies
	mod_set mct_nmi others 200
	end_copies
	trace_off
	equal "with NMIs at any place each call and each interrupted call is counted" \
		"200 $((copies * reads)) $((copies * writes))" \
		"$(($(mod_get mct_nmi in_idle) + $(mod_get mct_nmi in_task) - before)) $(
		hits read_zero:stacktrace) $(hits write_null:mark)"
	equal "with NMIs at any place the triggers at the NMIs' own functions are counted" \
		200 $(($(hits mct_nmi_in_idle:stacktrace) + $(
		hits mct_nmi_in_task:stacktrace)))
	check "with NMIs at any place the counts add up" counts_add_up
fi
! mod_loaded mct_nmi || mod_unload mct_nmi
put "" "$triggers"
put "" "$filter"

# --- invalid triggers
put 'vfs_write:count' "$triggers"
for bad in vfs_read vfs_read: :count vfs_read:dance vfs_read:count:5 vfs_read:mark:x \
	vfs_read:mark:-1 'vfs_read:stacktrace depth=0' 'vfs_read:stacktrace depth=65' \
	'vfs_read:mark depth=3' 'vfs_read vfs_write:count' '*:stacktrace' '*:mark' \
	'vfs_read:mark:9223372036854775808' 'vfs_read:traceoff after=x'; do
	result=$(set_to "$bad")
	[ "$result" = "write EINVAL" ] || diag "$bad: $result"
	[ "$result" = "write EINVAL" ] || break
done
equal "an invalid line is EINVAL" "write EINVAL" "$result"
equal "an unknown function is ENOENT" "write ENOENT" "$(set_to nosuch:count)"
check "the log names the unknown function" why '"nosuch": no such function'
equal "an untraced function is ENOENT" "write ENOENT" "$(set_to __fentry__:count)"
equal "removing a trigger that is not set is ENOENT" "write ENOENT" "$(set_to '!vfs_read:count')"
equal "these errors change nothing" vfs_write:count "$(lines)"
for good in 0 1 2147483648; do
	put "vfs_read:mark:$good" "$triggers"
	equal "a count of $good is in the list" "vfs_read:mark:$good" "$(lines)"
done
# The remaining count is exact, also when two CPUs decrement it.
put write_null "$filter"
for good in 0 1 2147483648 9223372036854775807; do
	printf '%s\n' "read_zero:mark:$good" read_zero:count > "$triggers"
	trace_clear
	trace_on
	copy &
	copy
	wait $!
	trace_off
	equal "of $good marks the remaining count is exact" \
		"$(less "$good" $((2 * reads))) $((2 * reads))" \
		"$(left read_zero:mark) $(hits read_zero:mark)"
done
put "" "$filter"
check "a trigger with a count can be set at all functions" put '*:stacktrace:20' "$triggers"
traced copy
equal "the trigger at all functions runs as often as its count" \
	20 "$(grep -B 1 '^    -- ' "$MCT_TRACE" | grep -c '^CPU')"
put 'vfs_read:count' "$triggers"
add 'vfs_write:mark:3'
add '!vfs_read:count'
equal "a trigger can be removed" "vfs_write:mark:3" "$(lines)"

# --- modules
if reason=$(missing testmod:mct_target); [ -n "$reason" ]; then
	for name in 1 2 3 4 5 6; do
		skip "modules $name" "$reason"
	done
else
	check "a module's function can have a trigger before the load" \
		put 'mct_target_leaf:mod:mct_target:count' "$triggers"
	check "the list shows that the module is not loaded" grep -q 'not loaded' "$triggers"
	mod_load mct_target
	traced mod_set mct_target calls 10
	equal "the module's calls are counted after its load" 10 "$(hits mct_target_leaf)"
	mod_unload mct_target
	mod_load mct_target
	traced mod_set mct_target calls 5
	equal "the count continues when the module loads again" 15 "$(hits mct_target_leaf)"
	put 'mct_target_leaf:mark' "$triggers"
	mod_unload mct_target
	add "$(lines)"
	equal "a trigger that waits is the same as the line that is shown" \
		"mct_target_leaf:mod:mct_target:mark" "$(lines)"
	put "" "$triggers"
	mod_load mct_target
	put 'mct_target_leaf:mark' "$triggers"
	mod_unload mct_target
	add "!$(lines)"
	equal "a trigger that waits can be removed by the line that is shown" "" "$(lines)"
fi
if reason=$(missing testmod:mct_target; missing testmod:mct_twin); [ -n "$reason" ]; then
	for name in 1 2 3 4 5; do
		skip "two modules $name" "$reason"
	done
else
	mod_load mct_target
	put 'mct_t*_leaf:count' "$triggers"
	mod_load mct_twin
	traced mod_set mct_target calls 10
	traced mod_set mct_twin calls 7
	equal "a pattern's trigger counts the calls of two modules" 17 \
		"$(hits 'mct_t\*_leaf:count')"
	mod_unload mct_twin
	before=$(hits 'mct_t\*_leaf:count')
	equal "the list shows the trigger as it was written after one module unloads" \
		'mct_t*_leaf:count' "$(lines)"
	traced mod_set mct_target calls 10
	equal "the trigger stays at the function of the other module" \
		$((before + 10)) "$(hits 'mct_t\*_leaf:count')"
	lines > "$MCT_TMP/list"
	put "" "$triggers"
	check "the list can be written back after one module unloads" cp "$MCT_TMP/list" "$triggers"
	traced mod_set mct_target calls 5
	equal "what was written back has its trigger at the function of the other module" \
		5 "$(hits 'mct_t\*_leaf:count')"
	mod_unload mct_target
	put "" "$triggers"
fi
printf '%s\n' 'vfs_read:mark:1' 'vfs_read:mark:2' > "$triggers"
equal "of two equal triggers the later stays" "vfs_read:mark:2" "$(lines)"

# --- triggers at functions that triggers call; the chains must fit into the rings
put 4096 "$MCT_SIZE"
put 'read_*' "$filter"
sed 's/[. ].*//' "$MCT_DIR/functions" | sort -u | grep -E \
	-e '^(__)?(irq_work_(queue|run|raise)|arch_irq_work_raise)' -e unwind -e '^(__)?orc_' \
	-e 'kernel_text_address$|^stack_(type|access)|get_stack_info|^in_.*stack$' \
	-e 'sched_clock' -e '^(__)?queue_(delayed_)?work|^mod_delayed_work' > "$MCT_TMP/called"
diag "$(xargs < "$MCT_TMP/called")"
at_least "some functions that triggers call are traced" 1 "$(wc -l < "$MCT_TMP/called")"
# with_called ACTION...: set these at read_zero, and three triggers at each function of the list
with_called()
{
	sed 's/.*/&:count\n&:stacktrace depth=64:100\n&:mark:100/' "$MCT_TMP/called" \
		> "$MCT_TMP/list"
	printf 'read_zero:%s\n' "$@" >> "$MCT_TMP/list"
	cat "$MCT_TMP/list" > "$triggers"
}
check "functions that triggers call can have triggers" with_called stacktrace
traced copy
equal "each call of another function still has its chain and is counted" "$reads $reads" \
	"$(chains read_zero | wc -l) $(hits read_zero:stacktrace)"
check "the counts add up with these triggers" counts_add_up
with_called snapshot:1 'traceoff after=1:1'
trace_clear
trace_on
copy
check "traceoff after=1 stops recording later" wait_until 60 wait_for_off
check "the snapshot is taken" wait_until 60 snapshot_there
trace_off
put 1 "$on"
put 0 "$snapshot"
printf '%s\n' try_to_wake_up:stacktrace ttwu_do_activate:mark '*sched_clock*:count' \
	'*queue_delayed_work*:stacktrace' > "$triggers"
put "" "$filter"
traced hackbench 1 process 20 > /dev/null
check "the counts add up with triggers at functions that they interrupt" counts_add_up
put 1024 "$MCT_SIZE"

# --- change triggers while other tasks run them
put write_null:count "$triggers"
put 'read_*' "$filter"
trace_on
begin_copies
changed=0
for trigger in stacktrace count mark 'stacktrace depth=64' snapshot traceon; do
	add "read_zero:$trigger" && add "!read_zero:$trigger" && changed=$((changed + 1))
done
end_copies
trace_off
equal "triggers can be set and removed while a CPU runs them" 6 "$changed"
equal "a trigger that stays counts each call meanwhile" "$((copies * writes)) write_null:count" \
	"$(hits write_null:count) $(lines)"
check "the counts add up after these changes" counts_add_up
put "" "$filter"
put 0 "$snapshot"
put "" "$triggers"
load_start
traced_change()
{
	put 'sock_*:count' "$triggers" && put '' "$triggers" &&
		put 'vfs_*:stacktrace:100' "$triggers" && put '' "$triggers"
}
trace_on
check "triggers can be set and removed while other tasks run them" traced_change
check "triggers can be set and removed once more" traced_change
load_stop
trace_off
check "the counts add up at the end" counts_add_up
finish
