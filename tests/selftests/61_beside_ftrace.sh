#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: The tracer and ftrace's users each see all calls, in any order of starting
# requires: root tracer hackbench kcore testmod:mct_target helper:fentry helper:perfcalls
# requires: helper:badwrite helper:kerneltext

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

tracing=/sys/kernel/tracing
enabled=$tracing/enabled_functions
[ -e $tracing/trace ] || mount -t tracefs none $tracing 2>/dev/null
grep -qw function $tracing/available_tracers 2>/dev/null ||
	skip_all "this kernel has no other function tracer"

plan 69

filter=$MCT_DIR/filter
triggers=$MCT_DIR/triggers
switch=/proc/sys/kernel/ftrace_enabled
calls=300
others=
ringsize=$(cat "$MCT_DIR/buffer_size_kb")
put 8192 "$MCT_DIR/buffer_size_kb"

at_end()
{
	[ -z "$others" ] || kill "$others"
	others=
	put 1 $switch
	put nop $tracing/current_tracer
	put "" $tracing/set_ftrace_filter
	put 0 $tracing/events/kprobes/enable
	put "" $tracing/kprobe_events
	put "" "$triggers"
	put "" "$filter"
	! mod_loaded livepatch_sample || unpatch
	! mod_loaded mct_target || mod_unload mct_target
	put "$ringsize" "$MCT_DIR/buffer_size_kb"
} 2>/dev/null

# Read $calls bytes, one at a time.
work()
{
	dd if=/dev/zero of=/dev/null bs=1 count=$calls 2>/dev/null
}

# ours FUNCTION TASK: count its calls in the tracer's trace
ours()
{
	grep -c " $2:[0-9]* $1+0x" "$MCT_TRACE"
}

# theirs FUNCTION TASK: count its calls in ftrace's trace
theirs()
{
	grep -c " $2-[0-9].* $1 *\(<-\|()\|{\)" $tracing/trace
}

# same OURS THEIRS: dd may read more often than it copies bytes: its own ELF header, for instance.
same()
{
	echo "$1 and $2 calls, of $calls bytes"
	[ "$1" -ge $calls ] && [ "$1" = "$2" ]
}

# called_for: count the functions that have a hook in ftrace, without the probes of the tracer's
# module
called_for()
{
	echo $(($(wc -l < $enabled) - probes))
}

# Succeed if each function that ftrace knows calls the stub or the pre-handler directly, and no
# other function does. If the tracer is a module, a few functions don't: it has probes and does not
# trace functions that pre-handlers call.
straight()
{
	awk -v few=$few -v file=$tracing/available_filter_functions '
		/\(1\).*tramp: arch_mcount_(stub|gate)\+0x0/ { straight++; next }
		{ print }
		END {
			while ((getline < file) > 0)
				all++
			print straight + 0 " of " all
			exit straight < all - few || straight > all || all < 10000
		}' $enabled
}

# callers FUNCTION: count its users in ftrace
callers()
{
	awk -v name="$1" '$1 == name { gsub(/[()]/, "", $2); n = $2 }
			  END { print n + 0 }' $enabled
}

refused()
{
	printf '%s\n' "$1" | "$MCT_BIN/badwrite" "$2"
}

# begin: clear the tracer's trace and record; end: pause recording, while the hook stays registered
begin()
{
	trace_clear
	put 1 "$MCT_DIR/tracing_on"
}

end()
{
	put 0 "$MCT_DIR/tracing_on"
}

# recorded COMMAND...: record the tracer's trace while the command runs
recorded()
{
	begin
	"$@"
	end
}

# both_recorded COMMAND...: record ftrace's trace, too
both_recorded()
{
	put 1 $tracing/tracing_on
	recorded "$@"
	put 0 $tracing/tracing_on
}

# The first start allocates memory and changes static keys, so the comparison begins after it.
trace_on
trace_off
text_save before

# If the tracer is a module: the number of its probes, and a limit of functions that don't call the
# stub.
probes=0
few=0
if grep -q "^mctracer " /proc/modules; then
	probes=$(wc -l < $enabled)
	few=40
fi

check "the tracer starts" trace_on
check "each of ftrace's functions calls the stub" straight
recorded work
at_least "all calls are recorded" $calls "$(ours vfs_read dd)"

