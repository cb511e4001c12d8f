#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: Both switches are toggled at once under load
# requires: root tracer hackbench helper:tracecheck

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

plan 18

# An emulated machine takes seconds for each.
wanted=${MCT_TOGGLES:-1000}
progress=$(((wanted + 9) / 10))
trace=$MCT_TMP/trace
runs=$MCT_TMP/runs
: > "$runs"
text=
if [ -z "$(missing kcore)$(missing helper:kerneltext)" ]; then
	text=yes
fi

# toggle FILE NAME: 0 and 1 in turn, each to be read back, since nobody else
# writes there; writes how often, and what failed
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

# Whoever runs the machine may inject NMIs meanwhile, and set MCT_NMIS to say so.
nmis()
{
	awk '$1 == "NMI:" { for (i = 2; $i ~ /^[0-9]+$/; i++) n += $i }
	     END { print n + 0 }' /proc/interrupts
}

trace_on
trace_off
[ -z "$text" ] || text_save before

# Every run must end, and end well: on all CPUs, whatever is patched there.
# Few tasks keep the CPUs as busy as many, and leave more to what toggles.
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
	at_least "NMIs came meanwhile" 10 "$nmis"
else
	skip "NMIs came meanwhile" "nobody says that they are injected"
fi
for name in ctrl sysctl; do
	equal "$name was toggled $wanted times" "$wanted" \
		"$(cat "$MCT_TMP/$name")"
	equal "no toggle of $name failed" "" "$(cat "$MCT_TMP/$name.failed")"
done

trace_on
check "with both on records are written" wait_until 10 records_flow
put 0 "$MCT_CTRL"
check "with ctrl off none are" records_stand
put 1 "$MCT_CTRL"
put 0 "$MCT_SYSCTL"
check "with the sysctl off none are" records_stand
put 0 "$MCT_CTRL"
check "with both off none are" records_stand

# Each function is traced again, as if nothing had happened.
trace_clear
trace_on
sleep 1
trace_off
load_stop
at_least "hackbench ran to its end" 1 "$(grep -c ok "$runs")"
equal "and never failed" 0 "$(grep -c bad "$runs")"
check "the counts add up" stats_add_up
cat "$MCT_TRACE" > "$trace"
check "a trace taken after it is well-formed" examine "$trace"
equal "it has as many records as stats says" \
	"$(stat_sum "$ENTRIES")" "$(found records)"
functions=$("$MCT_BIN/tracecheck" -l "$trace" | cut -f 3 | sort -u | wc -l)
at_least "and hundreds of functions in it" 200 "$functions"
if [ -n "$text" ]; then
	text_save after
	check "the kernel's text is what it was before" text_same before after
else
	skip "the kernel's text is what it was before" "no /proc/kcore"
fi
# Who only wants to know waits for no toggle.
put 1 "$MCT_SYSCTL"
reads=0
toggles_start "$MCT_CTRL"
while ! toggles_reach 6; do
	read -r _ < "$MCT_SYSCTL"
	reads=$((reads + 1))
done
toggles_stop
trace_off
at_least "the sysctl is read while ctrl is toggled" 60 $reads

check "the switches are off" test \
	"$(cat "$MCT_CTRL" "$MCT_SYSCTL" | xargs)" = "0 0"
finish
