#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: Only processes and threads that are chosen are recorded
# requires: root tracer hackbench helper:badwrite

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=rings.sh
. "$(dirname "$0")/rings.sh"

plan 42

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

# set TEXT: what becomes of it
set_pids()
{
	printf '%s' "$1" | "$badwrite" "$pids" | sed 's/^ok.*/ok/'
}

# who: the pids in the trace
who()
{
	sed -n 's/^CPU [0-9]*: .*:\([0-9]*\) [^ ]* <-- .*/\1/p' "$MCT_TRACE" | sort -un | xargs
}

# child_traced: records what a child does, which is $child
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
equal "the list is empty" "" "$(list)"
equal "a process may be chosen" ok "$(set_pids "$sleeper")"
equal "it is in the list" "$sleeper" "$(list)"
trace_clear
trace_on
work
trace_off
equal "of all the others nothing is recorded" "" "$(who)"
equal "nor counted" 0 "$(stat_sum "$WRITTEN")"

put "$$" "$pids"
equal "another one takes its place" "$$" "$(list)"
trace_clear
trace_on
echo > "$MCT_TMP/a"
work
trace_off
equal "it alone is recorded" "$$" "$(who)"
echo "$sleeper" >> "$pids"
equal "more may be added" "$(printf "%s\n" $$ "$sleeper" | sort -n | xargs)" "$(list)"
equal "what is read can be written" ok "$(set_pids "$(cat "$pids")")"
equal "and changes nothing" "$(printf "%s\n" $$ "$sleeper" | sort -n | xargs)" "$(list)"
echo "!$sleeper" >> "$pids"
equal "one may be taken away" "$$" "$(list)"

printf '!%s\n%s\n' $$ $$ >> "$pids"
equal "taken away and added in one write: it is there" "$$" "$(list)"
printf '%s\nx\n' "$sleeper" >> "$pids" 2>/dev/null
equal "of what ends with an error nothing was done" "$$" "$(list)"

put "$sleeper" "$pids"
trace_clear
trace_on
echo "$$" >> "$pids"
echo > "$MCT_TMP/a"
trace_off
equal "added while all is traced: it is recorded" "$$" "$(who)"

put "$$ children" "$pids"
equal "a process with its children" "$$ children" "$(list)"
child_traced
check "children are recorded" eval "who | grep -qw $child"
check "and no others" eval "! who | grep -qw 0"
put "tid $$" "$pids"
equal "a thread" "tid $$" "$(list)"
trace_clear
trace_on
/bin/true
trace_off
equal "what it forks is another" "$$" "$(who)"
check "the counts add up" counts_add_up

# A process may be left out, and what it forks may not.
put "not $$" "$pids"
equal "a process that is left out" "not $$" "$(list)"
child_traced
check "all others are recorded" eval "who | grep -qw 0"
check "its children, too" eval "who | grep -qw $child"
check "and it is not" eval "! who | grep -qw $$"
check "the counts add up then" counts_add_up
echo "$$ children" >> "$pids"
trace_clear
trace_on
echo > "$MCT_TMP/a"
/bin/true
trace_off
check "its children may be chosen" eval "who | grep -q ."
check "it stays out" eval "! who | grep -qw $$"
equal "what is read can be written, too" ok "$(set_pids "$(cat "$pids")")"
equal "\"not\" takes a number" "write EINVAL" "$(set_pids "not")"
equal "and nothing else" "write EINVAL" "$(set_pids "not $$ children")"
put "tid $$" "$pids"

for bad in "x EINVAL" "-1 EINVAL" "0 EINVAL" "4194304 ESRCH"; do
	equal "\"${bad% *}\": ${bad#* }" "write ${bad#* }" "$(set_pids "${bad% *}")"
done
equal "\"1 kids\": EINVAL" "write EINVAL" "$(set_pids "1 kids")"
check "the log says which word" eval "dmesg | tail -3 | grep -q '\"kids\"'"
equal "after all of that it is as before" "tid $$" "$(list)"

# In another pid namespace 1 is the shell there, and the sleeper is nobody.
echo "$sleeper" > "$pids"
if unshare -pf true 2>/dev/null; then
	# shellcheck disable=SC2016 # what the other shell expands
	unshare -pf sh -c 'cat "$1"; echo $$ > "$1"; cat "$1"' sh "$pids" > "$MCT_TMP/inside"
	equal "in another pid namespace it has no number" \
		"# a process of another pid namespace" "$(head -n 1 "$MCT_TMP/inside")"
	equal "a number there is one of that namespace" 1 "$(sed -n 2p "$MCT_TMP/inside")"
	check "which is another one here" not grep -qx 1 "$pids"
else
	for name in 1 2 3; do
		skip "pid namespaces $name" "there are none"
	done
fi

kill "$sleeper"
wait "$sleeper" 2>/dev/null
sleeper=
put "" "$pids"
equal "nothing written: all" "" "$(list)"
trace_clear
trace_on
work
trace_off
at_least "all are recorded" 5 "$(who | wc -w)"
finish
