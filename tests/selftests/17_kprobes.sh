#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: A probe on a function's head and the function's call site get along
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

plan 44

trace=$MCT_TMP/trace

# Room for all that is called from one work() to the look at the trace.
size=$MCT_DIR/buffer_size_kb
old_size=$(cat "$size" 2>/dev/null)
[ -z "$old_size" ] || put 4096 "$size"

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

# Calls one function of the kernel, then one of the module.
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

# shown FUNCTION: how many calls the trace has
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

# counted WHAT: does a probe on mct_target_branch see what work() does? The
# argument of call i is i, and the function returns i + 2.
counted()
{
	equal "$1: each call hits" $calls "$(mod_get mct_kprobe hits)"
	equal "$1: with the function's arguments" \
		$((calls * (calls - 1) / 2)) "$(mod_get mct_kprobe args)"
	equal "$1: and none is missed" 0 "$(mod_get mct_kprobe missed)"
}

# recorded WHAT: and does the tracer, which is on?
recorded()
{
	cat "$MCT_TRACE" > "$trace"
	check "$1: the trace is well-formed" examine "$trace"
	equal "$1: each call is in the trace" $calls \
		"$(shown mct_target_branch)"
}

# Where calls are counted (retbleed=stuff), what a module calls for the first
# time gets an instruction that counts in its padding, and keeps it.
mod_load mct_target
probe symbol=mct_target_branch
unprobe
trace_on
trace_off
text_save clean

# --- a module's function: the numbers are exact
check "set before enabling" probe symbol=mct_target_branch
trace_on
trace_clear
work
counted "set before enabling"
recorded "set before enabling"
put 0 "$MCT_CTRL"
work
equal "and each after disabling" $((2 * calls)) "$(mod_get mct_kprobe hits)"
put 1 "$MCT_CTRL"
check "removed while enabled" unprobe
trace_clear
work
recorded "removed while enabled"
trace_off
check "then disabled, the text is restored" text_save now
check "to the byte" text_same clean now

trace_on
check "set while enabled" probe symbol=mct_target_branch
trace_clear
work
counted "set while enabled"
recorded "set while enabled"
trace_off
work
equal "it stays when disabled" $((2 * calls)) "$(mod_get mct_kprobe hits)"
check "removed after disabling" unprobe
text_save now
check "then the text is restored" text_same clean now

# --- where functions return
trace_on
check "a return probe is set, too" probe symbol=mct_target_branch ret=1
trace_clear
work
counted "with a return probe"
recorded "with a return probe"
equal "each call returns to it" $calls "$(mod_get mct_kprobe returns)"
equal "with what the function returned" \
	$((calls * (calls - 1) / 2 + 2 * calls)) \
	"$(mod_get mct_kprobe results)"
trace_off
work
equal "and so it does after disabling" $((2 * calls)) \
	"$(mod_get mct_kprobe returns)"
unprobe
check "a return probe alone" probe symbol=mct_target_branch entry=0 ret=1
trace_on
work
equal "has each call return to it" $calls "$(mod_get mct_kprobe returns)"
unprobe
trace_off
text_save now
check "after which the text is restored" text_same clean now

# --- what runs at each call site
hook=$(sed -n 's/.* [tT] \(mctracer_hook[a-z_]*\)$/\1/p' /proc/kallsyms |
	head -n 1)
for name in arch_mcount_stub arch_mcount_call_hook "${hook:-mctracer_hook}"; do
	check "$name can not be probed" not probe symbol="$name"
	mod_unload mct_kprobe 2>/dev/null
done

# --- a hot function of the kernel, under load, while toggled
diag "the hot function is $hot"
check "probes are set on a hot function" probe symbol="$hot" ret=1
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
at_least "it is hit by each call" $((i * calls)) $((after - before))
check "no toggle failed" not toggles_failed
put 1 "$MCT_SYSCTL"
load_stop
trace_clear
work
put 0 "$MCT_CTRL"
cat "$MCT_TRACE" > "$trace"
at_least "it is in the trace" $calls "$(shown "$hot")"
put 1 "$MCT_CTRL"

# --- set and removed while toggled
load_start
toggles_start "$MCT_SYSCTL"
unprobe
wrong=
i=0
while [ $i -lt 10 ] || ! toggles_reach 6; do
	probe symbol="$hot" ret=1 || wrong="$wrong set $i;"
	work
	[ "$(mod_get mct_kprobe hits)" -ge $calls ] || wrong="$wrong hits $i;"
	unprobe || wrong="$wrong removed $i;"
	i=$((i + 1))
done
toggles_stop
load_stop
diag "set and removed $i times"
equal "set and removed while toggled" "" "$wrong"
check "no toggle failed meanwhile" not toggles_failed
put 1 "$MCT_SYSCTL"
check "the tracer records after all" wait_until 10 records_flow
trace_off
text_save now
check "and the text is restored" text_same clean now
finish
