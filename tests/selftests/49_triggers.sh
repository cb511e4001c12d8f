#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: Triggers do what they say, that often, at their functions only
# requires: root tracer hackbench kcore helper:badwrite helper:kerneltext helper:pipecheck

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=rings.sh
. "$(dirname "$0")/rings.sh"

plan 122

triggers=$MCT_DIR/triggers
filter=$MCT_DIR/filter
on=$MCT_DIR/tracing_on
snapshot=$MCT_DIR/snapshot
pipecheck=$MCT_BIN/pipecheck
calls=2000
copying=
# Where a chain may end: where the kernel was entered, or a task or a CPU began.
begins='entry_[A-Za-z0-9_]*|asm_[a-z_]*|handle_exception'
begins="$begins|ret_from_fork[a-z_]*|[a-z0-9_]*start[a-z0-9_]*"
nmi_entry='asm_exc_nmi|end_repeat_nmi'

at_end()
{
	put "" "$triggers"
	put "" "$filter"
	put 0 "$snapshot"
	put 1 "$on"
	for mod in mct_target mct_context mct_nmi; do
		! mod_loaded $mod || mod_unload $mod
	done
	[ -z "$copying" ] || end_copies
	rings_restore
}

# left LINE: how often the one that begins so is still done
left()
{
	sed -n "s/^$1:\\([0-9]*\\)[[:space:]].*/\\1/p" "$triggers"
}

none_left()
{
	[ "$(left "$1")" = 0 ]
}

# marks ACTION TASK FUNCTION: lines of this action, each a regular expression
marks()
{
	grep -c "^# $1 \\[[0-9]*\\.[0-9]*\\] CPU [0-9]*: $2:[0-9]* $3+" "$MCT_TRACE"
}

# less A B: A - B, or 0
less()
{
	echo $(($1 > $2 ? $1 - $2 : 0))
}

# skip_these NAME...: for $reason
skip_these()
{
	for name; do
		skip "$name" "$reason"
	done
}

# number FUNCTION: how many calls of it are in the trace
number()
{
	grep -c "[0-9] $1+0x[^<]* <-- " "$MCT_TRACE"
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

# Copies until end_copies, which says how many there were in $copies.
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
# All that such kernels call that check themselves does not fit into the rings.
put 'vfs_read read_zero' "$filter"
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
put "" "$filter"
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

# --- marks alone wake who waits
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
equal "also when the rings get other memory it knows of one" in \
	"$("$pipecheck" poll "$MCT_PIPE" 1)"
put 1024 "$MCT_SIZE"
equal "all are read" 3 "$("$pipecheck" drain "$MCT_PIPE" | grep -c '^# mark ')"
equal "then there is nothing" timeout "$("$pipecheck" poll "$MCT_PIPE" 300)"
put "" "$filter"

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
sed '1,/^# traceoff \[[0-9.]*\] CPU [0-9]*: dd:[0-9]* read_zero+/d' "$MCT_TRACE" > "$MCT_TMP/rest"
equal "the stop is a line" 1 "$(marks traceoff dd read_zero)"
equal "and of dd there are no others behind it" 0 \
	"$(grep -c ' dd:[0-9]* \(vfs\|ksys\)_' "$MCT_TMP/rest")"
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

# --- with interrupts off, and in interrupts
rounds=20
if reason=$(missing testmod:mct_context); [ -n "$reason" ]; then
	for context in irqs_off softirq hardirq; do
		skip_these "$context: each call is counted and has a chain" \
			"$context: which goes to where a kernel's stack begins"
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
		check "$name: which goes to where a kernel's stack begins" \
			not grep -qvE " ($begins)\$" "$MCT_TMP/chains"
	done
	equal "in interrupts marks are as many as they are to be" "$((rounds - 3)) 0" \
		"$(marks mark '.*' mct_context_hardirq) $(left mct_context_hardirq:mark)"
	put mct_context_irqs_off:traceoff "$triggers"
	traced mod_set mct_context rounds $rounds
	equal "with interrupts off traceoff stops what comes next" "1 1 0" \
		"$(number mct_context_plain) $(number mct_context_irqs_off) $(
			number mct_context_preempt_off)"
	put "" "$triggers"
	put "" "$filter"
	put 1 "$on"
	mod_unload mct_context
fi

# --- in idle
if ! put tick_nohz_idle_enter "$filter"; then
	reason="there is no tick_nohz_idle_enter"
	skip_these "marks in idle" "traceoff in idle" "nothing more comes"
