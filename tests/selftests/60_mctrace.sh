#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: mctrace records everything, prints it as the kernel does, and restores all settings
# requires: root tracer hackbench mctrace helper:without

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=rings.sh
. "$(dirname "$0")/rings.sh"

mode=$MCT_DIR/mode
pid=$MCT_DIR/pid
filter=$MCT_DIR/filter
never=$MCT_DIR/notrace
triggers=$MCT_DIR/triggers

plan 180

at_end()
{
	put "" "$pid"
	put "" "$filter"
	put "" "$never"
	put "" "$triggers"
	put nocontext "$MCT_OPTIONS"
	[ ! -e "$mode" ] || put function "$mode"
	rings_restore
}

cd "$MCT_TMP" || exit
words='for i in 1 2 3; do ls / > /dev/null; done; :'

# settings: print all settings that mctrace changes, or must not change
settings()
{
	for file in ctrl tracing_on pid filter notrace options buffer_size_kb mode triggers \
		snapshot max_stack; do
		echo "$file:"
		cat "$MCT_DIR/$file" 2>/dev/null
	done
	cat "$MCT_SYSCTL"
	cat /sys/module/mctracer/parameters/dump 2>/dev/null
}

# says PATTERN COMMAND...: succeed if the command fails with status 1 or 2 and a matching message
says()
{
	local pattern=$1
	shift
	"$@" > out 2> err
	set -- $?
	cat err
	{ [ "$1" = 1 ] || [ "$1" = 2 ]; } && grep -q -e "$pattern" err
}

# status COMMAND...: print its exit status
status()
{
	"$@" > out 2> err
	echo $?
}

# as_before NAME: report whether all settings are as before
as_before()
{
	settings > after
	check "$1" cmp before after
}

# same NAME FILE: report whether mctrace report prints the same as the kernel
same()
{
	cat "$MCT_TRACE" > kernel
	mctrace report "$2" > report
	if cmp kernel report > out 2>&1; then
		ok "$1"
	else
		not_ok "$1" "$(cat out)"
		diff kernel report | diag_lines
	fi
}

# --- commands and lists
check "mctrace prints its version" sh -c 'mctrace --version | grep -q "^mctrace [0-9]"'
wrong=
for command in record report profile graph latency slow diff why flame export stat list start stop \
	show stream reset snapshot; do
	mctrace --help | grep -q "^  $command " || wrong="$wrong $command"
	mctrace $command --help | grep -q "^usage: mctrace $command" || wrong="$wrong help:$command"
	[ "$(status mctrace $command --nothing)" = 2 ] || wrong="$wrong option:$command"
done
equal "each command prints its usage" "" "$wrong"
check "a misspelled command is refused with a suggestion" \
	says "did you mean 'report'" mctrace repot
equal "mctrace lists as many functions as the file functions" "$(grep -c . "$MCT_DIR/functions")" \
	"$(mctrace list | grep -c .)"
equal "mctrace lists functions that match a pattern" \
	"$(grep '^vfs_re' "$MCT_DIR/functions")" "$(mctrace list 'vfs_re*')"
printf 'none' > types
if mctrace --version | grep -q '^libbpf '; then
	check "a file without types is an error" says 'types in types' mctrace list --btf types
else
	check "mctrace without libbpf reports that it knows no types" \
		says 'without libbpf' mctrace list --btf types
fi
check "a pattern without a match is an error" \
	says 'no function matches' mctrace list no_such_function
check "stat shows that nothing is traced" sh -c 'mctrace stat | grep -q "^tracer *off"'
check "a missing recording is an error" says 'mctrace record' mctrace report
check "a file that is no recording is an error" says 'no recording' mctrace report "$MCT_BIN/lib.sh"
check "root without CAP_SYS_ADMIN gets that reason" \
	says 'lacks CAP_SYS_ADMIN' "$MCT_BIN/without" sys_admin mctrace record true
check "root without CAP_SYSLOG gets that reason" \
	says 'lacks CAP_SYSLOG' "$MCT_BIN/without" syslog mctrace record true
mkdir -p empty
check "a directory as recording is an error" says 'empty' mctrace report empty

