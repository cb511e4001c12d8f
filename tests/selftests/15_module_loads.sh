#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: Modules load, unload, and fail to load while the tracer is switched
# requires: root tracer hackbench helper:tracecheck helper:rawreader
# requires: testmod:mct_target testmod:mct_initfail

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

plan 35

trace=$MCT_TMP/trace
# A load takes seconds on an emulated machine.
loads=${MCT_MODULE_LOADS:-100}
reader=

# On a slow machine many calls are made until a trace is read, and the rings must hold all.
size=$MCT_DIR/buffer_size_kb
old_size=$(cat "$size" 2>/dev/null)
[ -z "$old_size" ] || put 16384 "$size"

at_end()
{
	[ -z "$old_size" ] || put "$old_size" "$size"
	[ -z "$reader" ] || kill "$reader"
	reader=
	! mod_loaded mct_target || {
		mod_set mct_target hold 0
		mod_unload mct_target
	}
} 2>/dev/null

# traced FUNCTION CALLER: count these records in $trace. Both arguments are names, followed by
# [mct_target] for the module's functions.
traced()
{
	awk -v callee="$1" -v caller="$2" '
		function name(i,   text)
		{
			text = $i
			sub(/\+0x.*/, "", text)
			if ($(i + 1) ~ /^\[/)
				text = text " " $(i + 1)
			return text
		}
		/^#/ { next }
		{
			for (i = 3; i < NF && $i != "<--"; i++)
				;
			f = i - 1
			if ($f ~ /^\[/ && f > 3)
				f--
			n += name(f) == callee && name(i + 1) == caller
		}
		END { print n + 0 }' "$trace"
}

leaf="mct_target_leaf [mct_target]"
branch="mct_target_branch [mct_target]"

# calls_traced N: make N calls and succeed if all are recorded. Recording stops before the trace is
# read: on a busy machine the rings could overflow.
calls_traced()
{
	trace_clear
	mod_set mct_target calls "$1"
	put 0 "$MCT_DIR/tracing_on"
	cat "$MCT_TRACE" > "$trace"
	put 1 "$MCT_DIR/tracing_on"
	[ "$(traced "$leaf" "$branch")" = "$1" ] && return 0
	echo "$(traced "$leaf" "$branch") calls recorded, made were $1"
	return 1
}

# --- load while tracing: each function is traced from the beginning of init
init_waits()
{
	[ "$(mod_get mct_target hold)" = 2 ]
} 2>/dev/null

trace_on
trace_clear
mod_load mct_target hold=1 &
loader=$!
check "the module's init starts while the tracer is on" \
	wait_until "$MCT_PATIENCE" init_waits
put 0 "$MCT_CTRL"
cat "$MCT_TRACE" > "$trace"
check "the trace is well-formed while init runs" examine "$trace"
equal "the module's init is traced" 1 \
	"$(traced "mct_target_init [mct_target]" do_one_initcall)"
equal "the init section's function that init calls is traced" 1 \
	"$(traced "mct_target_init_step [mct_target]" \
		"mct_target_init [mct_target]")"
equal "the permanent function that init calls is traced" 1 \
	"$(traced "$leaf" "mct_target_init_step [mct_target]")"
mod_set mct_target hold 0
wait "$loader"
equal "the load succeeds when init ends" 0 $?
check "the module is live" \
	grep -q '^mct_target .* Live ' /proc/modules

cat "$MCT_TRACE" > "$trace"
check "the trace is well-formed after init's memory is freed" examine "$trace"
equal "freed init functions have no name" 0 \
	"$(grep -c mct_target_init "$trace")"

# --- once the module is live, switch on and off
put 1 "$MCT_CTRL"
check "all calls are traced while the tracer is on" calls_traced 1000
put 0 "$MCT_CTRL"
check "no call is traced while the tracer is off" calls_traced 0
mod_set mct_target calls 10
cat "$MCT_TRACE" > "$trace"
equal "ten more calls are not traced either" 0 "$(traced "$leaf" "$branch")"
put 1 "$MCT_CTRL"
check "all calls are traced when the tracer is on again" calls_traced 1000
trace_clear
check "the module unloads while the tracer is on" mod_unload mct_target
put 0 "$MCT_CTRL"
cat "$MCT_TRACE" > "$trace"
check "the trace is well-formed after the unload" examine "$trace"
equal "no function of the unloaded module has a name" 0 "$(grep -c mct_target_ "$trace")"

# --- load while the tracer is off
check "the module loads while the tracer is off" mod_load mct_target
put 1 "$MCT_CTRL"
check "all calls are traced when the tracer is switched on later" calls_traced 1000
check "the module unloads again" mod_unload mct_target

# --- init fails
[ -z "$old_size" ] || put "$old_size" "$size"
load_start
failures=0
i=0
while [ $i -lt "$loads" ]; do
	mod_load mct_initfail > "$MCT_TMP/insmod" 2>&1 ||
		failures=$((failures + 1))
	i=$((i + 1))
done
equal "a module whose init fails is refused $loads times while tracing" \
	"$loads" $failures
check "the error is that of the module's init" grep -qi 'no such device' "$MCT_TMP/insmod"
check "the refused module is not loaded" not mod_loaded mct_initfail
check "the tracer records after the refused loads" wait_until 10 records_flow

# --- all at once, while a reader looks up names
while true; do
	cat "$MCT_TRACE"
	sleep 0.5
done > /dev/null &
reader=$!

# storm SWITCH: load and unload modules while the switch is toggled
storm()
{
	local i=0 begun
	begun=$(now)
	wrong=
	toggles_start "$1"
	while [ $i -lt "$loads" ] || ! toggles_reach 6; do
		mod_load mct_target calls=10 || wrong="$wrong load $i;"
		mod_load mct_initfail 2>/dev/null && wrong="$wrong initfail $i;"
		mod_set mct_target calls 10 || wrong="$wrong calls $i;"
		mod_unload mct_target || wrong="$wrong unload $i;"
		i=$((i + 1))
		[ $((i % 20)) -ne 0 ] || diag "$i times"
	done
	diag "$i times in $(($(now) - begun)) seconds"
	toggles_stop
}

for switch in "$MCT_CTRL" "$MCT_SYSCTL"; do
	trace_on
	storm "$switch"
	equal "$loads loads and unloads succeed while ${switch##*/} is toggled" "" "$wrong"
	check "no toggle of ${switch##*/} failed" not toggles_failed
done
kill "$reader"
reader=
load_stop

trace_on
mod_load mct_target
check "a module's calls are traced at the end" calls_traced 1000
trace_off
check "the counts add up" stats_add_up
cat "$MCT_TRACE" > "$trace"
check "the trace is well-formed" examine "$trace"

# --- records identify the modules that were loaded
# numbers: print the module numbers in the rings, each once. Each load or unload increments the
# number.
numbers()
{
	local raw
	for raw in "$MCT_DIR"/per_cpu/cpu*/raw; do
		"$MCT_BIN/rawreader" modules "$raw"
	done | sort -un
}

put 'vfs_read mct_target_leaf' "$MCT_DIR/filter"
trace_clear
trace_on
cat /proc/self/stat > /dev/null
mod_set mct_target calls 10
mod_unload mct_target
cat /proc/self/stat > /dev/null
mod_load mct_target
cat /proc/self/stat > /dev/null
trace_off
put "" "$MCT_DIR/filter"
cat "$MCT_TRACE" > "$trace"
equal "a reloaded module names only the calls since its load" 1 \
	"$(grep -c ' mct_target_leaf+' "$trace")"
at_least "the calls of the earlier load are shown as [unknown]" \
	10 "$(grep -c '\[unknown\] <-- ' "$trace")"
numbers > "$MCT_TMP/numbers"
diag_lines < "$MCT_TMP/numbers"
equal "calls before, between and after have different module numbers" \
	3 "$(wc -l < "$MCT_TMP/numbers")"
equal "the module numbers are consecutive" 2 \
	"$(awk 'NR == 1 { first = $1 } END { print $1 - first }' "$MCT_TMP/numbers")"
equal "stats shows the last module number" "$(tail -n 1 "$MCT_TMP/numbers")" \
	"$(sed -n 's/^# modules: //p' "$MCT_STATS")"
finish
