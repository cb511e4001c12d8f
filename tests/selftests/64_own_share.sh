#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: The tracer's own work leaves few calls in the rings
# requires: root tracer smp taskset helper:pipecheck helper:rawreader

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=rings.sh
. "$(dirname "$0")/rings.sh"

# A kernel without preemption calls __cond_resched() in each long loop, and this function is
# traced. So one write to a file of the tracer could fill a ring. This test runs each operation in
# a process on CPU 1, while all functions are traced, and counts the calls of this process in the
# ring of CPU 1. They include start and exit of the process.

case " $(cat /proc/cmdline) " in
*" preempt=voluntary "* | *" preempt=none "*) ;;
*)
	case $(uname -v) in
	*PREEMPT*)	skip_all "this kernel preempts: preempt=voluntary is not set" ;;
	esac ;;
esac

plan 74

ring_kb=65536		# more words than the worst operation makes calls
most_calls=20000
most_asked=1000
most_lines=200000	# lines of one trace that this test examines
filter=$MCT_DIR/filter
never=$MCT_DIR/notrace
triggers=$MCT_DIR/triggers
pid=$MCT_DIR/pid
mode=$MCT_DIR/mode
on=$MCT_DIR/tracing_on
snapshot=$MCT_DIR/snapshot
table=$MCT_TMP/table

at_end()
{
	put "" "$triggers"
	put "" "$filter"
	put "" "$never"
	put "" "$pid"
	put function "$mode"
	put nomax_stack "$MCT_OPTIONS"
	put nocontext "$MCT_OPTIONS"
	put nofreeze_on_warning "$MCT_OPTIONS"
	put 1 "$on"
	put 0 "$snapshot"
	! mod_loaded mct_target || mod_unload mct_target
	rings_restore
}

# count_calls PID: read the trace of CPU 1 and set $calls to the calls of the process, $asked to
# those of __cond_resched() among them, and $deferred to the calls of kworkers; without calls in
# interrupts, which come more often the slower the machine is. Count all calls after the first
# $most_lines lines as calls of the process. Print the functions that the process calls most to a
# file.
count_calls()
{
	head -n $most_lines "$(per_cpu 1 trace)" | awk -v pid=":$1" '
		/^#/ || !/ <-- / { next }
		{ lines++ }
		{
			flags = $1 ~ /^[d.][.npN][.sShHzZ][.1-9a-f]$/ ? $1 : $2
			if (flags ~ /^[d.][.npN][sShHzZ]/)
				next
			at = $1 == "CPU" ? 3 : $2 == "CPU" ? 4 : 5
			task = $at
			deferred += task ~ /^kworker/
		}
		substr(task, length(task) - length(pid) + 1) == pid {
			name = $(at + 1)
			sub(/\+.*/, "", name)
			n[name]++
			calls++
		}
		END {
			print calls + 0, n["__cond_resched"] + 0, deferred + 0, lines + 0
			for (name in n)
				print n[name], name | "sort -rn | head -n 5"
		}' > "$MCT_TMP/counts"
	read -r calls asked deferred lines < "$MCT_TMP/counts"
	sed 1d "$MCT_TMP/counts" > "$MCT_TMP/functions"
	entries=$(stat_cpu 1 "$ENTRIES")
	if [ "$lines" -ge $((most_lines - 10)) ] && [ "$entries" -gt "$lines" ]; then
		calls=$((calls + entries - lines))
	fi
}

# run_on_cpu1 COMMAND: run it in its own process while all functions are traced
run_on_cpu1()
{
	rm -f "$MCT_TMP/go"
	mkfifo "$MCT_TMP/go"
	taskset 2 sh -c "read -r go < '$MCT_TMP/go'; $1" 2> "$MCT_TMP/errors" &
	process=$!
	trace_on
	echo > "$MCT_TMP/go"
	wait $process
	trace_off
}

# measure NAME COMMAND: count the command's calls
measure()
{
	trace_clear
	run_on_cpu1 "$2"
	count_calls $process
	printf '%-25s %7d calls, %6d of __cond_resched, %6d in kworkers\n' "$1:" "$calls" \
		"$asked" "$deferred" >> "$table"
	[ ! -s "$MCT_TMP/errors" ] || diag "$1: $(head -n 1 "$MCT_TMP/errors")"
}

# few NAME COMMAND: report whether the command makes few calls
few()
{
	measure "$@"
	if [ -s "$MCT_TMP/errors" ]; then
		not_ok "$1: the command works"
	elif [ "$calls" -le $most_calls ] && [ "$asked" -le $most_asked ]; then
		ok "$1: makes few calls"
	else
		not_ok "$1: makes few calls" "$calls calls, $asked of __cond_resched; of the first:"
		diag_lines < "$MCT_TMP/functions"
	fi
}

# own: print the number of calls that the tracer did not record because they are its own work
own()
{
	sed -n 's/^# own: *\([0-9][0-9]*\).*/\1/p' "$MCT_STATS" | head -n 1
}

