#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: A trigger completes its work wherever CPU 1 goes down or comes up
# requires: root tracer smp cpu:1 taskset

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=rings.sh
. "$(dirname "$0")/rings.sh"

# The triggers snapshot and "traceoff after" need work after the traced call. A CPU
# that goes down can not run that work, and a CPU that comes up can not run it yet.
# This test fires both triggers at functions that CPU 1 calls on its way down or up.
#
# MCT_ARMED is the number of functions that the test tries, or "all".

plan 15

tries=${MCT_ARMED:-12}
online=$MCT_CPUS/cpu1/online
triggers=$MCT_DIR/triggers
snapshot=$MCT_DIR/snapshot
on=$MCT_DIR/tracing_on
list=$MCT_TMP/list

at_end()
{
	put "" "$triggers"
	[ "$(cat "$online")" = 1 ] || put 1 "$online"
	put 0 "$snapshot"
	put 1 "$on"
	rings_restore
}

# names FILE: print the functions of the file's lines, in order
names()
{
	awk '/^#/ { next }
	     {
		for (i = 4; i <= NF; i++)
			if ($i == "<--") {
				name = $(i - 1)
				if (name ~ /^\[/)
					name = $(i - 2)
				sub(/\+.*/, "", name)
				print name
				break
			}
	     }' "$1"
}

# record_way VALUE NAME: write VALUE to CPU 1's file online, save both CPUs' traces
record_way()
{
	trace_clear
	trace_on
	# Setting a trigger and starting a process call functions that anchors must not be.
	put 'vfs_fsync:count' "$triggers"
	sh -c :
	put "$1" "$online" || bail_out "CPU 1 does not take $1 in its file online"
	trace_off
	put "" "$triggers"
	cat "$(per_cpu 0 trace)" > "$MCT_TMP/$2.cpu0"
	cat "$(per_cpu 1 trace)" > "$MCT_TMP/$2.cpu1"
}

# split_way NAME FIRST LAST: split CPU 1's lines into the way, from the first line that
# matches FIRST to the last line that matches LAST, and the functions of all other lines
split_way()
{
	names "$MCT_TMP/$1.cpu0" | sort -u > "$MCT_TMP/$1.others"
	awk -v first="$2" -v last="$3" -v way="$MCT_TMP/$1.lines" -v rest="$MCT_TMP/$1.rest" '
		{ line[NR] = $0 }
		!from && $0 ~ first { from = NR }
		$0 ~ last { to = NR }
		END {
			for (i = 1; i <= NR; i++)
				print line[i] > (from && i >= from && i <= to ? way : rest)
		}' "$MCT_TMP/$1.cpu1"
	touch "$MCT_TMP/$1.lines" "$MCT_TMP/$1.rest"
	names "$MCT_TMP/$1.lines" > "$MCT_TMP/$1.way"
	names "$MCT_TMP/$1.rest" | sort -u >> "$MCT_TMP/$1.others"
}

# list_way NAME WHICH: print "NAME ANCHOR FUNCTION" for each function of the way, by its
# WHICH call, the first or the last. ANCHOR is the nearest function before that call, or
# the function itself, that only the way calls, or "-". ANCHOR starts recording, so that
# the trigger at FUNCTION fires at CPU 1's call and not at an earlier one.
list_way()
{
	awk -v name="$1" -v which="$2" '
		FILENAME ~ /others$/ { others[$1] = 1; next }
		{
			first = !($1 in at)
			if (first && !($1 in others))
				anchor = $1
			if (first || which == "last") {
				at[$1] = NR
				by[$1] = anchor == "" ? "-" : anchor
			}
		}
		END { for (f in at) print at[f], name, by[f], f }
		' "$MCT_TMP/$1.others" "$MCT_TMP/$1.way" |
		sort -n | cut -d ' ' -f 2-
}

# sample N: at most N lines of standard input, evenly spread from the first to the last,
# and sched_cpu_dying
sample()
{
	awk -v n="$1" '
		{ line[NR] = $0; if ($3 == "sched_cpu_dying") chosen[NR] = 1 }
		END {
			for (i = 0; i < n && NR; i++)
				chosen[n > 1 ? 1 + int(i * (NR - 1) / (n - 1)) : NR] = 1
			for (i = 1; i <= NR; i++)
				if (n >= NR || i in chosen)
					print line[i]
		}'
}

# pass WAY: let CPU 1 go down or come up
pass()
{
	case $1 in
	down)	put 0 "$online" ;;
	up)	put 1 "$online" ;;
	esac
}

# use_cpu1: leave the memory of a process on CPU 1, which it drops when it dies
use_cpu1()
{
	taskset 2 sh -c :
}

# set_trigger WAY ANCHOR FUNCTION ACTION: let the action run once on CPU 1's way
set_trigger()
{
	case $1 in
	down)	put 1 "$online"; use_cpu1 ;;
	up)	put 0 "$online" ;;
	esac
	trace_clear
	trace_on
	if [ "$2" = - ]; then
		put 1 "$on"
		put "$3:$4:1" "$triggers"
	else
		put 0 "$on"
		printf '%s\n' "$2:traceon:1" "$3:$4:1" > "$triggers"
	fi 2>/dev/null
}

# has_fired FUNCTION ACTION: without a new process, which may call the function, too
has_fired()
{
	while read -r line; do
		case $line in
		"$1:$2:0	#"*)	return 0 ;;
		esac
	done < "$triggers"
	return 1
}

is_off()
{
	[ "$(cat "$on")" = 0 ]
}

