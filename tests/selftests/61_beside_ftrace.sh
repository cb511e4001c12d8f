#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: Beside ftrace and what is built on it each sees all calls, whoever comes first
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

# Reads one byte, again and again.
work()
{
	dd if=/dev/zero of=/dev/null bs=1 count=$calls 2>/dev/null
}

# ours FUNCTION TASK: how many calls our trace has
ours()
{
	grep -c " $2:[0-9]* $1+0x" "$MCT_TRACE"
}

# theirs FUNCTION TASK: how many ftrace's has
theirs()
{
	grep -c " $2-[0-9].* $1 *\(<-\|()\|{\)" $tracing/trace
}

# Of these more are read than dd's bytes: its own ELF header, for instance.
same()
{
	echo "$1 and $2 calls, of $calls bytes"
	[ "$1" -ge $calls ] && [ "$1" = "$2" ]
}

# called_for: how many functions somebody wants to know of, but for those that the tracer, where it
# is a module, has probes at
called_for()
{
	echo $(($(wc -l < $enabled) - probes))
}

# Does each function that ftrace has, and nothing else, call the stub, or the gate, straight?
# But for a few where the tracer is a module: it has probes, and does not trace what gates call.
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

# callers FUNCTION: how many want to know of its calls
callers()
{
	awk -v name="$1" '$1 == name { gsub(/[()]/, "", $2); n = $2 }
			  END { print n + 0 }' $enabled
}

refused()
{
	printf '%s\n' "$1" | "$MCT_BIN/badwrite" "$2"
}

# begin: our trace begins anew; end: and ends, but goes on being called
begin()
{
	trace_clear
	put 1 "$MCT_DIR/tracing_on"
}

end()
{
	put 0 "$MCT_DIR/tracing_on"
}

# recorded COMMAND...: our trace has the calls of this one, and no later ones
recorded()
{
	begin
	"$@"
	end
}

# The same, and ftrace's trace, too.
both_recorded()
{
	put 1 $tracing/tracing_on
	recorded "$@"
	put 0 $tracing/tracing_on
}

# The first time memory is made, and static keys change.
trace_on
trace_off
text_save before

# Where the tracer is a module: its probes, and at most so many functions that don't call the stub.
probes=0
few=0
if grep -q "^mctracer " /proc/modules; then
	probes=$(wc -l < $enabled)
	few=40
fi

check "the tracer starts" trace_on
check "each function of ftrace's calls the stub" straight
recorded work
at_least "and its calls are recorded" $calls "$(ours vfs_read dd)"

# --- ftrace's own tracers

put vfs_read $tracing/set_ftrace_filter
put 1 $tracing/options/funcgraph-proc
for tracer in function function_graph; do
	grep -qw $tracer $tracing/available_tracers || {
		for name in "comes second" "both" "same calls" "comes first" "same calls then" \
			    "goes"; do
			skip "$tracer: $name" "this kernel does not have it"
		done
		continue
	}
	check "$tracer: it can come second" put $tracer $tracing/current_tracer
	equal "two want to know of the function" 2 "$(callers vfs_read)"
	both_recorded work
	check "both have the same calls" same "$(ours vfs_read dd)" "$(theirs vfs_read dd)"
	trace_off
	check "we can come second" trace_on
	put "" $tracing/trace
	both_recorded work
	check "and both have the same calls" same "$(ours vfs_read dd)" "$(theirs vfs_read dd)"
	put nop $tracing/current_tracer
	check "without it each function calls the stub" straight
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
	check "the profiler can come second" put 1 $profile
	recorded work
	put 0 $profile
	at_least "it counts all calls" $calls "$(profiled)"
	at_least "and all are recorded" $calls "$(ours vfs_read dd)"
	put "" $tracing/set_ftrace_filter
else
	for name in "comes second" "counts" "recorded"; do
		skip "the profiler: $name" "this kernel has none"
	done
fi

