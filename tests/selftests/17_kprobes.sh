#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: A kprobe at a function's head and the call site there work together
# requires: root tracer hackbench kcore testmod:mct_kprobe testmod:mct_target
# requires: helper:kerneltext helper:tracecheck

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

hot=
for name in vfs_read ksys_read do_sys_openat2; do
	if grep -q " [tT] $name\$" /proc/kallsyms; then
		hot=$name
		break
	fi
done
[ -n "$hot" ] || skip_all "no function to probe is known here"

plan 54

trace=$MCT_TMP/trace

# The rings must hold all calls from one work() until the trace is read.
size=$MCT_DIR/buffer_size_kb
old_size=$(cat "$size" 2>/dev/null)
[ -z "$old_size" ] || put 32768 "$size" || put 16384 "$size"

at_end()
{
	[ -z "$old_size" ] || put "$old_size" "$size"
	! mod_loaded mct_kprobe || mod_unload mct_kprobe
	! mod_loaded mct_target || mod_unload mct_target
}

probe()
{
	mod_load mct_kprobe "$@"
}

unprobe()
{
	mod_unload mct_kprobe
}

# Call one function of the kernel, then one of the module.
calls=100
work()
{
	local i=0
	while [ $i -lt $calls ]; do
		read -r _ < /proc/sys/kernel/ostype
		i=$((i + 1))
	done
	mod_set mct_target calls $calls
}

# shown FUNCTION: count its calls in the trace
shown()
{
	awk -v wanted="$1" '!/^#/ {
		for (i = 3; i < NF && $i != "<--"; i++) {
			name = $i
			sub(/\+0x.*/, "", name)
			if (name == wanted) {
				n++
				break
			}
		}
	} END { print n + 0 }' "$trace"
}

# callers: print the names of the callers of the module's function
callers()
{
	sed -n 's/.* mct_target_branch+.* <-- \([A-Za-z0-9_]*\)+.*/\1/p' "$trace" | sort -u
}

# counted WHAT: report whether a probe on mct_target_branch sees each call of work(). The argument
# of call i is i, and the function returns i + 2.
counted()
{
	equal "$1: each call hits the probe" $calls "$(mod_get mct_kprobe hits)"
	equal "$1: the probe sees the function's arguments" \
		$((calls * (calls - 1) / 2)) "$(mod_get mct_kprobe args)"
	equal "$1: the probe misses no call" 0 "$(mod_get mct_kprobe missed)"
}

# recorded WHAT: report whether the tracer, which is on, records each call
recorded()
{
	cat "$MCT_TRACE" > "$trace"
	check "$1: the trace is well-formed" examine "$trace"
	equal "$1: each call is in the trace" $calls \
		"$(shown mct_target_branch)"
	diag "$(sed -n 's/^# \(entries\|overwritten\|lost\)/\1/p' "$trace" | xargs)"
}

# If the kernel counts calls (retbleed=stuff), the first call of a function from a module adds a
# counting instruction to its padding for good. So set and remove a probe before the comparison
# begins.
mod_load mct_target
probe symbol=mct_target_branch
unprobe
trace_on
trace_off
text_save clean

# --- a module's function, with exact numbers
check "a probe can be set before tracing" probe symbol=mct_target_branch
trace_on
trace_clear
work
counted "set before tracing"
recorded "set before tracing"
put 0 "$MCT_CTRL"
work
equal "set before tracing: each call after tracing hits the probe" \
	$((2 * calls)) "$(mod_get mct_kprobe hits)"
put 1 "$MCT_CTRL"
check "a probe can be removed while tracing" unprobe
trace_clear
work
recorded "removed while tracing"
trace_off
check "the text can be read after tracing has stopped" text_save now
check "the text is restored to the byte" text_same clean now

trace_on
check "a probe can be set while tracing" probe symbol=mct_target_branch
trace_clear
work
counted "set while tracing"
recorded "set while tracing"
trace_off
work
equal "each call hits the probe after tracing has stopped" \
	$((2 * calls)) "$(mod_get mct_kprobe hits)"
check "the probe can be removed after tracing has stopped" unprobe
text_save now
check "the text is restored after the removal" text_same clean now

# --- return probes
trace_on
check "a return probe can be set with an entry probe" probe symbol=mct_target_branch ret=1
trace_clear
work
counted "with a return probe"
recorded "with a return probe"
# The probe may have replaced the return address before the call is recorded.
equal "with a return probe: the caller is the function's or the probe's" "" \
	"$(callers | grep -vxE 'calls_set|arch_rethook_trampoline|__kretprobe_trampoline')"