# --- ftrace's own tracers

put vfs_read $tracing/set_ftrace_filter
put 1 $tracing/options/funcgraph-proc
for tracer in function function_graph; do
	grep -qw $tracer $tracing/available_tracers || {
		for name in "starts second" "both" "same calls" "starts first" "same calls then" \
			    "stops"; do
			skip "$tracer: $name" "this kernel does not have it"
		done
		continue
	}
	check "$tracer: it can start after the tracer" put $tracer $tracing/current_tracer
	equal "$tracer: the function has two users" 2 "$(callers vfs_read)"
	both_recorded work
	check "$tracer: both have the same calls if it starts second" \
		same "$(ours vfs_read dd)" "$(theirs vfs_read dd)"
	trace_off
	check "$tracer: the tracer can start second" trace_on
	put "" $tracing/trace
	both_recorded work
	check "$tracer: both have the same calls if it starts first" \
		same "$(ours vfs_read dd)" "$(theirs vfs_read dd)"
	put nop $tracing/current_tracer
	check "$tracer: each function calls the stub after it stops" straight
	put "" $tracing/trace
done
put 1 $tracing/tracing_on
put "" $tracing/set_ftrace_filter

# --- its profiler, and perf

profiled()
{
	cat $tracing/trace_stat/function* | awk '$1 == "vfs_read" { n += $2 } END { print n + 0 }'
}

profile=$tracing/function_profile_enabled
if [ -e $profile ]; then
	put vfs_read $tracing/set_ftrace_filter
	check "the profiler can start after the tracer" put 1 $profile
	recorded work
	put 0 $profile
	at_least "the profiler counts all calls" $calls "$(profiled)"
	at_least "the tracer records all calls with the profiler" $calls "$(ours vfs_read dd)"
	put "" $tracing/set_ftrace_filter
else
	for name in "starts second" "counts" "recorded"; do
		skip "the profiler: $name" "this kernel has none"
	done
fi

# Set $counted to perf's count of the calls while dd reads.
perf_counts()
{
	counted=$("$MCT_BIN/perfcalls" "$(cat $tracing/events/ftrace/function/id)" vfs_read \
		dd if=/dev/zero of=/dev/null bs=1 count=$calls 2>/dev/null)
}

if [ -e $tracing/events/ftrace/function/id ]; then
	recorded perf_counts
	check "perf counts the same calls as the tracer records" \
		same "$(ours vfs_read dd)" "$counted"
	check "each function calls the stub after perf ends" straight
else
	for name in "same calls" "stops"; do
		skip "perf: $name" "this kernel does not have its event"
	done
fi

# --- kprobes at the head, which use ftrace

hits()
{
	awk '$1 == "mct_read" { print $2 + $3 }' $tracing/kprobe_profile
}

# hit_and_recorded WHEN: report whether the probe is hit and the tracer records
hit_and_recorded()
{
	before=$(hits)
	recorded work
	at_least "each call hits the kprobe$1" $calls $(($(hits) - before))
	at_least "the tracer records all calls with a kprobe$1" $calls "$(ours vfs_read dd)"
}

if put 'p:mct_read vfs_read' $tracing/kprobe_events; then
	check "a kprobe can start after the tracer" put 1 $tracing/events/kprobes/mct_read/enable
	equal "the kprobe uses ftrace" 2 "$(callers vfs_read)"
	hit_and_recorded ""
	trace_off
	check "the tracer can start after a kprobe" trace_on
	hit_and_recorded " that starts first"
	put 0 $tracing/events/kprobes/mct_read/enable
	put "" $tracing/kprobe_events
else
	for name in "starts second" "uses ftrace" "is hit" "calls are recorded" \
		    "starts first" "is hit then" "calls are recorded then"; do
		skip "a kprobe: $name" "this kernel has no probe events"
	done
fi

# --- BPF, whose trampoline functions call directly

# Attach a BPF program before the tracer starts, until its input is closed.
bpf_first()
{
	rm -f "$MCT_TMP/bpf" "$MCT_TMP/go"
	mkfifo "$MCT_TMP/go"
	"$MCT_BIN/fentry" "$1" < "$MCT_TMP/go" > "$MCT_TMP/bpf" &
	others=$!
	exec 9> "$MCT_TMP/go"
	wait_until 20 grep -q attached "$MCT_TMP/bpf"
}

