#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: A task has the name and pid that it had when it made the call
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

# names PATTERN: of the tasks whose lines match, in order
names()
{
	sed -n "s/^CPU [0-9]*: \\(.*\\):[0-9]* $1.*/\\1/p" "$lines"
}

# of_pid PID PATTERN
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
equal "it has its old name when exec begins" sh "$(of_pid "$pid" begin_new_exec+)"
equal "it has the new name when it exits" cat "$(of_pid "$pid" do_exit+)"
check "no name is unknown" eval "! grep -q '<\.\.\.>' $lines"

# So few pids that each is used again, and so is the memory of each task_struct.
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
check "pids used again have the names of who has them" cmp "$MCT_TMP/names" "$MCT_TMP/want"
at_least "they were used again" 3 \
	"$(sed -n 's/^CPU [0-9]*: true:\([0-9]*\) do_exit+.*/\1/p' "$lines" |
		sort | uniq -c | awk '$1 > n { n = $1 } END { print n + 0 }')"
check "the counts add up" counts_add_up

# Names of before and after a rename.
trace_clear
trace_on
/bin/sh -c 'echo $$; printf "a name" > /proc/$$/comm; exit 0' > "$MCT_TMP/pid"
trace_off
pid=$(cat "$MCT_TMP/pid")
cat "$MCT_TRACE" > "$lines"
equal "a task that has renamed itself" "sh a name" \
	"$(of_pid "$pid" comm_write+) $(of_pid "$pid" do_exit+)"
finish
