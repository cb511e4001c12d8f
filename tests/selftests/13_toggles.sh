#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: Both switches can be toggled at once under load
# requires: root tracer hackbench helper:tracecheck

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

plan 18

# A toggle takes seconds on an emulated machine.
wanted=${MCT_TOGGLES:-1000}
progress=$(((wanted + 9) / 10))
trace=$MCT_TMP/trace
runs=$MCT_TMP/runs
: > "$runs"
text=
if [ -z "$(missing kcore)$(missing helper:kerneltext)" ]; then
	text=yes
fi

# toggle FILE NAME: write 0 and 1 in turn and read each back; no other process writes to this file.
# Saves the number of toggles and a list of failures.
toggle()
{
	local n=0
	while [ $n -lt "$wanted" ]; do
		put $((n % 2)) "$1" ||
			echo "toggle $n of $2 failed" >> "$MCT_TMP/$2.failed"
		[ "$(cat "$1")" = $((n % 2)) ] ||
			echo "toggle $n of $2 was undone" >> "$MCT_TMP/$2.failed"
		n=$((n + 1))
		[ $((n % progress)) -ne 0 ] || diag "$2: $n"
	done
	echo $n > "$MCT_TMP/$2"
}

# The host may inject NMIs meanwhile; then it sets MCT_NMIS.
nmis()
{
	awk '$1 == "NMI:" { for (i = 2; $i ~ /^[0-9]+$/; i++) n += $i }
	     END { print n + 0 }' /proc/interrupts
}

trace_on
trace_off
[ -z "$text" ] || text_save before

# Every run must end with success, on all CPUs, whatever is patched meanwhile. Few tasks keep the
# CPUs as busy as many tasks and leave more time for the toggling processes.
load_repeat "hackbench -g $(nproc) -f 1 -l 200 && echo ok >> $runs || echo bad >> $runs"
: > "$MCT_TMP/ctrl.failed"
: > "$MCT_TMP/sysctl.failed"
begun=$(now)
nmis=$(nmis)
toggle "$MCT_CTRL" ctrl &
first=$!
toggle "$MCT_SYSCTL" sysctl &
wait $! "$first"
nmis=$(($(nmis) - nmis))
diag "$(($(now) - begun)) seconds, $nmis NMIs," \
     "hackbench ran $(grep -c ok "$runs") times"

if [ -n "${MCT_NMIS-}" ]; then
	at_least "NMIs occurred meanwhile" 10 "$nmis"
else
	skip "NMIs occurred meanwhile" "MCT_NMIS is not set"
fi
for name in ctrl sysctl; do
	equal "$name was toggled $wanted times" "$wanted" \
		"$(cat "$MCT_TMP/$name")"
	equal "no toggle of $name failed" "" "$(cat "$MCT_TMP/$name.failed")"
done

trace_on
check "records are written with both on" wait_until 10 records_flow
put 0 "$MCT_CTRL"
check "nothing is written with ctrl off" records_stand
put 1 "$MCT_CTRL"
put 0 "$MCT_SYSCTL"
check "nothing is written with the sysctl off" records_stand
put 0 "$MCT_CTRL"
check "nothing is written with both off" records_stand

# Each function is traced again.
trace_clear
trace_on
sleep 1
trace_off
load_stop
at_least "hackbench ran to completion" 1 "$(grep -c ok "$runs")"
equal "hackbench never failed" 0 "$(grep -c bad "$runs")"
check "the counts add up" stats_add_up
cat "$MCT_TRACE" > "$trace"
check "a trace after the toggles is well-formed" examine "$trace"
equal "the trace has as many records as the entries in stats" \
	"$(stat_sum "$ENTRIES")" "$(found records)"
functions=$("$MCT_BIN/tracecheck" -l "$trace" | cut -f 3 | sort -u | wc -l)
at_least "the trace has hundreds of functions" 200 "$functions"
if [ -n "$text" ]; then
	text_save after
	check "the kernel's text is the same as before" text_same before after
else
	skip "the kernel's text is the same as before" "no /proc/kcore"
fi
# A reader of the sysctl does not wait for a toggle of ctrl.
put 1 "$MCT_SYSCTL"
reads=0
toggles_start "$MCT_CTRL"
while ! toggles_reach 6; do
	read -r _ < "$MCT_SYSCTL"
	reads=$((reads + 1))
done
toggles_stop
trace_off
at_least "the sysctl can be read while ctrl is toggled" 60 $reads

check "both switches are off at the end" test \
	"$(cat "$MCT_CTRL" "$MCT_SYSCTL" | xargs)" = "0 0"
finish
