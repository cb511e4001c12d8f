#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: The tracer survives random steps of several processes while all else changes
# requires: root tracer hackbench kcore helper:fuzz helper:kerneltext helper:tracecheck
# requires: testmod:mct_target

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=rings.sh
. "$(dirname "$0")/rings.sh"
# shellcheck source=faults.sh
. "$(dirname "$0")/faults.sh"

# With the same MCT_SEED each process repeats its steps; fuzz -v prints them.
seed=${MCT_SEED:-$(($(date +%s) % 1000000 + 1))}
steps=${MCT_FUZZ_STEPS:-1000}
processes=4
others=
pids=

plan 13

lists="filter notrace triggers"

# Record all functions again.
all_is_chosen()
{
	for list in $lists; do
		put "" "$MCT_DIR/$list"
	done
	put function "$MCT_DIR/mode"
	put 1 "$MCT_DIR/tracing_on"
	put 0 "$MCT_DIR/snapshot"
}

at_end()
{
	: > "$MCT_TMP/stop"
	for pid in $pids; do
		kill -KILL "$pid"
		wait "$pid"
	done 2>/dev/null
	# shellcheck disable=SC2086 # a list
	[ -z "$others" ] || wait $others
	! mod_loaded mct_target || mod_unload mct_target
	[ ! -e "$MCT_CPUS/cpu1/online" ] || put 1 "$MCT_CPUS/cpu1/online"
	faults_end
	all_is_chosen
	put nocontext "$MCT_OPTIONS"
	rings_restore
}

going_on()
{
	[ ! -e "$MCT_TMP/stop" ]
}

# Background changes; each prints how often it ran.
modules()
{
	local n=0
	while going_on; do
		mod_load mct_target calls=10 && mod_unload mct_target || break
		n=$((n + 1))
	done
	echo $n > "$MCT_TMP/modules"
	echo "# modules came and went $n times"
}

cpus()
{
	local n=0
	[ -e "$MCT_CPUS/cpu1/online" ] || return
	while going_on; do
		put 0 "$MCT_CPUS/cpu1/online" && sleep 0.2 &&
			put 1 "$MCT_CPUS/cpu1/online" || break
		sleep 1
		n=$((n + 1))
	done
	echo $n > "$MCT_TMP/cpus"
	echo "# CPU 1 went $n times"
}

# Fill a quarter of the free memory, repeatedly.
memory()
{
	local n=0 kb
	kb=$(awk '/^MemAvailable:/ { print int($2 / 4) }' /proc/meminfo)
	while going_on; do
		dd if=/dev/zero of="$MCT_TMP/fill" bs=1024 count="$kb" 2>/dev/null
		rm -f "$MCT_TMP/fill"
		n=$((n + 1))
	done
	echo "# memory was filled $n times"
}

diag "seed $seed, $steps steps for each of $processes processes"
put 64 "$MCT_SIZE"
light_load_start
for what in modules cpus memory; do
	$what > "$MCT_TMP/did.$what" 2>/dev/null &
	others="$others $!"
done
# A tenth of these processes' allocations fails, if the kernel supports it.
failing=
if faults_there; then
	faults_begin
	faults_random 10
	failing=-f
fi
for i in $(seq $processes); do
	"$MCT_BIN/fuzz" $failing -s $((seed + i)) -n "$steps" "$MCT_DIR" "$MCT_SYSCTL" \
		> "$MCT_TMP/fuzz.$i" &
	pids="$pids $!"
done
failed=0
for pid in $pids; do
	wait "$pid" || failed=$((failed + 1))
done
pids=
: > "$MCT_TMP/stop"
# shellcheck disable=SC2086 # a list
wait $others
others=
load_stop
faults_end
cat "$MCT_TMP"/did.*
sed 's/^/# /' "$MCT_TMP"/fuzz.?
equal "each process ends with success" 0 "$failed"
at_least "at least a tenth of their steps succeed" $((steps * processes / 10)) \
	"$(awk '{ n += $1 } END { print n + 0 }' "$MCT_TMP"/fuzz.?)"

at_least "a module is loaded and unloaded meanwhile" 1 "$(cat "$MCT_TMP/modules")"
if [ -e "$MCT_CPUS/cpu1/online" ]; then
	at_least "CPU 1 goes offline and online meanwhile" 1 "$(cat "$MCT_TMP/cpus")"
else
	skip "CPU 1 goes offline and online meanwhile" "it can not go offline"
fi

# Afterwards the tracer works as before.
trace_off
check "the counts add up" counts_add_up
for list in $lists; do
	diag "$list: $(head -n 5 "$MCT_DIR/$list" | xargs)"
done
all_is_chosen
equal "the lists can be emptied, recording is on, and the mode is function" "1 function" \
	"$(cat "$MCT_DIR/filter" "$MCT_DIR/notrace" "$MCT_DIR/triggers" "$MCT_DIR/tracing_on" \
		"$MCT_DIR/mode" | xargs)"
check "there is no snapshot" not grep -q . "$MCT_DIR/snapshot"
if [ "$(text_kind)" = dynamic ]; then
	equal "no call site calls anything" "calls 0 gates 0" \
		"$("$MCT_BIN/kerneltext" heads | sed -n '/^calls\|^gates/p' | xargs)"
else
	skip "no call site calls anything" "call sites are static"
fi
put nocontext "$MCT_OPTIONS"
rings_small
check "options and size can be set" test "$(cat "$MCT_SIZE")" = "$RING_KB"
trace_clear
storm
check "each ring is filled again" each_cpu_has "$ENTRIES" "$RING_RECORDS"
check "the counts add up after that" counts_add_up
check "each CPU's trace has as many records as entries" entries_are_there
cat "$MCT_TRACE" > "$MCT_TMP/trace"
check "the trace is well-formed" examine "$MCT_TMP/trace"
finish
