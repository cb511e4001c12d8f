#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: A module's hook replaces the tracer's, and leaves nothing when it unloads
# requires: root tracer hackbench module:mcount-sample helper:tracecheck

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

plan 20

sample=mcount-sample
calls=/sys/kernel/debug/mcount_sample/calls
hook=/proc/sys/kernel/mcount_hook
trace=$MCT_TMP/trace
loads=${MCT_MODULE_LOADS:-100}

sample_load()
{
	modprobe "$sample"
}

sample_unload()
{
	rmmod mcount_sample
}

sample_calls()
{
	tr -dc '0-9' < "$calls"
}

sample_counts()
{
	local before
	before=$(sample_calls)
	cat /proc/self/stat >/dev/null
	[ "$(sample_calls)" -gt "$before" ]
}

# --- replace the tracer's hook, and unload while the module's hook is registered
trace_on
check "the tracer's hook is registered" grep -q '^mctracer_hook' "$hook"
check "the module loads while the tracer is on" sample_load
equal "the module's hook replaces the tracer's" 0 "$(cat "$MCT_CTRL")"
equal "mcount_hook names the module's hook" "count_call [mcount_sample]" "$(cat "$hook")"
check "the tracer records nothing" records_stand
check "the module counts calls" wait_until 10 sample_counts
check "the module unloads" sample_unload
equal "no hook is registered after the unload" "0 none" "$(cat "$MCT_CTRL" "$hook" | xargs)"
check "mcount_hook can't be written" not sh -c "echo none > '$hook'" 2> /dev/null
check "nothing is recorded after the unload" records_stand

# --- replace the tracer's hook, and unload after the tracer has replaced the module's
check "the module loads again" sample_load
put 1 "$MCT_CTRL"
equal "the tracer's hook replaces the module's" 1 "$(cat "$MCT_CTRL")"
trace_clear
sample_calls >/dev/null
put 0 "$MCT_SYSCTL"
cat "$MCT_TRACE" > "$trace"
examine "$trace" 2>/dev/null
with_module=$(found module)
at_least "the module's functions are shown with its name" 1 \
	"$(grep -c ' \[mcount_sample\]' "$trace")"
unknown=$(found unknown)
sample_unload
cat "$MCT_TRACE" > "$trace"
check "the trace is well-formed after the unload" examine "$trace"
at_least "the module's functions are shown as [unknown] after the unload" \
	$((unknown + with_module)) "$(found unknown)"
equal "the module's name is not shown after the unload" 0 "$(grep -c 'mcount_sample\]' "$trace")"
equal "the module's exit leaves the tracer's hook registered" \
	1 "$(cat "$MCT_CTRL")"
put 1 "$MCT_SYSCTL"
check "the tracer continues to record" wait_until 10 records_flow

# --- repeatedly, under load, with and without the tracer's hook registered at the unload, while a
# reader looks up the module's functions
load_repeat "hackbench -g 1 -f 2 -l 100"
while true; do
	cat "$MCT_TRACE"
	sleep 1
done > /dev/null &
reader=$!
done=0
wrong=
end=$(($(now) + 6 * loads + MCT_PATIENCE))
begun=$(now)
while [ $done -lt $loads ] && [ "$(now)" -lt $end ]; do
	sample_load || wrong="$wrong load $done;"
	[ "$(cat "$MCT_CTRL")" = 0 ] || wrong="$wrong not overridden $done;"
	want=0
	if [ $((done % 2)) = 0 ]; then
		put 1 "$MCT_CTRL" || wrong="$wrong register $done;"
		sample_calls >/dev/null
		want=1
	fi
	sample_unload || wrong="$wrong unload $done;"
	[ "$(cat "$MCT_CTRL")" = $want ] || wrong="$wrong ctrl $done;"
	done=$((done + 1))
done
kill $reader
diag "$done times in $(($(now) - begun)) seconds"
[ $done -eq $loads ] || wrong="$wrong only $done times"
equal "$loads times under load the unload removes the module's hook and no other" "" "$wrong"
put 1 "$MCT_CTRL"
check "the tracer records at the end" wait_until 10 records_flow
finish
