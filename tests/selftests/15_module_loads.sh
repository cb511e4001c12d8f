#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: Modules come, go, and fail while the tracer is switched
# requires: root tracer hackbench helper:tracecheck helper:rawreader
# requires: testmod:mct_target testmod:mct_initfail

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

plan 35

trace=$MCT_TMP/trace
# An emulated machine takes seconds for each.
loads=${MCT_MODULE_LOADS:-100}
reader=

at_end()
{
	[ -z "$reader" ] || kill "$reader"
	reader=
	! mod_loaded mct_target || {
		mod_set mct_target hold 0
		mod_unload mct_target
	}
} 2>/dev/null

# traced FUNCTION CALLER: how many such records there are, of all of $trace;
# both are names, with [mct_target] behind where they belong to it
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

# calls_traced N: are N calls recorded, to the last one? Nothing else is while they are read: on
# a busy machine that might be more than a ring holds.
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

# --- loaded while on: each function from the first instruction of init
init_waits()
{
	[ "$(mod_get mct_target hold)" = 2 ]
} 2>/dev/null

trace_on
trace_clear
mod_load mct_target hold=1 &
loader=$!
check "the module loads while the tracer is on, as far as its init" \
	wait_until "$MCT_PATIENCE" init_waits
put 0 "$MCT_CTRL"
cat "$MCT_TRACE" > "$trace"
check "the trace is well-formed while init runs" examine "$trace"
equal "its init is traced" 1 \
	"$(traced "mct_target_init [mct_target]" do_one_initcall)"
equal "so is what its init calls in memory that is freed" 1 \
	"$(traced "mct_target_init_step [mct_target]" \
		"mct_target_init [mct_target]")"
equal "and what its init calls in memory that is kept" 1 \
	"$(traced "$leaf" "mct_target_init_step [mct_target]")"
mod_set mct_target hold 0
wait "$loader"
equal "it is loaded when init ends" 0 $?
check "and its module is live" \
	grep -q '^mct_target .* Live ' /proc/modules

cat "$MCT_TRACE" > "$trace"
check "the trace is well-formed when init's memory is freed" examine "$trace"
equal "functions that are gone have no name" 0 \
	"$(grep -c mct_target_init "$trace")"

# --- once live, on and off
put 1 "$MCT_CTRL"
check "while on all calls are traced" calls_traced 1000
put 0 "$MCT_CTRL"
check "while off none are" calls_traced 0
mod_set mct_target calls 10
cat "$MCT_TRACE" > "$trace"
equal "however many are made" 0 "$(traced "$leaf" "$branch")"
put 1 "$MCT_CTRL"
check "on again all are" calls_traced 1000
trace_clear
check "it unloads while the tracer is on" mod_unload mct_target
put 0 "$MCT_CTRL"
cat "$MCT_TRACE" > "$trace"
check "the trace is well-formed after it" examine "$trace"
equal "no function of it has a name" 0 "$(grep -c mct_target_ "$trace")"

# --- loaded while off
check "it loads while the tracer is off" mod_load mct_target
put 1 "$MCT_CTRL"
check "switched on later, all calls are traced" calls_traced 1000
check "it unloads" mod_unload mct_target

# --- init fails
load_start
failures=0
i=0
while [ $i -lt "$loads" ]; do
	mod_load mct_initfail > "$MCT_TMP/insmod" 2>&1 ||
		failures=$((failures + 1))
	i=$((i + 1))
done
equal "a module whose init fails, does so $loads times while on" \
	"$loads" $failures
check "and for its own reason" grep -qi 'no such device' "$MCT_TMP/insmod"
check "nothing of it is left" not mod_loaded mct_initfail
check "the tracer records after it" wait_until 10 records_flow

# --- all of it at once, with a reader who looks names up meanwhile
while true; do
	cat "$MCT_TRACE"
	sleep 0.5
done > /dev/null &
reader=$!

# storm SWITCH: loads and unloads while it is toggled
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
	equal "${switch##*/} toggled: $loads loads and unloads" "" "$wrong"
	check "no toggle of ${switch##*/} failed" not toggles_failed
done
kill "$reader"
reader=
load_stop

trace_on
mod_load mct_target
check "after all, a module's calls are traced" calls_traced 1000
trace_off
check "the counts add up" stats_add_up
cat "$MCT_TRACE" > "$trace"
check "the trace is well-formed" examine "$trace"

# --- calls tell which modules were there
# numbers: how many times modules had come or gone, each number once
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
equal "a module in the place of one that went names its own calls only" 1 \
	"$(grep -c ' mct_target_leaf+' "$trace")"
at_least "the others are there" 10 "$(grep -c '\[unknown\] <-- ' "$trace")"
numbers > "$MCT_TMP/numbers"
diag_lines < "$MCT_TMP/numbers"
equal "calls before, between and after have numbers of their own" 3 "$(wc -l < "$MCT_TMP/numbers")"
equal "and these follow each other" 2 \
	"$(awk 'NR == 1 { first = $1 } END { print $1 - first }' "$MCT_TMP/numbers")"
equal "stats has the last of them" "$(tail -n 1 "$MCT_TMP/numbers")" \
	"$(sed -n 's/^# modules: //p' "$MCT_STATS")"
finish
