#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: Only traced tasks are recorded
# requires: root tracer hackbench helper:badwrite

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=rings.sh
. "$(dirname "$0")/rings.sh"

plan 45

pids=$MCT_DIR/pid
badwrite=$MCT_BIN/badwrite
lines=$MCT_TMP/lines
sleeper=

at_end()
{
	put "" "$pids"
	[ -z "$sleeper" ] || kill "$sleeper"
	rings_restore
}

list()
{
	sort -n "$pids" | xargs
}

# set_pids TEXT: write it to pid; print "ok" or the error
set_pids()
{
	printf '%s' "$1" | "$badwrite" "$pids" | sed 's/^ok.*/ok/'
}

# who: print the pids in the trace
who()
{
	sed -n 's/^CPU [0-9]*: .*:\([0-9]*\) [^ ]* <-- .*/\1/p' "$MCT_TRACE" | sort -un | xargs
}

# child_traced: record while a child runs, and set $child to its pid
child_traced()
{
	trace_clear
	trace_on
	(sleep 1; echo) > "$MCT_TMP/a" &
	child=$!
	wait "$child"
	trace_off
}

put 1024 "$MCT_SIZE"
sleep 1000 &
sleeper=$!
equal "the list is empty at first" "" "$(list)"
equal "a process can be set" ok "$(set_pids "$sleeper")"
equal "the process is in the list" "$sleeper" "$(list)"
trace_clear
trace_on
work
trace_off
equal "no call of other tasks is recorded" "" "$(who)"
equal "no call of other tasks is counted" 0 "$(stat_sum "$WRITTEN")"

put "$$" "$pids"
equal "a write replaces the process" "$$" "$(list)"
trace_clear
trace_on
echo > "$MCT_TMP/a"
work
trace_off
equal "only the new process is recorded" "$$" "$(who)"
echo "$sleeper" >> "$pids"
equal "a process can be added" "$(printf "%s\n" $$ "$sleeper" | sort -n | xargs)" "$(list)"
equal "the list can be written back unchanged" ok "$(set_pids "$(cat "$pids")")"
equal "the list is the same after that" "$(printf "%s\n" $$ "$sleeper" | sort -n | xargs)" "$(list)"
echo "!$sleeper" >> "$pids"
equal "! removes a process" "$$" "$(list)"

printf '!%s\n%s\n' $$ $$ >> "$pids"
equal "a process that one write removes and adds is in the list" "$$" "$(list)"
printf '%s\nx\n' "$sleeper" >> "$pids" 2>/dev/null
equal "a write that fails changes nothing" "$$" "$(list)"

put "$sleeper" "$pids"
trace_clear
trace_on
echo "$$" >> "$pids"
echo > "$MCT_TMP/a"
trace_off
equal "a process that is added while tracing is recorded" "$$" "$(who)"

put "$$ children" "$pids"
equal "a process can be set with its children" "$$ children" "$(list)"
child_traced
check "children are recorded" eval "who | grep -qw $child"
check "no other task is recorded with the children" eval "! who | grep -qw 0"
put "tid $$" "$pids"
equal "a thread can be set" "tid $$" "$(list)"
trace_clear
trace_on
/bin/true
trace_off
equal "a child of the thread is not recorded" "$$" "$(who)"
check "the counts add up" counts_add_up

# Exclude a process, but not its children.
put "not $$" "$pids"
equal "a process can be excluded" "not $$" "$(list)"
child_traced
check "other tasks are recorded" eval "who | grep -qw 0"
check "the children of the excluded process are recorded" eval "who | grep -qw $child"
check "the excluded process is not recorded" eval "! who | grep -qw $$"
check "the counts add up with an excluded process" counts_add_up
echo "$$ children" >> "$pids"
trace_clear
trace_on
echo > "$MCT_TMP/a"
/bin/true
trace_off
check "the children of the excluded process can be set" eval "who | grep -q ."
check "the process stays excluded" eval "! who | grep -qw $$"
equal "the list can be written back" ok "$(set_pids "$(cat "$pids")")"
equal "\"not\" without a number is EINVAL" "write EINVAL" "$(set_pids "not")"
equal "\"not\" with \"children\" is EINVAL" "write EINVAL" "$(set_pids "not $$ children")"
put "tid $$" "$pids"

for bad in "x EINVAL" "-1 EINVAL" "0 EINVAL" "4194304 ESRCH"; do
	equal "\"${bad% *}\" is ${bad#* }" "write ${bad#* }" "$(set_pids "${bad% *}")"
done
equal "\"1 kids\" is EINVAL" "write EINVAL" "$(set_pids "1 kids")"
check "the log names the wrong word" eval "dmesg | tail -3 | grep -q '\"kids\"'"
equal "after these errors the list is as before" "tid $$" "$(list)"

# In another pid namespace 1 is the shell there, and the sleeping process has no number.
echo "$sleeper" > "$pids"
if unshare -pf true 2>/dev/null; then
	# shellcheck disable=SC2016 # what the other shell expands
	unshare -pf sh -c 'cat "$1"; echo $$ > "$1"; cat "$1"' sh "$pids" > "$MCT_TMP/inside"
	equal "in another pid namespace the process has no number" \
		"# a process of another pid namespace" "$(head -n 1 "$MCT_TMP/inside")"
	equal "a number that is written there belongs to that namespace" \
		1 "$(tail -n 1 "$MCT_TMP/inside")"
	check "a write there leaves expressions of this namespace" grep -qx "$sleeper" "$pids"
	check "the same process has another number here" not grep -qx 1 "$pids"
else
	for name in 1 2 3 4; do
		skip "pid namespaces $name" "there are none"
	done
fi

# A process ends, but not its child, and another process gets its number.
pid_max=$(cat /proc/sys/kernel/pid_max)
put 800 /proc/sys/kernel/pid_max
# until_number LEAST MOST: start processes until one has such a number, which stays
until_number()
{
	while :; do
		sleep 1000 &
		number=$!
		[ "$number" -lt "$1" ] || [ "$number" -gt "$2" ] || return 0
		kill -9 "$number"	# it may still be this shell, with its traps
		wait "$number" 2>/dev/null
	done
}
until_number 400 600
kill -9 "$number"
wait "$number" 2>/dev/null
sh -c 'sleep 1000 & echo $! > "$0"; exec sleep 2' "$MCT_TMP/orphan" &
reused=$!
sleep 1
put "$reused children" "$pids"
wait "$reused"
until_number "$reused" "$reused"
check "a reused number can be set" put "$number children" "$pids"
trace_clear
trace_on
kill "$number"
wait "$number" 2>/dev/null
trace_off
check "the process that has the number now is recorded" eval "who | grep -qw $number"
kill "$(cat "$MCT_TMP/orphan")"
put "$pid_max" /proc/sys/kernel/pid_max

kill "$sleeper"
wait "$sleeper" 2>/dev/null
sleeper=
put "" "$pids"
equal "an empty write empties the list" "" "$(list)"
trace_clear
trace_on
work
trace_off
at_least "all tasks are recorded with an empty list" 5 "$(who | wc -w)"
finish