# --- a recording
# Use the size that mctrace sets, so that restoring the size does not move records.
put 8192 "$MCT_SIZE" || put 4096 "$MCT_SIZE"
settings > before
for how in "" "-t" "-c" "-t -c" "-g -T" "-g" "-g -c"; do
	case $how in *-g*)
		put graph "$mode" || {
			skip "record $how: report prints what the kernel does" \
				"this kernel does not see returns"
			skip "record $how: all settings are restored" \
				"this kernel does not see returns"
			skip "record $how: no record is missing" "this kernel does not see returns"
			continue
		}
	esac
	case $how in
	*-T*)		put notime "$MCT_OPTIONS" ;;
	*-[tg]*)	put time "$MCT_OPTIONS" ;;
	*)		put notime "$MCT_OPTIONS" ;;
	esac
	case $how in *-c*) put context "$MCT_OPTIONS" ;; *) put nocontext "$MCT_OPTIONS" ;; esac
	settings > before
	# shellcheck disable=SC2086	# a list of options
	mctrace record $how -o file ls / > out 2> said
	same "record $how: report prints what the kernel does" file
	as_before "record $how: all settings are restored"
	equal "record $how: no record is missing" \
		"$(header written kernel) written, 0 overwritten, 0 lost" \
		"$(tail -n 1 said | sed 's/;.*//')"
done
put notime "$MCT_OPTIONS"
put nocontext "$MCT_OPTIONS"
[ ! -e "$mode" ] || put function "$mode"
settings > before
if mctrace --version | grep -q '^zstd '; then
	mctrace record --compress zstd -q -o file sh -c "$words"
	same "record --compress zstd: report prints what the kernel does" file
	check "the compressed recording is smaller than kallsyms" \
		test "$(wc -c < file)" -lt "$(wc -c < /proc/kallsyms)"
else
	check "mctrace without zstd refuses to compress" \
		says 'without zstd' mctrace record --compress zstd true
	skip "the compressed recording is smaller than kallsyms" "mctrace was built without zstd"
fi
at_least "the recording has many entries" 1000 "$(header entries kernel)"
mctrace report < file - > report2
if mctrace --version | grep -q '^libdw '; then
	check "a file without source lines is an error" \
		says 'types: ' mctrace report --vmlinux types file
else
	check "mctrace without libdw reports that it knows no source lines" \
		says 'without libdw' mctrace report --vmlinux types file
fi
check "a recording can be read from standard input" cmp report report2
mctrace record -q -o - true > file2
check "a recording can be written into a pipe" sh -c \
	'mctrace record -q -o - ls / | mctrace report - | grep -q " vfs_open"'
check "a recording from a pipe can be read" sh -c 'mctrace report file2 | grep -q "<--"'
mctrace record -q -o file sh -c "$words"
equal "only the command and its children are recorded" "" \
	"$(mctrace report file | sed -n 's/^CPU [0-9]*: \([^:]*\):.*/\1/p' | sort -u |
		grep -vx -e mctrace -e sh -e ls)"
mctrace record -q -a -o file sleep 1
at_least "with --all all tasks are recorded" 3 \
	"$(mctrace report file | sed -n 's/^CPU [0-9]*: \([^:]*\):.*/\1/p' | sort -u | grep -c .)"
mctrace record -q -o file -l 'vfs_*,ksys_read' -n vfs_write ls / > /dev/null
equal "only the selected functions are recorded" "" "$(mctrace report file |
	sed -n 's/^CPU [^ ]* [^ ]* \([^+]*\)+.*/\1/p' | sort -u |
	grep -v -e '^vfs_' -e '^ksys_read' ; mctrace report file | grep ' vfs_write+')"
sleep 60 &
sleeper=$!
mctrace record -q -o file -P $sleeper sh -c 'kill -CONT "$1"' 2> /dev/null
check "a pid and a command together are refused" says 'either --pid' mctrace record -P $sleeper ls
kill $sleeper

# --- exit status
equal "record exits with the command's status" 7 "$(status mctrace record -o file sh -c 'exit 7')"
equal "record's status shows the command's signal" \
	137 "$(status mctrace record -o file sh -c 'kill -KILL $$')"
equal "record exits with 0 if --seconds ends it" \
	0 "$(status mctrace record --seconds 1 -o file sleep 10)"
equal "record exits with 127 if the command does not exist" \
	127 "$(status mctrace record -o file no_such_command)"
