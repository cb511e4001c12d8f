#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: A record shows the task's name and pid at the time of the call
# requires: root tracer

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=rings.sh
. "$(dirname "$0")/rings.sh"

plan 7

max=/proc/sys/kernel/pid_max
pid_max=$(cat $max)
lines=$MCT_TMP/lines

at_end()
{
	put "$pid_max" $max
	rings_restore
}

# names PATTERN: print the names of the tasks whose lines match, in order
names()
{
	sed -n "s/^CPU [0-9]*: \\(.*\\):[0-9]* $1.*/\\1/p" "$lines"
}

# of_pid PID PATTERN: print the names in matching lines of this pid
of_pid()
{
	sed -n "s/^CPU [0-9]*: \\(.*\\):$1 $2.*/\\1/p" "$lines" | sort -u | xargs
}

put 4096 "$MCT_SIZE"
trace_clear
trace_on
/bin/sh -c 'echo $$; exec /bin/cat /dev/null' > "$MCT_TMP/pid"
trace_off
pid=$(cat "$MCT_TMP/pid")
cat "$MCT_TRACE" > "$lines"
equal "a task has its old name when exec begins" sh "$(of_pid "$pid" begin_new_exec+)"
equal "a task has its new name when it exits" cat "$(of_pid "$pid" do_exit+)"
check "no name is unknown" eval "! grep -q '<\.\.\.>' $lines"

# Allow so few pids that each is reused, and with it the memory of a task_struct.
trace_clear
put 310 $max
until [ "$(/bin/sh -c 'echo $$')" -ge 300 ]; do
	:
done
i=0
while [ $i -lt 40 ]; do
	trace_clear
	trace_on
	for j in 1 2 3 4 5; do
		/bin/true
		/bin/false
		i=$((i + 1))
	done
	trace_off
	grep ' do_exit+' "$MCT_TRACE"
done > "$lines"
put "$pid_max" $max
names do_exit+ | grep -E '^(true|false)$' > "$MCT_TMP/names"
i=0
while [ $i -lt 40 ]; do
	echo true
	echo false
	i=$((i + 1))
done > "$MCT_TMP/want"
check "reused pids have the names of their current tasks" cmp "$MCT_TMP/names" "$MCT_TMP/want"
at_least "pids are reused" 3 \
	"$(sed -n 's/^CPU [0-9]*: true:\([0-9]*\) do_exit+.*/\1/p' "$lines" |
		sort | uniq -c | awk '$1 > n { n = $1 } END { print n + 0 }')"
check "the counts add up" counts_add_up

# Record before and after a task renames itself.
trace_clear
trace_on
/bin/sh -c 'echo $$; printf "a name" > /proc/$$/comm; exit 0' > "$MCT_TMP/pid"
trace_off
pid=$(cat "$MCT_TMP/pid")
cat "$MCT_TRACE" > "$lines"
equal "a task that renames itself has its old name before and its new name after" "sh a name" \
	"$(of_pid "$pid" comm_write+) $(of_pid "$pid" do_exit+)"
finish