put context "$MCT_OPTIONS"
put $ring_kb "$MCT_SIZE" || bail_out "no memory for rings of $ring_kb KiB"
sed -n 's/^\([a-z0-9_]*\)$/\1/p' "$MCT_DIR/functions" | sort | uniq -u |
	grep -vx __cond_resched | awk 'NR % 7 == 0' | head -n 400 > "$MCT_TMP/names"
sed 's/$/:count/' "$MCT_TMP/names" > "$MCT_TMP/names.triggers"
{ cat "$MCT_TMP/names"; echo '*'; } > "$MCT_TMP/names.filter"

measure "a process that does nothing" :
at_least "the calls of a process are found" 100 "$calls"
few "cat without the tracer" "exec cat /dev/null"
least=$calls

# --- writes. Filters select all functions, because otherwise most calls would not be recorded.
few "triggers, one line" "echo vfs_fsync:count > $triggers"
few "triggers, one line more" "echo schedule:mark:1 >> $triggers"
few "triggers, one line away" "echo '!vfs_fsync:count' >> $triggers"
few "triggers, 400 lines" "exec cat $MCT_TMP/names.triggers > $triggers"
few "triggers, read 400 lines" "exec cat $triggers > /dev/null"
few "triggers, none" "echo > $triggers"
few "filter, all functions" "echo '*' > $filter"
few "filter, one line more" "echo '!vfs_fsync' >> $filter"
few "filter, 400 lines" "exec cat $MCT_TMP/names.filter > $filter"
few "filter, read 400 lines" "exec cat $filter > /dev/null"
few "filter, none" "echo > $filter"
few "notrace, one line" "echo vfs_fsync > $never"
few "notrace, 400 lines" "exec cat $MCT_TMP/names > $never"
few "notrace, read 400 lines" "exec cat $never > /dev/null"
few "notrace, none" "echo > $never"
few "pid, one process" "echo \$\$ > $pid"
few "pid, one and read" "echo \$\$ > $pid; exec cat $pid > /dev/null"
few "pid, none" "echo > $pid"
few "options, max_stack" "echo max_stack > $MCT_OPTIONS"
few "max_stack, read" "exec cat $MCT_DIR/max_stack > /dev/null"
few "options, nomax_stack" "echo nomax_stack > $MCT_OPTIONS"
few "options, time" "echo time > $MCT_OPTIONS"
few "options, notime" "echo notime > $MCT_OPTIONS"
few "options, nocontext" "echo nocontext > $MCT_OPTIONS"
few "options, context" "echo context > $MCT_OPTIONS"
few "options, nooverwrite" "echo nooverwrite > $MCT_OPTIONS"
few "options, overwrite" "echo overwrite > $MCT_OPTIONS"
few "options, freeze_on_warning" "echo freeze_on_warning > $MCT_OPTIONS"
few "options, nofreeze_on_warning" "echo nofreeze_on_warning > $MCT_OPTIONS"
few "max_stack, clear" "echo > $MCT_DIR/max_stack"
few "options, read" "exec cat $MCT_OPTIONS > /dev/null"
if put graph "$mode"; then
	put function "$mode"
	few "mode, graph" "echo graph > $mode"
	few "mode, function" "echo function > $mode"
else
	skip "mode, graph: makes few calls" "this kernel has no mode graph"
	skip "mode, function: makes few calls" "this kernel has no mode graph"
fi
few "mode, read" "exec cat $mode > /dev/null"
few "tracing_on, 0 and 1" "echo 0 > $on; echo 1 > $on"
few "ctrl, 0 and 1" "echo 0 > $MCT_CTRL; echo 1 > $MCT_CTRL"
few "ctrl, read" "exec cat $MCT_CTRL > /dev/null"
few "tracing_on, read" "exec cat $on > /dev/null"
few "kernel.mcount_enabled, 0 and 1" "echo 0 > $MCT_SYSCTL; echo 1 > $MCT_SYSCTL"
few "kernel.mcount_enabled, read" "exec cat $MCT_SYSCTL > /dev/null"
few "trace, seek" "exec dd if=$MCT_TRACE of=/dev/null bs=64k skip=100 count=1 2> /dev/null"
few "trace, clear" "echo > $MCT_TRACE"
few "per_cpu trace, clear" "echo > $(per_cpu 0 trace)"
few "snapshot, 1" "echo 1 > $snapshot"
check "snapshot, 1: kworkers make few calls" test "$deferred" -le $most_calls
few "snapshot, 0" "echo 0 > $snapshot"
few "trace_pipe, poll" "exec $MCT_BIN/pipecheck poll $MCT_PIPE 1 > /dev/null"
few "raw, poll" "exec $MCT_BIN/pipecheck poll $(per_cpu 0 raw) 1 > /dev/null"
few "raw, mapped" "exec $MCT_BIN/rawreader header $(per_cpu 0 raw) > /dev/null"
few "functions, read" "exec cat $MCT_DIR/functions > /dev/null"
few "stats, read" "exec cat $MCT_STATS > /dev/null"
few "buffer_size_kb, smaller" "echo $((ring_kb / 2)) > $MCT_SIZE"
few "buffer_size_kb, larger" "echo $ring_kb > $MCT_SIZE"
few "buffer_size_kb, read" "exec cat $MCT_SIZE > /dev/null"