check "the message is that of the shell" grep -q 'no_such_command: No such file' err
as_before "all settings are restored after these"
check "an unknown function is refused with the kernel's reason" \
	says 'no such function' mctrace record -o file -l no_such_function ls
as_before "all settings are restored after an unknown function"

# in_background ARGUMENT...: start mctrace record as $recorder, and wait until it records
in_background()
{
	rm -f file
	mctrace record -o file "$@" > out 2> err &
	recorder=$!
	wait_until "$MCT_PATIENCE" copying
}

# child NAME: print the pid of the recorder's child of this name
child()
{
	for p in /proc/[0-9]*; do
		grep -qs "^PPid:[[:space:]]*$recorder\$" "$p/status" &&
			[ "$(cat "$p/comm" 2>/dev/null)" = "$1" ] && echo "${p#/proc/}"
	done | head -n 1
}

# The process that copies the rings to the file.
follower()
{
	child mctrace
}

# The process that restores all settings.
keeper()
{
	child mctrace-restore
}

recording()
{
	[ "$(cat "$MCT_CTRL" "$MCT_DIR/tracing_on" | xargs)" = "1 1" ]
}

# Recording starts shortly before the process that restores the settings exists.
copying()
{
	[ -n "$(follower)" ] && recording
}

gone()
{
	[ "$(cat "$MCT_CTRL")" = 0 ] && settings > after && cmp -s before after
}

in_background -l 'vfs_*'
check "record runs until it is stopped" recording
check "a second record is refused and names the first" \
	says "process $recorder (mctrace)" mctrace record -o file2 ls
check "start is refused and names the running record" \
	says "process $recorder (mctrace)" mctrace start
check "stat names the running record" \
	sh -c "mctrace stat | grep -q 'used by *process $recorder (mctrace)'"
kill -INT $recorder
wait $recorder
equal "Ctrl-C ends record with success" 0 $?
as_before "all settings are restored after Ctrl-C"
check "the recording can be read after Ctrl-C" sh -c 'mctrace report file > report'

in_background -l 'vfs_*'
kill -KILL $recorder
wait $recorder
check "all settings are restored after record is killed" wait_until "$MCT_PATIENCE" gone
mctrace report file > report 2> err
equal "the incomplete recording can be read" 1 $?
check "report names the end of an incomplete recording" \
	grep -q 'offset [0-9]*: the recording is not complete' err

in_background
kill -KILL "$(follower)"
wait $recorder
equal "record fails if its copying process is killed" 1 $?
as_before "all settings are restored after the copying process is killed"
check "record reports the signal of its copying process" grep -q 'killed by signal 9' err
check "record reports a full disk" \
	says 'No space left' mctrace record -q -o /dev/full sh -c "$words"
as_before "all settings are restored after a full disk"
mctrace record -q -o - sh -c "$words" 2> err | head -c 100 > out
check "all settings are restored after a broken pipe" wait_until "$MCT_PATIENCE" gone
check "record reports a broken pipe" grep -q 'Broken pipe' err

has_ended()
{
	! [ -e "/proc/$1" ] || grep -q '^State:.*zombie' "/proc/$1/status"
}

# ended HOW:SECONDS COMMAND...: end the command in this way after this time, and print all settings
# that are not restored
ended()
{
	local how=${1%:*} moment=${1#*:}
	shift
	"$@" > out 2> err &
	recorder=$!
	sleep "$moment"
	case $how in
	keeper | follower)	kill -KILL "$($how)" ;;
	all)			kill -KILL $recorder "$(follower)" ;;
	*)			kill "-$how" $recorder ;;
	esac 2> /dev/null
	# Some signals are ignored, and the process to kill may not exist yet.
	case $how in
	PIPE | XFSZ | keeper | follower)
		how=INT
		sleep 0.1
		kill -INT $recorder 2> /dev/null ;;
	esac
	# A shell's background command ignores these two until mctrace begins.
	case $how in
	INT | QUIT)	wait_until 3 has_ended $recorder || kill "-$how" $recorder ;;
	esac
	wait $recorder
	wait_until "$MCT_PATIENCE" gone && return
	echo "$how after $moment s: $*"
	cat err
	diff before after
	mctrace reset --force
	cp -f after before
}