else
	put tick_nohz_idle_enter:mark:50 "$triggers"
	trace_clear
	trace_on
	wait_until 60 none_left tick_nohz_idle_enter:mark
	trace_off
	equal "in idle, on all CPUs, marks are as many as they are to be" "50 0" \
		"$(marks mark 'swapper/[0-9]*' tick_nohz_idle_enter) $(
			left tick_nohz_idle_enter:mark)"
	put "" "$filter"
	put tick_nohz_idle_enter:traceoff "$triggers"
	trace_clear
	trace_on
	wait_until 60 wait_for_off
	equal "traceoff in idle stops recording" 1 \
		"$(marks traceoff 'swapper/[0-9]*' tick_nohz_idle_enter)"
	check "on all CPUs" records_stand
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
	equal "each has a chain, through what was interrupted" "$nmis" \
		"$(grep -cE "$nmi_entry.* mct_nmi_send .* ($begins)\$" "$MCT_TMP/chains")"
	equal "marks are as many as they are to be" 7 "$(marks mark '.*' mct_nmi_in_task)"
	put mct_nmi_in_task:traceoff "$triggers"
	put "" "$filter"
	traced mod_set mct_nmi self $nmis
	equal "traceoff in an NMI stops recording" "0 1" "$(cat "$on") $(number mct_nmi_in_task)"
	equal "on all CPUs, when the NMI has ended" 0 "$(number mct_nmi_after)"
	cpu=$(sed -n 's/^# traceoff \[.*\] CPU \([0-9]*\): .*/\1/p' "$MCT_TRACE")
	equal "its line is the last of its CPU" 1 \
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
	equal "in NMIs in idle each call is counted, and recorded once" "$idle $idle" \
		"$(hits mct_nmi_in_idle:count) $(number mct_nmi_in_idle)"
	chains mct_nmi_in_idle > "$MCT_TMP/chains"
	sort "$MCT_TMP/chains" | uniq -c | diag_lines
	equal "each has a chain, through the idle loop" "$idle" \
		"$(grep -cE "$nmi_entry.* do_idle .*($begins)\$" "$MCT_TMP/chains")"
	put mct_nmi_in_idle:traceoff "$triggers"
	traced mod_set mct_nmi idle 1
	equal "traceoff there stops recording" "0 1" "$(cat "$on") $(number mct_nmi_in_idle)"
	equal "on all CPUs: before that each made a call when an NMI had ended, and then none" \
		$(($(number mct_nmi_in_task) * $(nproc))) "$(number mct_nmi_after)"
	put 1 "$on"
	# Interrupted may be a trigger that acts, a hook, or a CPU that changes its call sites.
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
	equal "NMIs wherever a CPU is: each call is counted, and each of what they interrupt" \
		"200 $((copies * reads)) $((copies * writes))" \
		"$(($(mod_get mct_nmi in_idle) + $(mod_get mct_nmi in_task) - before)) $(
		hits read_zero:stacktrace) $(hits write_null:mark)"
	equal "these, too" 200 $(($(hits mct_nmi_in_idle:stacktrace) + $(
		hits mct_nmi_in_task:stacktrace)))
	check "and the counts add up" counts_add_up
fi
! mod_loaded mct_nmi || mod_unload mct_nmi
put "" "$triggers"
put "" "$filter"

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
# What is left is exact, also where two CPUs take from it.
put write_null "$filter"
for good in 0 1 2147483648 9223372036854775807; do
	printf '%s\n' "read_zero:mark:$good" read_zero:count > "$triggers"
	trace_clear
	trace_on
	copy &
	copy
	wait $!
	trace_off
	equal "of $good marks those are left that were not made" \
		"$(less "$good" $((2 * reads))) $((2 * reads))" \
		"$(left read_zero:mark) $(hits read_zero:mark)"
done
put "" "$filter"
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

# --- what triggers call: with all of their chains, which must fit into the rings
put 4096 "$MCT_SIZE"
put 'read_*' "$filter"
sed 's/[. ].*//' "$MCT_DIR/functions" | sort -u | grep -E \
	-e '^(__)?(irq_work_(queue|run|raise)|arch_irq_work_raise)' -e unwind -e '^(__)?orc_' \
	-e 'kernel_text_address$|^stack_(type|access)|get_stack_info|^in_.*stack$' \
	-e 'sched_clock' -e '^(__)?queue_(delayed_)?work|^mod_delayed_work' > "$MCT_TMP/called"
diag "$(xargs < "$MCT_TMP/called")"
at_least "some of what triggers call is traced" 1 "$(wc -l < "$MCT_TMP/called")"
# with_called ACTION...: for read_zero, and more for all of these
with_called()
{
	sed 's/.*/&:count\n&:stacktrace depth=64:100\n&:mark:100/' "$MCT_TMP/called" \
		> "$MCT_TMP/list"
	printf 'read_zero:%s\n' "$@" >> "$MCT_TMP/list"
	cat "$MCT_TMP/list" > "$triggers"
}
check "it may have triggers" with_called stacktrace
traced copy
equal "each call of others still has its chain, and is counted" "$reads $reads" \
	"$(chains read_zero | wc -l) $(hits read_zero:stacktrace)"
check "with the counts adding up" counts_add_up
with_called snapshot:1 'traceoff after=1:1'
trace_clear
trace_on
copy
check "what is to happen later happens: it goes off" wait_until 60 wait_for_off
check "and there is a snapshot" wait_until 60 snapshot_there
trace_off
put 1 "$on"
put 0 "$snapshot"
printf '%s\n' try_to_wake_up:stacktrace ttwu_do_activate:mark '*sched_clock*:count' \
	'*queue_delayed_work*:stacktrace' > "$triggers"
put "" "$filter"
traced hackbench 1 process 20 > /dev/null
check "nor do they call what they interrupt: the counts add up" counts_add_up
put 1024 "$MCT_SIZE"

# --- and while others are in them
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
equal "triggers of a function come and go while a CPU is in them" 6 "$changed"
equal "of what stays each call is counted meanwhile" "$((copies * writes)) write_null:count" \
	"$(hits write_null:count) $(lines)"
check "the counts add up then" counts_add_up
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
check "they come and go while others are in them" traced_change
check "and again" traced_change
load_stop
trace_off
check "the counts add up after that" counts_add_up
finish