# free_work: run the work that CPU 1 has left on its list when it went down. While that
# list is not empty, no irq_work of CPU 1 runs, so others wait for it: Tasks RCU, and with
# it each write to triggers. CPU 1 empties the list when it goes down again. A correct
# kernel never needs this.
free_work()
{
	put 1 "$online"
	put 0 "$online"
	put 1 "$online"
	put "" "$triggers"
	put 0 "$snapshot"
	put 1 "$on"
}

# count_cpu MARK TRY TRACE: count the try if the trace has the mark of CPU 1
count_cpu()
{
	if grep -q "^# $1 \\[.*\\] CPU 1: " "$3"; then
		on_cpu1=$((on_cpu1 + 1))
	else
		elsewhere="$elsewhere $2"
	fi
}

# resume: record again, after a trigger has switched that off
resume()
{
	put 1 "$on"
}

# try_action WAY ANCHOR FUNCTION ACTION DONE MARK TRACE RESUME: fire ACTION at FUNCTION; the
# command DONE tells that it is complete. Then TRACE has MARK, and after RESUME records flow.
try_action()
{
	set_trigger "$1" "$2" "$3" "$4" || refused="$refused $3"
	pass "$1" || stuck="$stuck $3"
	if has_fired "$3" "$4"; then
		fired=$((fired + 1))
		if wait_until 5 "$5"; then
			count_cpu "$6" "$1:$3" "$7"
			"$8"
			wait_until 5 records_flow || silent="$silent $1:$3"
		else
			incomplete="$incomplete $1:$3"
			free_work
		fi
	else
		unfired="$unfired $1:$3"
	fi
	put "" "$triggers"
	put 0 "$snapshot"
	put 1 "$on"
}

# try_snapshot WAY ANCHOR FUNCTION
try_snapshot()
{
	try_action "$1" "$2" "$3" snapshot snapshot_there snapshot "$MCT_TMP/snapshot" true
}

# try_traceoff WAY ANCHOR FUNCTION
try_traceoff()
{
	try_action "$1" "$2" "$3" "traceoff after=20" is_off "traceoff soon" \
		"$(per_cpu 1 trace)" resume
}

# words LIST: print the number of words
words()
{
	# shellcheck disable=SC2086 # a list of words
	set -- $1
	echo $#
}

# results WHAT: five results of the tries of this action
results()
{
	diag "$1: $(wc -l < "$list") functions, $fired fired," \
		"$on_cpu1 of these on CPU 1 and completed, $(($(now) - begun)) seconds"
	[ -z "$unfired" ] || diag "$1 not fired:$unfired"
	[ -z "$elsewhere" ] || diag "$1 fired on another CPU:$elsewhere"
	[ -z "$incomplete" ] || diag "$1 not completed:$incomplete"
	[ -z "$silent" ] || diag "$1 without records after it:$silent"
	[ -z "$refused$stuck" ] || diag "$1 refused:$refused, CPU 1 stuck:$stuck"
	equal "$1: all functions take the trigger" "" "$refused"
	equal "$1: CPU 1 goes down and comes up" "" "$stuck"
	at_least "$1: the trigger fires at half of the functions or more" \
		$((($(wc -l < "$list") + 1) / 2)) \
		$fired
	equal "$1: each trigger completes in 5 seconds" 0 "$(words "$incomplete")"
	equal "$1: recording continues after each trigger" 0 "$(words "$silent")"
	incomplete='' silent='' refused='' stuck='' unfired='' elsewhere=''
}

# This shell runs on CPU 0, so that it never waits for CPU 1.
taskset -p 1 $$ > /dev/null || bail_out "this shell can not stay on CPU 0"
put 4096 "$MCT_SIZE"
use_cpu1
begun=$(now)
record_way 0 down
record_way 1 up
split_way down 'take_cpu_down|_cpu_disable' .
split_way up . 'CPU 1: cpuhp/1:'
list_way down last > "$MCT_TMP/down"
list_way up first > "$MCT_TMP/up"
diag "$(wc -l < "$MCT_TMP/down") functions on the way down," \
	"$(wc -l < "$MCT_TMP/up") on the way up, $(($(now) - begun)) seconds"
at_least "CPU 1 calls functions on its way down" 20 "$(wc -l < "$MCT_TMP/down")"
at_least "CPU 1 calls functions on its way up" 50 "$(wc -l < "$MCT_TMP/up")"
check "sched_cpu_dying is called on the way down" grep -q ' sched_cpu_dying$' "$MCT_TMP/down"
[ "$tries" != all ] || tries=1000000
sample $(((tries + 1) / 2)) < "$MCT_TMP/down" > "$list"
sample $((tries / 2)) < "$MCT_TMP/up" >> "$list"
sed 's/^/  /' "$list" | diag_lines

# --- both actions at each of them
put 1024 "$MCT_SIZE"
incomplete='' silent='' refused='' stuck='' unfired='' elsewhere='' total=0
fired=0 on_cpu1=0 begun=$(now)
while read -r way anchor function; do
	try_snapshot "$way" "$anchor" "$function"
done < "$list"
total=$((total + on_cpu1))
results "snapshot"

fired=0 on_cpu1=0 begun=$(now)
while read -r way anchor function; do
	try_traceoff "$way" "$anchor" "$function"
done < "$list"
total=$((total + on_cpu1))
results "traceoff"
at_least "some triggers fire on CPU 1" $(($(wc -l < "$list") / 3)) $total

put 1 "$online"
trace_off
check "the counts add up" counts_add_up
finish