# End at moments before, while and after mctrace changes settings, one signal each; more for
# signals that can't be caught.
for how in HUP:0 INT:0.1 QUIT:0.3 ILL:1 ABRT:0 BUS:0.1 FPE:0.3 USR1:1 SEGV:0 USR2:0.1 PIPE:0.3 \
	ALRM:1 TERM:0.3 XCPU:0 XFSZ:0.1 SYS:0.3 KILL:0 KILL:0.1 KILL:0.3 KILL:1 all:0.1 all:0.3 \
	all:1 follower:0.3 follower:1 keeper:0.1 keeper:0.3 keeper:1; do
	equal "ended by ${how%:*} after ${how#*:} s, record restores all settings" "" \
		"$(ended "$how" mctrace record -q -o file)"
done
for how in INT:0.3 KILL:0.3 KILL:1 TERM:1 SEGV:0.1 PIPE:0.3 keeper:1; do
	equal "ended by ${how%:*} after ${how#*:} s, stream restores all settings" "" \
		"$(ended "$how" mctrace stream -l 'vfs_*')"
done
for how in INT:1 KILL:0.3 SEGV:1 keeper:0.3; do
	equal "ended by ${how%:*} after ${how#*:} s, why restores all settings" "" \
		"$(ended "$how" mctrace why sleep 1)"
done
in_background
kill -KILL $recorder
check "record waits until the settings of a killed record are restored" \
	mctrace record -q -o file2 true
wait $recorder
wrong=
for limit in "-f 0" "-f 64" "-n 3" "-n 5" "-n 6" "-n 7" "-n 8" "-n 10" "-v 4096" "-v 16384" \
	"-v 32768" "-v 65536" "-t 0"; do
	# shellcheck disable=SC2086	# an option and its value
	(ulimit $limit; mctrace record -q -o file true) > out 2> err
	wait_until "$MCT_PATIENCE" gone || wrong="$wrong $limit: $(cat err; diff before after)"
done
equal "all settings are restored after failures by low limits" "" "$wrong"
mctrace record -q -o file true <&- >&- 2>&-
equal "a recording with descriptors 0 to 2 closed is valid" "0 0" \
	"$? $(status mctrace report file)"
mctrace record -q -o file no_such_command 2> err
check "an unknown command leaves the old recording unchanged" sh -c 'mctrace report file > report'
mctrace record -q -o file true
check "the previous recording is kept as file.old" sh -c 'mctrace report file.old | cmp - report'
check "a duration of 0 is refused" says 'wants 1 at least' mctrace record --seconds 0
{ mctrace stream -l sched_cpu_dying 2> err; echo $? > ended; } | true
equal "stream ends when its pipe is closed" "0 0" "$(cat ended "$MCT_CTRL" | xargs)"
if mctrace record -q -a -o file sh -c "cat $pid > list; $words" && grep -q not list; then
	# The command's process has this name, too, until its exec().
	sed -n 's/^not \(.*\)/:\1 /p' list > own
	equal "mctrace itself is not recorded" 0 "$(mctrace report file | grep -c -F -f own)"
	timeout -s INT 2 mctrace stream -l vfs_read > out 2> err
	check "stream does not print its own calls" test "$(wc -l < out)" -lt 1000
else
	skip "mctrace itself is not recorded" "this kernel can't leave processes out"
	skip "stream does not print its own calls" "this kernel can't leave processes out"
fi
if command -v unshare > /dev/null; then
	# shellcheck disable=SC2016
	unshare -p -f sh -c 'mctrace record -q -o file sh -c "$1"' sh "$words" 2> err
	at_least "the command is recorded in a pid namespace" 1000 \
		"$(mctrace report file | grep -c ' <-- ')"
else
	skip "the command is recorded in a pid namespace" "no unshare"
fi
in_background
sleep 2
kill -KILL $recorder "$(follower)"
at_least "records are in the file a second later" 100 \
	"$(mctrace report file 2> /dev/null | head -n 1000 | grep -c ' <-- ')"
wait_until "$MCT_PATIENCE" gone
settings > before

# --- more records than mctrace can copy
put 64 "$MCT_SIZE"
mctrace record -q -b 64 -a -o file hackbench -g 1 -f 10 -l 50 > /dev/null 2>&1
mctrace report file > report
equal "overwritten records are counted" "$(header written report)" \
	"$(($(header entries report) + $(header overwritten report)))"
