#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: A known task's system calls appear in order, with caller, pid and comm
# requires: root tracer helper:victim helper:tracecheck

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

plan 14

trace=$MCT_TMP/trace
list=$MCT_TMP/list
said=$MCT_TMP/said

# victim ARGS...: the trace of one, into $trace, and its pid, into $pid
run_victim()
{
	trace_on
	"$MCT_BIN/victim" -t "$MCT_TRACE" -c "$MCT_CTRL" "$@" > "$said"
	trace_off
	cat "$MCT_TRACE" > "$trace"
	pid=$(sed -n 's/^pid \([0-9]*\).*/\1/p' "$said" | tail -n 1)
	"$MCT_BIN/tracecheck" -l -p "${pid:-0}" "$trace" > "$list"
}

# Are standard input's "FUNCTION CALLER" expressions met in this order?
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

# comm_of FUNCTION: what the first such record's comm is
comm_of()
{
	awk -F '\t' -v re="^(__[a-z0-9]+_)?sys_$1(16)?$" \
		'$3 ~ re { print $5; exit }' "$list"
}

# The task is gone when its trace is read.
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
check "open, write, read, stat, exit: in order, with the right callers" \
	in_order
printf '%s\n' 'path_lookupat filename_lookup' 'vfs_write ksys_write' \
	> "$MCT_TMP/wanted"
check "and in no other order" not in_order

# From the first call under the name to the last breath.
awk -F '\t' '/sys_openat\t/ { on = 1 } on { print $5 }' "$list" |
	sort -u > "$MCT_TMP/comms"
equal "each record carries the name of the exited task" \
	mct-victim "$(cat "$MCT_TMP/comms")"
equal "no other pid carries it" 0 "$("$MCT_BIN/tracecheck" -l "$trace" |
	awk -F '\t' -v pid="$pid" '$5 == "mct-victim" && $2 != pid' | wc -l)"

run_victim -n renamed rename
equal "a task that takes another name is shown by it" \
	renamed "$(comm_of getuid)"
check "and goes on to its end" grep -q 'do_exit' "$list"

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
check "before and after are one task's" in_order

# Run by a thread that is not the process's first, a program gets the pid of that one.
run_victim -n mct-thread -e "$MCT_TMP/mct-script" thread
thread=$(sed -n 's/^thread //p' "$said")
"$MCT_BIN/tracecheck" -l -p "${thread:-0}" "$trace" > "$list"
equal "a thread that runs a program keeps the name of its calls before" \
	mct-thread "$(comm_of getppid)"
"$MCT_BIN/tracecheck" -l -p "${pid:-0}" "$trace" > "$list"
equal "and has the program's name after" \
	mct-script "$(awk -F '\t' '$3 == "do_exit" { comm = $5 } END { print comm }' "$list")"

# Many tasks that come and go: what was remembered of each must last.
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
at_least "short tasks are found by pid" 10 \
	"$(awk 'END { print $1 }' "$MCT_TMP/many")"
check "each has its own name, though long gone" not grep "shown as" \
	"$MCT_TMP/many"
finish