# --- the tracer's own calls perform no action: else a COUNT would be used up for lines that are not
# written
used_up()
{
	echo | cat > /dev/null		# a pipe's mutex is locked and unlocked
	grep -q '^mutex_unlock:mark:0' "$triggers"
}

put mutex_unlock:mark:1 "$triggers"
trace_clear
trace_on
wait_until 10 used_up
equal "a trigger with a count of 1 writes one line" "0 1" \
	"$(sed -n 's/^mutex_unlock:mark:\([0-9]*\).*/\1/p' "$triggers") $(grep -c \
	'^# mark.*mutex_unlock' "$MCT_TRACE")"
echo mutex_lock:traceoff >> "$triggers"
echo '!mutex_lock:traceoff' >> "$triggers"
on_before=$(cat "$on")
equal "if recording is off, the trace says why" "$((1 - on_before))" \
	"$(grep -c '^# traceoff.*mutex_lock' "$MCT_TRACE")"
trace_off
put 1 "$on"
put "" "$triggers"

# --- a module's load, with functions that lists select: as many calls as without lists
if reason=$(missing testmod:mct_target); [ -n "$reason" ]; then
	for what in 1 2 3 4; do
		skip "modprobe ($what)" "$reason"
	done
else
	load="exec insmod $MCT_BIN/test_modules/mct_target.ko"
	measure "modprobe without lists" "$load"
	plain=$calls
	at_least "modprobe without lists: loads the module" 100 "$plain"
	mod_unload mct_target
	put '*:mod:mct_target:count' "$triggers"
	measure "modprobe with a trigger" "$load"
	check "modprobe with a trigger: makes few more calls" \
		[ "$calls" -le $((plain * 6 / 5 + 500)) ]
	check "modprobe with a trigger: the module is loaded" mod_unload mct_target
	put "" "$triggers"
	put '* mct_target_*:mod:mct_target' "$filter"
	measure "modprobe with a filter" "$load"
	check "modprobe with a filter: makes few more calls" \
		[ "$calls" -le $((plain * 6 / 5 + 500)) ]
	mod_unload mct_target
	put "" "$filter"
fi

# --- reading a trace: calls per line. The guest's cat copies 4 KiB at a time, some 45 lines, by two
# system calls with some 20 calls.
# read_lines FILE: read a trace of at least 20000 lines; set $calls, $asked and $lines
read_lines()
{
	trace_clear
	trace_on
	while [ "$(stat_sum "$ENTRIES")" -lt 20000 ]; do
		sh -c : > /dev/null
	done
	trace_off
	[ "$1" != "$snapshot" ] || put 1 "$1"
	there=$(stat_sum "$ENTRIES")
	run_on_cpu1 "exec cat $1 > /dev/null"
	count_calls $process
	[ "$1" != "$snapshot" ] || put 0 "$1"
	share=$(awk "BEGIN { printf \"%.3f\", ($calls - $least) / $there }")
	printf '%-25s %7d calls, %6d of __cond_resched, %6d lines: %s a line\n' \
		"${1##*/}, read:" "$calls" "$asked" "$there" "$share" >> "$table"
}

# below A B
below()
{
	awk "BEGIN { exit !($1 < $2) }"
}

for file in "$MCT_TRACE" "$(per_cpu 0 trace)" "$snapshot"; do
	read_lines "$file"
	check "${file#"$MCT_DIR/"}, read: makes few calls per line" below "$share" 0.7
	check "${file#"$MCT_DIR/"}, read: makes few calls of __cond_resched" \
		test "$asked" -le $most_asked
	diag_lines < "$MCT_TMP/functions"
done

# read_some NAME COMMAND: run COMMAND, which reads the first 20000 lines or as many bytes, like few
read_some()
{
	trace_clear
	trace_on
	while [ "$(stat_cpu 0 "$ENTRIES")" -lt 20000 ]; do
		taskset 1 sh -c : > /dev/null
	done
	trace_off
	run_on_cpu1 "$2"
	count_calls $process
	printf '%-25s %7d calls, %6d of __cond_resched\n' "$1:" "$calls" "$asked" >> "$table"
	check "$1: makes few calls" [ "$((calls - least))" -le 4000 ]
	check "$1: makes few calls of __cond_resched" [ "$asked" -le $most_asked ]
	diag_lines < "$MCT_TMP/functions"
}

read_some "trace_pipe, read" "exec head -n 20000 $MCT_PIPE > /dev/null"
read_some "raw, read" "exec head -c 160000 $(per_cpu 0 raw) > /dev/null"

# --- the count of calls that are not recorded
before=$(own)
trace_on
put vfs_fsync:count "$triggers"
after=$(own)
trace_off
check "stats has a line \"# own: N\"" test -n "$before"
at_least "the number of own calls grows with a write to triggers" \
	$((${before:-0} + 1)) "${after:-0}"
sed 's/^/# /' "$table"
finish