lost=$(awk '/^# lost [0-9]+$/ { n += $3 } END { print n + 0 }' report)
diag "$(header written report) written, $(header entries report) entries, $lost between them"
equal "the entries count is the number of printed records" \
	"$(header entries report)" "$(grep -c '^CPU ' report)"
check "the gaps are at most the overwritten records" \
	test "$lost" -le "$(header overwritten report)"

# --- trees
mctrace record -q -o file -l 'vfs_read,ksys_read,rw_verify_area,vfs_open' \
	dd if=/proc/uptime of=out 2> /dev/null
mctrace report file > report
mctrace report --tree file > tree
equal "a tree has each call once" "$(grep -c ' <-- ' report)" \
	"$(grep -cE '\|  .*\(\)(;| \{)$' tree)"
equal "each call of the tree is closed, or at the end" \
	"" "$(sed -n 's/^[^|]*|\( *\)} \(.*\)/\1\2() {/p' tree |
	sort -u | while read -r line; do grep -qF -- "$line" tree || echo "$line"; done)"
check "a call is inside its caller" sh -c \
	"grep -A 1 'ksys_read() {' tree | grep -q '    vfs_read()' || ! cat tree"
if put graph "$mode" 2>/dev/null; then
	mctrace record -q -g -o file ls / > out
	put function "$mode"
	mctrace report file > report
	mctrace report --tree file > tree
	diag "$(grep -c . tree) lines"
	equal "a tree with returns has each call once" "$(grep -c ' <-- ' report)" \
		"$(grep -cE '\|  .*\(\)(;| \{)( /\* goes on \*/)?$' tree)"
	equal "each known return has its duration" \
		"$(grep -cE ' (returns|goes on) after ' report)" \
		"$(grep -cE '^. *~?[0-9]+\.[0-9]{3} us  \|' tree)"
else
	skip "a tree with returns has each call once" "this kernel does not see returns"
	skip "durations" "this kernel does not see returns"
fi

# --- answers
mctrace record -q -o file sh -c "$words"
mctrace report file > report
equal "a profile counts each call" "$(grep -c ' <-- ' report)" \
	"$(mctrace profile file | awk '$1 ~ /^[0-9]+$/ { n += $1 } END { print n }')"
equal "folded stacks count each call" "$(grep -c ' <-- ' report)" \
	"$(mctrace export --to folded file | awk '{ n += $NF } END { print n }')"
equal "a profile has the same callers of a function as the report" \
	"$(sed -n 's/.* vfs_read+[^ ]* <-- \([^+]*\)+.*/\1/p' report | sort -u | xargs)" \
	"$(mctrace profile --callers file | awk '
		/ vfs_read$/ { its = 1; next } its && / <- / { print $NF; next } { its = 0 }' |
		sort -u | xargs)"
check "latency without returns explains how to record them" \
	says 'record -g' mctrace latency vfs_read file
check "a function without calls is an error" \
	says 'was not called' mctrace graph no_such_function file
check "flame writes an SVG" sh -c 'mctrace flame -o - file | grep -q "</svg>"'
check "diff finds no difference between equal recordings" sh -c \
	'[ -z "$(mctrace diff --json file file)" ]'
equal "JSON has each event" "$(grep -c '^CPU ' report)" \
	"$(mctrace report --json file | grep -c '^{')"
check "an unknown export format is refused" \
	says "no form 'nothing'" mctrace export --to nothing file