# Call bpf_ends in the shell that started the program: a subshell can't wait for it.
bpf_ends()
{
	exec 9>&-
	wait "$others"
	others=
	counted=$(tail -n 1 "$MCT_TMP/bpf")
}

# Set $counted to the BPF program's count of the calls while dd reads.
bpf_counts()
{
	counted=$("$MCT_BIN/fentry" vfs_read \
		dd if=/dev/zero of=/dev/null bs=1 count=$calls 2>/dev/null)
}

if reason=$("$MCT_BIN/fentry" vfs_read true 2>&1); then
	recorded bpf_counts
	at_least "a BPF program that starts after the tracer counts all calls" $calls "$counted"
	at_least "the tracer records all calls with a BPF program" $calls "$(ours vfs_read dd)"
	trace_off
	bpf_first vfs_read
	check "a BPF program can start before the tracer" grep -q attached "$MCT_TMP/bpf"
	equal "the function calls the BPF program directly" 1 "$(callers vfs_read)"
	check "the tracer can start after a BPF program" trace_on
	equal "the function has two users, the tracer and BPF" 2 "$(callers vfs_read)"
	recorded work
	at_least "the tracer records all calls with a BPF program that starts first" \
		$calls "$(ours vfs_read dd)"
	bpf_ends
	at_least "a BPF program that starts before the tracer counts all calls" $calls "$counted"
	check "each function calls the stub after the BPF program ends" straight

	put vfs_read $tracing/set_ftrace_filter
	put function $tracing/current_tracer
	recorded bpf_counts
	put 0 $tracing/tracing_on
	at_least "with ftrace's tracer the BPF program counts all calls" $calls "$counted"
	check "with BPF both tracers have the same calls" \
		same "$(ours vfs_read dd)" "$(theirs vfs_read dd)"
	put nop $tracing/current_tracer
	put "" $tracing/set_ftrace_filter
	put 1 $tracing/tracing_on

	put vfs_read:count "$triggers"
	work
	at_least "a count trigger counts all calls" $calls \
		"$(sed -n 's/^vfs_read:count.*# \([0-9]*\) hits.*/\1/p' "$triggers")"
	bpf_counts
	at_least "BPF counts all calls of a function with a trigger" $calls "$counted"
	check "the log reports that the trigger does not run with BPF" eval \
		'dmesg | grep -q "mcount: the pre-handler of vfs_read.* is not called"'
	put "" "$triggers"
else
	diag "$reason"
	for name in "counts all calls" "all are recorded" "starts first" "direct" "tracer second" \
		    "both" "recorded" "counted" "stops" "with ftrace" "same calls" \
		    "trigger" "and BPF" "the log"; do
		skip "BPF: $name" "this kernel lets no program be attached"
	done
fi

# --- live patches

unpatch()
{
	local patch=/sys/kernel/livepatch/livepatch_sample
	put 0 $patch/enabled
	wait_until 60 test ! -e $patch
	rmmod livepatch_sample
}

patched()
{
	# shellcheck disable=SC2002 # a task that differs from others
	cat /proc/cmdline | grep -q "this has been live patched"
}

in_our_trace()
{
	grep -q " cat:[0-9]* $1+0x" "$MCT_TRACE"
}

settled()
{
	[ "$(cat /sys/kernel/livepatch/livepatch_sample/transition)" = 0 ]
}

if [ -z "$(missing module:livepatch-sample)" ]; then
	check "a live patch can be loaded after the tracer starts" modprobe livepatch-sample
	wait_until 60 settled
	recorded check "the live patch is in effect" patched
	check "the call of the old function is recorded" in_our_trace cmdline_proc_show
	check "the call of the new function is recorded" in_our_trace livepatch_cmdline_proc_show
	trace_off
	check "the tracer can start after a live patch" trace_on
	recorded check "the live patch is in effect if loaded first" patched
	check "both calls are recorded if the live patch is loaded first" eval \
		"in_our_trace cmdline_proc_show && in_our_trace livepatch_cmdline_proc_show"
	unpatch
	check "each function calls the stub after the live patch is unloaded" straight
else
	for name in "loads second" "in effect" "old function" "new function" "loads first" \
		    "in effect then" "both" "unloads"; do
		skip "a live patch: $name" "there is no module livepatch-sample"
	done