# perf's count while dd reads.
perf_counts()
{
	counted=$("$MCT_BIN/perfcalls" "$(cat $tracing/events/ftrace/function/id)" vfs_read \
		dd if=/dev/zero of=/dev/null bs=1 count=$calls 2>/dev/null)
}

if [ -e $tracing/events/ftrace/function/id ]; then
	recorded perf_counts
	check "perf counts the same calls that are recorded" same "$(ours vfs_read dd)" "$counted"
	check "without it each function calls the stub" straight
else
	for name in "same calls" "goes"; do
		skip "perf: $name" "this kernel does not have its event"
	done
fi

# --- kprobes, at the head, which are calls by ftrace

hits()
{
	awk '$1 == "mct_read" { print $2 + $3 }' $tracing/kprobe_profile
}

# hit_and_recorded WHEN: two results, of the probe and of us
hit_and_recorded()
{
	before=$(hits)
	recorded work
	at_least "it is hit$1" $calls $(($(hits) - before))
	at_least "and calls are recorded" $calls "$(ours vfs_read dd)"
}

if put 'p:mct_read vfs_read' $tracing/kprobe_events; then
	check "a kprobe can come second" put 1 $tracing/events/kprobes/mct_read/enable
	equal "by way of ftrace" 2 "$(callers vfs_read)"
	hit_and_recorded ""
	trace_off
	check "we can come second" trace_on
	hit_and_recorded " then"
	put 0 $tracing/events/kprobes/mct_read/enable
	put "" $tracing/kprobe_events
else
	for name in "can come second" "by way of ftrace" "is hit" "calls are recorded" \
		    "we second" "is hit then" "calls are recorded then"; do
		skip "a kprobe: $name" "this kernel has no probe events"
	done
fi

# --- BPF, whose trampoline ftrace has functions call straight, too

# Attaches a program before us, and until put to its input.
bpf_first()
{
	rm -f "$MCT_TMP/bpf" "$MCT_TMP/go"
	mkfifo "$MCT_TMP/go"
	"$MCT_BIN/fentry" "$1" < "$MCT_TMP/go" > "$MCT_TMP/bpf" &
	others=$!
	exec 9> "$MCT_TMP/go"
	wait_until 20 grep -q attached "$MCT_TMP/bpf"
}

# Not in a subshell, whose child it is not.
bpf_ends()
{
	exec 9>&-
	wait "$others"
	others=
	counted=$(tail -n 1 "$MCT_TMP/bpf")
}

# The same while dd reads.
bpf_counts()
{
	counted=$("$MCT_BIN/fentry" vfs_read \
		dd if=/dev/zero of=/dev/null bs=1 count=$calls 2>/dev/null)
}

if reason=$("$MCT_BIN/fentry" vfs_read true 2>&1); then
	recorded bpf_counts
	at_least "a BPF program that comes second counts all calls" $calls "$counted"
	at_least "and all are recorded" $calls "$(ours vfs_read dd)"
	trace_off
	bpf_first vfs_read
	check "one can come first" grep -q attached "$MCT_TMP/bpf"
	equal "and is called straight" 1 "$(callers vfs_read)"
	check "we can come second" trace_on
	equal "both want to know of the function" 2 "$(callers vfs_read)"
	recorded work
	at_least "all are recorded" $calls "$(ours vfs_read dd)"
	bpf_ends
	at_least "and counted by the program" $calls "$counted"
	check "without it each function calls the stub" straight

	put vfs_read $tracing/set_ftrace_filter
	put function $tracing/current_tracer
	recorded bpf_counts
	put 0 $tracing/tracing_on
	at_least "with ftrace's tracer, too, the program counts all" $calls "$counted"
	check "and both others have the same calls" \
		same "$(ours vfs_read dd)" "$(theirs vfs_read dd)"
	put nop $tracing/current_tracer
	put "" $tracing/set_ftrace_filter
	put 1 $tracing/tracing_on

	put vfs_read:count "$triggers"
	work
	at_least "a function with a trigger is counted" $calls \
		"$(sed -n 's/^vfs_read:count.*# \([0-9]*\) hits.*/\1/p' "$triggers")"
	bpf_counts
	at_least "where BPF has it, too, BPF counts it" $calls "$counted"
	check "and the log says who does not" eval \
		'dmesg | grep -q "mcount: the pre-handler of vfs_read.* is not called"'
	put "" "$triggers"