if put graph "$mode" 2>/dev/null; then
	put function "$mode"
	settings > before
	mctrace record -q -g -o file sh -c "$words"
	equal "the sum of self times is the sum of outermost calls" \
		"$(mctrace report --tree --json file | sed -n 's/.*"self_ns":\([0-9]*\).*/\1/p' |
			awk '{ n += $1 } END { printf "%.0f", n }')" \
		"$(mctrace export --to folded file | awk '{ n += $NF } END { printf "%.0f", n }')"
	equal "latency counts the same calls as the profile" \
		"$(mctrace profile --json file |
			sed -n 's/.*"vfs_open".*"calls":\([0-9]*\)}/\1/p')" \
		"$(mctrace latency vfs_open --json file | sed -n 's/.*"calls":\([0-9]*\),.*/\1/p')"
	check "live latency counts calls" sh -c \
		'mctrace latency vfs_open --live --json ls / | grep -q "\"calls\":[1-9]"'
	as_before "all settings are restored after live latency"
	mctrace record -q -g -o slept sleep 1
	check "a sleep counts as time off the CPU" \
		sh -c 'mctrace profile --json slept | grep nanosleep |
		sed -n "s/.*\"total_ns\":\([0-9]*\).*\"total_cpu_ns\":\([0-9]*\).*/\1 \2/p" |
		awk "\$1 >= 1000000000 && \$2 < 500000000 { slept = 1 } END { exit !slept }"'
	check "live latency reports a function without calls" says 'was not called' \
		mctrace latency kthread_stop --live true
	check "slow calls are compared with usual ones" sh -c \
		'mctrace slow vfs_open file | grep -q "^# usual: [1-9]"'
	mctrace why -e ENOENT cat /proc/no_such_file > out 2> err
	check "why finds the system call" grep -q 'sys_openat returned -ENOENT' out
	check "why marks the function that failed first" grep -q '<- first' out
	equal "why marks one function per failed system call" "$(grep -c '<- first' out)" \
		"$(grep -c ' returned -ENOENT' out)"
	as_before "all settings are restored after why"
	PATH=/nonexist:$PATH mctrace why -e ENOENT sh -c 'test -e /nonexist' > out 2> err
	check "why finds a system call whose entry ends with a jump" \
		grep -q 'sys_.*stat.* returned -ENOENT' out
	equal "why does not show mctrace's own search for the command" "" "$(grep execve out)"
	sh -c 'while :; do read -r line < /nonexist; sleep 1; done' 2> /dev/null &
	sleeper=$!
	mctrace why -P $sleeper --seconds 3 > out 2> err
	kill $sleeper
	check "why works on a running process" \
		grep -q "^sh:$sleeper .*sys_open.* returned -ENOENT" out
	check "why reports that no system call failed" sh -c \
		'mctrace why -e EDOM true | grep -q "no system call failed"'
else
	for test in self latency live before slept called slow why first one nothing jumps own \
			process none; do
		skip "returns: $test" "this kernel does not see returns"
	done
fi
sleep 100 &
sleeper=$!
put $sleeper "$pid"
(sleep 1; kill $sleeper) &
mctrace record -q -o file sleep 2
equal "record fails if it can't restore a pid whose process has exited" 1 $?
check "the file pid then still excludes all other tasks" grep -qx '[0-9]*' "$pid"
put "" "$pid"
mctrace record -q -o file sleep 100 &
recorder=$!
wait_until "$MCT_PATIENCE" recording
kill -TERM $recorder
wait $recorder
equal "a signal ends record and its command" "143 0" "$? $(ps | grep -c "[s]leep 100")"
mctrace record -q -R vfs_open:mark -o file ls / > out
check "record sets a trigger" sh -c "mctrace report file | grep -q '^# mark .* vfs_open+'"
equal "record removes its trigger" "" "$(cat "$triggers")"
if mctrace record -q -l 'vfs_*' -R vfs_read:args -o file cat /proc/self/stat > out 2> err; then
	same "report prints the arguments that the kernel shows" file
	check "the report has arguments" grep -q ' vfs_read+[^ ]* (0x' report
else
	skip "report prints the arguments that the kernel shows" "$(cat err)"
	skip "the report has arguments" "$(cat err)"
fi

# args FUNCTION COMMAND...: record the command and print the function's arguments
args()
{
	local function=$1
	shift
	mctrace record -q -R "$function:args" -o file "$@" > out 2> err
	mctrace report --btf /sys/kernel/btf/vmlinux file |
		sed -n "s/^.* $function+[^ ]* (\(.*\)) <-- .*/\1/p"
}

if [ -e /sys/kernel/btf/vmlinux ] && mctrace --version | grep -q '^libbpf '; then
	args do_filp_open cat /proc/uptime > said
	check "a name behind an argument is shown in its place" \
		grep -q '^dfd=-100, pathname="/proc/uptime", op=0x[0-9a-f]*$' said
	check "a name behind an argument is in JSON" sh -c \
		'mctrace report --json file | grep -q "\"string\":\"/proc/uptime\""'
	args vfs_write echo word > said
	check "a user pointer is shown as an address" grep -q ', buf=0x[0-9a-f]*, count=5, ' said
	equal "a user pointer is not shown as a string" "" "$(grep '"' said)"