fi

# --- with ftrace switched off

# Newer kernels refuse to switch ftrace off.
how=$(refused 0 $switch)
if [ "$how" = "write EOPNOTSUPP" ]; then
	for what in "ftrace can't be switched off while the tracer is on" \
		    "the tracer can't start while ftrace is off" "the log has the reason" \
		    "the failed start leaves the text unchanged" \
		    "the tracer can start when ftrace is on again"; do
		skip "$what" "ftrace can't be switched off"
	done
else
	equal "ftrace can't be switched off while the tracer is on" "write EBUSY" "$how"
	trace_off
	put 0 $switch
	put 1 "$MCT_SYSCTL"
	text_save untried
	equal "the tracer can't start while ftrace is off" "write EBUSY" "$(refused 1 "$MCT_CTRL")"
	check "the log has the reason" eval 'kmsg_since | grep -q "mcount: .*ftrace_enabled is 0"'
	# The comparison includes the static key mctracer_in_use, which fork and exec test: a
	# failed start must restore it.
	text_save tried
	check "the failed start leaves the text unchanged" text_same untried tried
	put 1 $switch
	check "the tracer can start when ftrace is on again" trace_on
fi

# --- returns, by rethook if the kernel has it

if returns_are_caught; then
	equal "the mode graph is accepted" "ok 6" "$(refused graph "$MCT_DIR/mode")"
	equal "a trigger at returns is accepted" "ok 13" "$(refused vfs_read:ret "$triggers")"
	put function "$MCT_DIR/mode"
	put "" "$triggers"
else
	equal "the mode graph is refused" "write EOPNOTSUPP" "$(refused graph "$MCT_DIR/mode")"
	equal "a trigger at returns is refused" \
		"write EOPNOTSUPP" "$(refused vfs_read:ret "$triggers")"
fi

# --- functions of modules

target_calls()
{
	recorded mod_set mct_target calls 50
	grep -c " mct_target_leaf+0x" "$MCT_TRACE"
}

mod_load mct_target
equal "a loading module is recorded" 50 "$(target_calls)"
put mct_target_leaf "$filter"
equal "one selected function of the module is recorded" 50 "$(target_calls)"
equal "only the selected function has a hook" 1 "$(called_for)"
mod_unload mct_target
equal "no function has a hook after the unload" 0 "$(called_for)"
mod_load mct_target
equal "the selected function is recorded after a reload" 50 "$(target_calls)"
put mct_target_leaf:count "$triggers"
target_calls > /dev/null
check "a function with a trigger calls the pre-handler" \
	grep -q "tramp: arch_mcount_pre_handler" $enabled
mod_unload mct_target
equal "no function has a pre-handler after the unload" 0 "$(called_for)"
put "" "$triggers"
put "" "$filter"
check "with empty lists each function calls the stub" straight

# --- all at once

ftrace_toggles()
{
	while :; do
		put 'vfs_*' $tracing/set_ftrace_filter
		put function $tracing/current_tracer
		put '*lock*' $tracing/set_ftrace_filter
		put nop $tracing/current_tracer
	done
}

choices()
{
	while :; do
		put 'vfs_*' "$filter"
		put 'vfs_read:count' "$triggers"
		put '' "$filter"
		put '' "$triggers"
	done
}

put "" $tracing/trace
ftrace_toggles &
others=$!
choices &
others="$others $!"
load_start
toggles_start "$MCT_SYSCTL"
wait_until 300 toggles_reach "${MCT_TOGGLES:-50}"
for _ in 1 2 3; do
	mod_load mct_target
	mod_set mct_target calls 10
	mod_unload mct_target
done
toggles_stop
load_stop
# shellcheck disable=SC2086 # two numbers
kill $others
# shellcheck disable=SC2086
wait $others 2>/dev/null
others=
check "no toggle failed while ftrace and the selection changed" not toggles_failed
put nop $tracing/current_tracer
put "" $tracing/set_ftrace_filter
put "" "$triggers"
put "" "$filter"
check "the tracer starts after that" trace_on
check "each function calls the stub after that" straight
recorded work
at_least "the tracer records all calls at the end" $calls "$(ours vfs_read dd)"
trace_off
text_save after
check "the text is the same as before with all off" text_same before after
finish
