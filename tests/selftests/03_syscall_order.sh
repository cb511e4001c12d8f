#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: A known task's system calls are recorded in order, with caller, pid and comm
# requires: root tracer helper:victim helper:tracecheck

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

plan 14

trace=$MCT_TMP/trace
list=$MCT_TMP/list
said=$MCT_TMP/said

# run_victim ARGS...: run victim, write its trace to $trace and set $pid
run_victim()
{
	trace_on
	"$MCT_BIN/victim" -t "$MCT_TRACE" -c "$MCT_CTRL" "$@" > "$said"
	trace_off
	cat "$MCT_TRACE" > "$trace"
	pid=$(sed -n 's/^pid \([0-9]*\).*/\1/p' "$said" | tail -n 1)
	"$MCT_BIN/tracecheck" -l -p "${pid:-0}" "$trace" > "$list"
}

# Succeed if the "FUNCTION CALLER" expressions of $MCT_TMP/wanted match in this order.
in_order()
{
	awk -F '\t' -v wanted="$MCT_TMP/wanted" '
		BEGIN {
			while ((getline line < wanted) > 0) {
				split(line, word, " ")
				func_re[++n] = "^(" word[1] ")$"
				caller_re[n] = "^(" word[2] ")$"
			}
			i = 1
		}
		i <= n && $3 ~ func_re[i] && $4 ~ caller_re[i] { i++ }
		END {
			if (i <= n)
				print "not found: " func_re[i], caller_re[i]
			exit i <= n || !n
		}' "$list"
}

# comm_of FUNCTION: print the comm of the first record of this system call
comm_of()
{
	awk -F '\t' -v re="^(__[a-z0-9]+_)?sys_$1(16)?$" \
		'$3 ~ re { print $5; exit }' "$list"
}

# The task has exited before its trace is read.
run_victim -n mct-victim -f "$MCT_TMP/file" calls
check "the task has exited" test ! -e "/proc/${pid:-self}"
check "the trace has records of its pid" test -s "$list"
cat > "$MCT_TMP/wanted" <<-'EOF'
	(__[a-z0-9]+_)?sys_openat .*
	do_filp_open do_sys_open(at2)?
	path_openat do_filp_open
	ksys_write .*
	vfs_write ksys_write
	ksys_read .*
	vfs_read ksys_read
	filename_lookup vfs_(statx|fstatat)
	path_lookupat filename_lookup
	do_exit .*
EOF
check "open, write, read, stat and exit are in order, with the right callers" \
	in_order
printf '%s\n' 'path_lookupat filename_lookup' 'vfs_write ksys_write' \
	> "$MCT_TMP/wanted"
check "another order of these calls is not found" not in_order

# From the first call under this name to the task's exit.
awk -F '\t' '/sys_openat\t/ { on = 1 } on { print $5 }' "$list" |
	sort -u > "$MCT_TMP/comms"
equal "each record carries the name of the exited task" \
	mct-victim "$(cat "$MCT_TMP/comms")"
equal "no other pid has the name of the exited task" 0 "$("$MCT_BIN/tracecheck" -l "$trace" |
	awk -F '\t' -v pid="$pid" '$5 == "mct-victim" && $2 != pid' | wc -l)"

run_victim -n renamed rename
equal "a renamed task is shown with its new name" \
	renamed "$(comm_of getuid)"
check "the renamed task is recorded until its exit" grep -q 'do_exit' "$list"

# The kernel names a script's task after the script.
cat > "$MCT_TMP/mct-script" <<-'EOF'
	#!/bin/sh
	exit 0
EOF
chmod 755 "$MCT_TMP/mct-script"
run_victim -n before -e "$MCT_TMP/mct-script" rename
equal "after exec the task carries the new program's name" \
	mct-script "$(awk -F '\t' '$3 == "do_exit" { print $5 }' "$list")"
cat > "$MCT_TMP/wanted" <<-'EOF'
	(__[a-z0-9]+_)?sys_getppid .*
	(__[a-z0-9]+_)?sys_getuid(16)? .*
	(__[a-z0-9]+_)?sys_execve .*
	begin_new_exec .*
	do_exit .*
EOF
check "calls before and after exec belong to one task" in_order

# A thread that is not the group leader and calls exec takes the leader's pid.
run_victim -n mct-thread -e "$MCT_TMP/mct-script" thread
thread=$(sed -n 's/^thread //p' "$said")
"$MCT_BIN/tracecheck" -l -p "${thread:-0}" "$trace" > "$list"
equal "the calls of a thread before its exec have the thread's name" \
	mct-thread "$(comm_of getppid)"
"$MCT_BIN/tracecheck" -l -p "${pid:-0}" "$trace" > "$list"
equal "its calls after exec have the program's name" \
	mct-script "$(awk -F '\t' '$3 == "do_exit" { comm = $5 } END { print comm }' "$list")"

# Many short-lived tasks: the rings must keep the name of each.
run_victim -n mct- many 40
"$MCT_BIN/tracecheck" -l "$trace" > "$list"
awk -F '\t' -v said="$said" '
	BEGIN { while ((getline line < said) > 0) {
			split(line, word, " ")
			name[word[2]] = word[3]
		} }
	$3 ~ /sys_getppid$/ && $2 in name {
		n++
		if ($5 != name[$2]) {
			print "pid", $2, "is", name[$2] ", shown as", $5
			bad++
		}
	}
	END { print n + 0, "found", bad + 0, "wrong" }' "$list" > "$MCT_TMP/many"
diag "of 40 short tasks: $(tail -n 1 "$MCT_TMP/many")"
at_least "short-lived tasks are found by pid" 10 \
	"$(awk 'END { print $1 }' "$MCT_TMP/many")"
check "each short-lived task has its own name" not grep "shown as" \
	"$MCT_TMP/many"
finish