else
	for test in name JSON address string; do
		skip "strings: $test" "types are not known here"
	done
fi

# --- damaged files
mctrace record -q -o file -l 'vfs_*' ls / > /dev/null
size=$(wc -c < file)
wrong=
for cut in 0 1 15 16 17 55 56 57 100 $((size / 3)) $((size / 2)) $((size - 41)) $((size - 1)); do
	head -c "$cut" file > cut
	[ "$(status mctrace report cut)" = 1 ] || wrong="$wrong $cut"
	grep -q -e 'offset' -e 'is empty' err || wrong="$wrong $cut:silent"
done
equal "report names the offset where a file is cut" "" "$wrong"
wrong=
i=0
while [ $i -lt 60 ]; do
	# Damage each part: the beginning, the names of functions, the words.
	at=$(((i * 7919 + i * i * 104729) % size))
	[ $((i % 3)) -gt 0 ] || at=$((at % 4096))
	cp file cut
	printf "\\$((i * 5 % 4))$((i * 3 % 8))$((i % 8))" |
		dd of=cut bs=1 seek=$at conv=notrunc 2> /dev/null
	[ "$(status timeout 60 mctrace report cut)" -le 1 ] || wrong="$wrong $i:$at"
	[ "$(status timeout 60 mctrace report --tree cut)" -le 1 ] || wrong="$wrong tree:$i:$at"
	i=$((i + 1))
done
equal "report survives $i files with one wrong byte" "" "$wrong"

# --- start, stop, show, stream, reset
mctrace start -l 'vfs_*' -t -R 'vfs_*:count'
cat /proc/uptime > out
check "start switches the tracer on" grep -q 1 "$MCT_CTRL"
check "start sets its options" sh -c "mctrace show | grep -q '^\[.* vfs_read+'"
check "a second start is refused" says 'on already' mctrace start
mctrace stop
equal "stop switches the tracer off" 0 "$(cat "$MCT_CTRL")"
mctrace stat --openmetrics > out
equal "metrics contain the counts of stats" "$(awk '!/^#/ { print $1, $3 }' "$MCT_STATS")" \
	"$(sed -n 's/^mctracer_written_total{cpu="\(.*\)"} /\1 /p' out)"
equal "metrics contain each function's calls, which a trigger has counted" \
	"$(sed -n 's/^#\t\([0-9]*\)\t/\1 /p' "$triggers")" \
	"$(sed -n 's/.*_calls_total{trigger="vfs_\*:count",function="\(.*\)"} \(.*\)/\2 \1/p' out)"
check "some of them have calls" grep -q 'function="vfs_read"} [1-9]' out
mctrace reset
equal "reset switches kernel.mcount_enabled off" 0 "$(cat "$MCT_SYSCTL")"
equal "reset restores all settings" \
	notime "$(grep time "$MCT_OPTIONS"; cat "$filter" "$pid" "$never")"
mctrace start -l 'vfs_*'
cat /proc/uptime > out
echo T > /proc/sysrq-trigger
mctrace stop
mctrace show > report
check "record refuses to overwrite a crash's frozen records" \
	says 'frozen (sysrq): .*mctrace show' mctrace record -q -o file2 true
# shellcheck disable=SC2016
check "stream, start and reset refuse to overwrite frozen records" sh -c \
	'! mctrace stream 2> err && ! mctrace start 2> err && ! mctrace reset 2> err'
mctrace show > kernel
check "the refused commands keep the frozen records" cmp report kernel
mctrace reset --force
check "reset --force removes the frozen records" \
	sh -c "! grep -q frozen '$MCT_STATS' && ! mctrace show | grep ' <-- '"
mctrace stream -l 'vfs_*' > out 2> err &
recorder=$!
wait_until "$MCT_PATIENCE" recording
cat /proc/uptime > /dev/null
wait_until "$MCT_PATIENCE" grep -q vfs_read out
kill -INT $recorder
wait $recorder
equal "Ctrl-C ends stream with success" "0 0" "$? $(cat "$MCT_CTRL")"
check "stream prints new records" grep -q ' vfs_read+' out
finish