equal "with a return probe: each return hits the probe" $calls "$(mod_get mct_kprobe returns)"
equal "with a return probe: the probe sees the returned values" \
	$((calls * (calls - 1) / 2 + 2 * calls)) \
	"$(mod_get mct_kprobe results)"
trace_off
work
equal "with a return probe: each return after tracing hits the probe" $((2 * calls)) \
	"$(mod_get mct_kprobe returns)"
unprobe
check "a return probe can be set alone" probe symbol=mct_target_branch entry=0 ret=1
trace_on
work
equal "each return hits the return probe alone" $calls "$(mod_get mct_kprobe returns)"
unprobe
trace_off
text_save now
check "the text is restored after the return probe is removed" text_same clean now

# --- functions that run at each call site
hook=$(sed -n 's/.* [tT] \(mctracer_hook[a-z_]*\)$/\1/p' /proc/kallsyms |
	head -n 1)
for name in arch_mcount_stub arch_mcount_call_hook "${hook:-mctracer_hook}"; do
	check "$name can not be probed" not probe symbol="$name"
	mod_unload mct_kprobe 2>/dev/null
done

# --- functions that run later in a hook, by the kernel's list of functions without kprobes
blacklist=/sys/kernel/debug/kprobes/blacklist
for name in emit_words mctracer_unfollow mcount_filter_add; do
	# The compiler may have added a suffix to a static function's name.
	symbol=$(sed -n "s/.* [tT] \\($name\\(\\.[a-z.0-9]*\\)*\\)\\([[:space:]].*\\)*\$/\\1/p" \
		/proc/kallsyms | head -n 1)
	if [ -z "$symbol" ]; then
		skip "$name is in the list of functions without kprobes" "it is not compiled"
		skip "a probe on $name is refused" "it is not compiled"
		continue
	fi
	if [ -e $blacklist ]; then
		check "$name is in the list of functions without kprobes" \
			grep -qE "[[:space:]]$symbol( |\$)" $blacklist
	else
		skip "$name is in the list of functions without kprobes" "this kernel has no list"
	fi
	check "a probe on $name is refused" not probe symbol="$symbol"
	mod_unload mct_kprobe 2>/dev/null
done

# --- a function of the kernel that the tracer calls to convert times
if probe symbol=cyc2ns_read_begin; then
	trace_on
	trace_clear
	work
	recorded "probe in the tracer's clock"
	at_least "probe in the tracer's clock: the tracer hits the probe" 1 \
		"$(mod_get mct_kprobe hits)"
	unprobe
	trace_off
else
	for what in "the trace is well-formed" "each call is in the trace" \
		    "the tracer hits the probe"; do
		skip "probe in the tracer's clock: $what" "the kernel refuses that probe"
	done
fi

# --- a hot kernel function, under load, while the sysctl is toggled
diag "the hot function is $hot"
check "probes can be set on a hot function" probe symbol="$hot" ret=1
load_start
trace_on
toggles_start "$MCT_SYSCTL"
before=$(mod_get mct_kprobe hits)
i=0
while ! toggles_reach 6; do
	work
	i=$((i + 1))
done
after=$(mod_get mct_kprobe hits)
toggles_stop
diag "$((after - before)) hits, $(mod_get mct_kprobe missed) missed"
at_least "each call of the hot function hits the probe" $((i * calls)) $((after - before))
check "no toggle failed" not toggles_failed
put 1 "$MCT_SYSCTL"
load_stop
trace_clear
work
put 0 "$MCT_CTRL"
cat "$MCT_TRACE" > "$trace"
at_least "the hot function is in the trace" $calls "$(shown "$hot")"
put 1 "$MCT_CTRL"

# --- set and remove a probe while the sysctl is toggled
load_start
toggles_start "$MCT_SYSCTL"
unprobe
wrong=
i=0
rounds=$((${MCT_TOGGLES:-40} / 4))
while [ $i -lt $rounds ] || ! toggles_reach 6; do
	probe symbol="$hot" ret=1 || wrong="$wrong set $i;"
	work
	[ "$(mod_get mct_kprobe hits)" -ge $calls ] || wrong="$wrong hits $i;"
	unprobe || wrong="$wrong removed $i;"
	i=$((i + 1))
done
toggles_stop
load_stop
diag "set and removed $i times"
equal "a probe can be set and removed while the sysctl is toggled" "" "$wrong"
check "no toggle failed meanwhile" not toggles_failed
put 1 "$MCT_SYSCTL"
check "the tracer records at the end" wait_until 10 records_flow
trace_off
text_save now
check "the text is restored at the end" text_same clean now
finish