else
	diag "$reason"
	for name in "counts all calls" "all are recorded" "comes first" "straight" "we second" \
		    "both" "recorded" "counted" "gone" "with ftrace" "same calls" \
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
	# shellcheck disable=SC2002 # a task that can be told from others
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
	check "a live patch can come second" modprobe livepatch-sample
	wait_until 60 settled
	recorded check "it is in force" patched
	check "the call of the old function is recorded" in_our_trace cmdline_proc_show
	check "and that of the new one" in_our_trace livepatch_cmdline_proc_show
	trace_off
	check "we can come second" trace_on
	recorded check "the patch is in force then" patched
	check "and both calls are recorded" eval \
		"in_our_trace cmdline_proc_show && in_our_trace livepatch_cmdline_proc_show"
	unpatch
	check "without it each function calls the stub" straight
else
	for name in "comes second" "in force" "old function" "new function" "we second" \
		    "in force then" "both" "gone"; do
		skip "a live patch: $name" "there is no module livepatch-sample"
	done
fi

# --- ftrace switched off

# Of late ftrace never can be.
how=$(refused 0 $switch)
if [ "$how" = "write EOPNOTSUPP" ]; then
	for what in "ftrace can't be switched off under us" \
		    "switched off before, the tracer can't start" "the log says why" \
		    "the text is what it was before the try" "and when it is on it can"; do
		skip "$what" "ftrace can't be switched off"
	done
else
	equal "ftrace can't be switched off under us" "write EBUSY" "$how"
	trace_off
	put 0 $switch
	put 1 "$MCT_SYSCTL"
	text_save untried
	equal "switched off before, the tracer can't start" "write EBUSY" "$(refused 1 "$MCT_CTRL")"
	check "the log says why" eval 'kmsg_since | grep -q "mcount: .*ftrace_enabled is 0"'
	# Static keys that fork and exec look at are text, too.
	text_save tried
	check "the text is what it was before the try" text_same untried tried
	put 1 $switch
	check "and when it is on it can" trace_on
fi

# --- what needs call sites of mcount's own

equal "returns can't be seen" "write EOPNOTSUPP" "$(refused graph "$MCT_DIR/mode")"
equal "nor can a trigger be at one" "write EOPNOTSUPP" "$(refused vfs_read:ret "$triggers")"

# --- modules: their functions come and go with them

target_calls()
{
	recorded mod_set mct_target calls 50
	grep -c " mct_target_leaf+0x" "$MCT_TRACE"
}

mod_load mct_target
equal "a module that comes is recorded" 50 "$(target_calls)"
put mct_target_leaf "$filter"
equal "also if only one of its functions is chosen" 50 "$(target_calls)"
equal "which alone is called for" 1 "$(called_for)"
mod_unload mct_target
equal "when it goes none is" 0 "$(called_for)"
mod_load mct_target
equal "when it comes again the function calls, the filter says so" 50 "$(target_calls)"
put mct_target_leaf:count "$triggers"
target_calls > /dev/null
check "and its gate, if it has one" grep -q "tramp: arch_mcount_gate" $enabled
mod_unload mct_target
equal "of which nothing stays either" 0 "$(called_for)"
put "" "$triggers"
put "" "$filter"
check "with all chosen each function calls the stub" straight

# --- all of that at once

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
check "no toggle failed while ftrace and the choice of functions changed" not toggles_failed
put nop $tracing/current_tracer
put "" $tracing/set_ftrace_filter
put "" "$triggers"
put "" "$filter"
check "then the tracer starts" trace_on
check "each function calls the stub" straight
recorded work
at_least "and calls are recorded" $calls "$(ours vfs_read dd)"
trace_off
text_save after
check "with all off the text is what it was" text_same before after
finish
