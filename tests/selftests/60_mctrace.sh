#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: mctrace records all of it, prints it as the kernel does, and leaves nothing behind
# requires: root tracer hackbench mctrace

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

plan 175

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

# settings: all that mctrace sets
settings()
{
	for file in ctrl tracing_on pid filter notrace options buffer_size_kb mode triggers; do
		echo "$file:"
		cat "$MCT_DIR/$file" 2>/dev/null
	done
	cat "$MCT_SYSCTL"
}

# says PATTERN COMMAND...: it fails, by a status of 1 or 2, and this is what it says
says()
{
	local pattern=$1
	shift
	"$@" > out 2> err
	set -- $?
	cat err
	{ [ "$1" = 1 ] || [ "$1" = 2 ]; } && grep -q -e "$pattern" err
}

# status COMMAND...: how it ends
status()
{
	"$@" > out 2> err
	echo $?
}

# as_before NAME: nothing is set otherwise
as_before()
{
	settings > after
	check "$1" cmp before after
}

# same NAME FILE: report prints what the kernel does
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

# --- what there is
check "it has a version" sh -c 'mctrace --version | grep -q "^mctrace [0-9]"'
wrong=
for command in record report profile graph latency slow diff why flame export stat list start stop \
	show stream reset snapshot; do
	mctrace --help | grep -q "^  $command " || wrong="$wrong $command"
	mctrace $command --help | grep -q "^usage: mctrace $command" || wrong="$wrong help:$command"
	[ "$(status mctrace $command --nothing)" = 2 ] || wrong="$wrong option:$command"
done
equal "each command tells how to use it" "" "$wrong"
check "a name that is nearly a command's is not taken for it" \
	says "did you mean 'report'" mctrace repot
equal "functions are listed as they are in the file" "$(grep -c . "$MCT_DIR/functions")" \
	"$(mctrace list | grep -c .)"
equal "some of them" "$(grep '^vfs_re' "$MCT_DIR/functions")" "$(mctrace list 'vfs_re*')"
printf 'none' > types
if mctrace --version | grep -q '^libbpf '; then
	check "types are not to be found everywhere" says 'types in types' mctrace list --btf types
else
	check "it says that it knows no types" says 'without libbpf' mctrace list --btf types
fi
check "none is an error" says 'no function matches' mctrace list no_such_function
check "it tells that nothing is traced" sh -c 'mctrace stat | grep -q "^tracer *off"'
check "a recording that is not there" says 'mctrace record' mctrace report
check "a file that is none" says 'no recording' mctrace report "$MCT_BIN/lib.sh"
mkdir -p empty
check "nor is a folder" says 'empty' mctrace report empty

# --- a recording
# As large as it wants it: what is there is not moved when it is set back.
put 8192 "$MCT_SIZE" || put 4096 "$MCT_SIZE"
settings > before
for how in "" "-t" "-c" "-t -c" "-g -T" "-g" "-g -c"; do
	case $how in *-g*)
		put graph "$mode" || {
			skip "record $how" "this kernel does not see returns"
			skip "record $how: settings" "this kernel does not see returns"
			skip "record $how: all of it" "this kernel does not see returns"
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
	as_before "record $how: and all is set as it was"
	equal "record $how: all of it is there" \
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
	check "all is smaller then than the names of functions alone else" \
		test "$(wc -c < file)" -lt "$(wc -c < /proc/kallsyms)"
else
	check "what it can't do it says" says 'without zstd' mctrace record --compress zstd true
	skip "nothing is compressed" "mctrace was built without zstd"
fi
at_least "it is not little" 1000 "$(header entries kernel)"
mctrace report < file - > report2
if mctrace --version | grep -q '^libdw '; then
	check "lines are not to be found everywhere" \
		says 'types: ' mctrace report --vmlinux types file
else
	check "it says that it knows no lines" \
		says 'without libdw' mctrace report --vmlinux types file
fi
check "read from standard input" cmp report report2
mctrace record -q -o - true > file2
check "written into a pipe" sh -c \
	'mctrace record -q -o - ls / | mctrace report - | grep -q " vfs_open"'
check "what was written so can be read" sh -c 'mctrace report file2 | grep -q "<--"'
mctrace record -q -o file sh -c "$words"
equal "with a command only that is recorded, and its children" "" \
	"$(mctrace report file | sed -n 's/^CPU [0-9]*: \([^:]*\):.*/\1/p' | sort -u |
		grep -vx -e mctrace -e sh -e ls)"
mctrace record -q -a -o file sleep 1
at_least "with --all everything is" 3 \
	"$(mctrace report file | sed -n 's/^CPU [0-9]*: \([^:]*\):.*/\1/p' | sort -u | grep -c .)"
mctrace record -q -o file -l 'vfs_*,ksys_read' -n vfs_write ls / > /dev/null
equal "chosen functions are" "" "$(mctrace report file |
	sed -n 's/^CPU [^ ]* [^ ]* \([^+]*\)+.*/\1/p' | sort -u |
	grep -v -e '^vfs_' -e '^ksys_read' ; mctrace report file | grep ' vfs_write+')"
sleep 60 &
sleeper=$!
mctrace record -q -o file -P $sleeper sh -c 'kill -CONT "$1"' 2> /dev/null
check "a pid and a command are too much" says 'either --pid' mctrace record -P $sleeper ls
kill $sleeper

# --- how it ends
equal "the status is the command's" 7 "$(status mctrace record -o file sh -c 'exit 7')"
equal "or says which signal it got" 137 "$(status mctrace record -o file sh -c 'kill -KILL $$')"
equal "what --seconds ends has not failed" 0 "$(status mctrace record --seconds 1 -o file sleep 10)"
equal "or that there is no such command" 127 "$(status mctrace record -o file no_such_command)"
check "what it says is what the shell says" grep -q 'no_such_command: No such file' err
as_before "after all that nothing is set"
check "a function that is not there is refused, with the kernel's reason" \
	says 'no such function' mctrace record -o file -l no_such_function ls
as_before "and nothing was set"

# in_background ARGUMENT...: mctrace record, $recorder, which has begun
in_background()
{
	rm -f file
	mctrace record -o file "$@" > out 2> err &
	recorder=$!
	wait_until "$MCT_PATIENCE" copying
}

# child NAME: the recorder's child of this name
child()
{
	for p in /proc/[0-9]*; do
		grep -qs "^PPid:[[:space:]]*$recorder\$" "$p/status" &&
			[ "$(cat "$p/comm" 2>/dev/null)" = "$1" ] && echo "${p#/proc/}"
	done | head -n 1
}

# The process that copies.
follower()
{
	child mctrace
}

# The process that sets everything back.
keeper()
{
	child mctrace-restore
}

recording()
{
	[ "$(cat "$MCT_CTRL" "$MCT_DIR/tracing_on" | xargs)" = "1 1" ]
}

# All is set a moment before there is a process that would set it back.
copying()
{
	[ -n "$(follower)" ] && recording
}

gone()
{
	[ "$(cat "$MCT_CTRL")" = 0 ] && settings > after && cmp -s before after
}

in_background -l 'vfs_*'
check "it goes on while nobody ends it" recording
check "another one is refused, and told who is the first" \
	says "process $recorder (mctrace)" mctrace record -o file2 ls
check "also one that only sets" says "process $recorder (mctrace)" mctrace start
check "and who asks" sh -c "mctrace stat | grep -q 'used by *process $recorder (mctrace)'"
kill -INT $recorder
wait $recorder
equal "Ctrl-C ends it well" 0 $?
as_before "and all is set as it was"
check "the file can be read" sh -c 'mctrace report file > report'

in_background -l 'vfs_*'
kill -KILL $recorder
wait $recorder
check "nor does anything stay on if it is killed" wait_until "$MCT_PATIENCE" gone
mctrace report file > report 2> err
equal "what it had written can be read" 1 $?
check "and it is said that there is no more" grep -q 'offset [0-9]*: the recording has not' err

in_background
kill -KILL "$(follower)"
wait $recorder
equal "nor if the process that copies is" 1 $?
as_before "all is set as it was"
check "and it is said" grep -q 'killed by signal 9' err
check "a full disk" says 'No space left' mctrace record -q -o /dev/full sh -c "$words"
as_before "changes nothing"
mctrace record -q -o - sh -c "$words" 2> err | head -c 100 > out
check "nor does a pipe that nobody reads" wait_until "$MCT_PATIENCE" gone
check "which is said" grep -q 'Broken pipe' err


# ended HOW:SECONDS COMMAND...: kill it so after these seconds; all must be as before then
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
	# Some are ignored, and the process to be killed may not be there yet.
	case $how in
	PIPE | XFSZ | keeper | follower)	sleep 0.1; kill -INT $recorder 2> /dev/null ;;
	esac
	wait $recorder
	wait_until "$MCT_PATIENCE" gone && return
	echo "$how after $moment s: $*"
	cat err
	diff before after
	mctrace reset --force
	cp -f after before
}

# Moments before, while and after it sets the tracer, a signal each; more for what nobody can catch.
for how in HUP:0 INT:0.1 QUIT:0.3 ILL:1 ABRT:0 BUS:0.1 FPE:0.3 USR1:1 SEGV:0 USR2:0.1 PIPE:0.3 \
	ALRM:1 TERM:0.3 XCPU:0 XFSZ:0.1 SYS:0.3 KILL:0 KILL:0.1 KILL:0.3 KILL:1 all:0.1 all:0.3 \
	all:1 follower:0.3 follower:1 keeper:0.1 keeper:0.3 keeper:1; do
	equal "ended by ${how%:*} after ${how#*:} s, record leaves all as it was" "" \
		"$(ended "$how" mctrace record -q -o file)"
done
for how in INT:0.3 KILL:0.3 KILL:1 TERM:1 SEGV:0.1 PIPE:0.3 keeper:1; do
	equal "ended by ${how%:*} after ${how#*:} s, stream does, too" "" \
		"$(ended "$how" mctrace stream -l 'vfs_*')"
done
for how in INT:1 KILL:0.3 SEGV:1 keeper:0.3; do
	equal "ended by ${how%:*} after ${how#*:} s, why does, too" "" \
		"$(ended "$how" mctrace why sleep 1)"
done
in_background
kill -KILL $recorder
check "the next one waits for what a killed one has set to be set back" \
	mctrace record -q -o file2 true
wait $recorder
wrong=
for limit in "-f 0" "-f 64" "-n 3" "-n 5" "-n 6" "-n 7" "-n 8" "-n 10" "-v 4096" "-v 16384" \
	"-v 32768" "-v 65536" "-t 0"; do
	# shellcheck disable=SC2086	# an option and its value
	(ulimit $limit; mctrace record -q -o file true) > out 2> err
	wait_until "$MCT_PATIENCE" gone || wrong="$wrong $limit: $(cat err; diff before after)"
done
equal "nor do low limits leave anything set" "" "$wrong"
mctrace record -q -o file true <&- >&- 2>&-
equal "with descriptors 0 to 2 closed the recording is good" "0 0" \
	"$? $(status mctrace report file)"
mctrace record -q -o file no_such_command 2> err
check "a command that there is not destroys no recording" sh -c 'mctrace report file > report'
mctrace record -q -o file true
check "the recording before is kept" sh -c 'mctrace report file.old | cmp - report'
check "to record for no time is a slip" says 'wants 1 at least' mctrace record --seconds 0
{ mctrace stream -l sched_cpu_dying 2> err; echo $? > ended; } | true
equal "stream ends when nobody reads it" "0 0" "$(cat ended "$MCT_CTRL" | xargs)"
if mctrace record -q -a -o file sh -c "cat $pid > list; $words" && grep -q not list; then
	# The command's process has this name, too, until its exec().
	sed -n 's/^not \(.*\)/:\1 /p' list > own
	equal "mctrace itself is not recorded" 0 "$(mctrace report file | grep -c -F -f own)"
	timeout -s INT 2 mctrace stream -l vfs_read > out 2> err
	check "nor is stream flooded by itself" test "$(wc -l < out)" -lt 1000
else
	skip "mctrace itself is not recorded" "this kernel can't leave processes out"
	skip "nor is stream flooded by itself" "this kernel can't leave processes out"
fi
if command -v unshare > /dev/null; then
	# shellcheck disable=SC2016
	unshare -p -f sh -c 'mctrace record -q -o file sh -c "$1"' sh "$words" 2> err
	at_least "in a pid namespace COMMAND is recorded" 1000 \
		"$(mctrace report file | grep -c ' <-- ')"
else
	skip "in a pid namespace COMMAND is recorded" "no unshare"
fi
in_background
sleep 2
kill -KILL $recorder "$(follower)"
at_least "what was recorded is in the file a second later" 100 \
	"$(mctrace report file 2> /dev/null | head -n 1000 | grep -c ' <-- ')"
wait_until "$MCT_PATIENCE" gone
settings > before

# --- what the kernel is quicker with
put 64 "$MCT_SIZE"
mctrace record -q -b 64 -a -o file hackbench -g 1 -f 10 -l 50 > /dev/null 2>&1
mctrace report file > report
equal "what was overwritten is counted" "$(header written report)" \
	"$(($(header entries report) + $(header overwritten report)))"
lost=$(awk '/^# lost [0-9]+$/ { n += $3 } END { print n + 0 }' report)
diag "$(header written report) written, $(header entries report) entries, $lost between them"
equal "entries are what is printed" "$(header entries report)" "$(grep -c '^CPU ' report)"
check "and what is missing between is no more than that" \
	test "$lost" -le "$(header overwritten report)"

# --- trees
mctrace record -q -o file -l 'vfs_read,ksys_read,rw_verify_area,vfs_open' \
	dd if=/proc/uptime of=out 2> /dev/null
mctrace report file > report
mctrace report --tree file > tree
equal "a tree has each call once" "$(grep -c ' <-- ' report)" \
	"$(grep -cE '\|  .*\(\)(;| \{)$' tree)"
equal "what opens is closed, or at the end" "" "$(sed -n 's/^[^|]*|\( *\)} \(.*\)/\1\2() {/p' tree |
	sort -u | while read -r line; do grep -qF -- "$line" tree || echo "$line"; done)"
check "a call is within its caller" sh -c \
	"grep -A 1 'ksys_read() {' tree | grep -q '    vfs_read()' || ! cat tree"
if put graph "$mode" 2>/dev/null; then
	mctrace record -q -g -o file ls / > out
	put function "$mode"
	mctrace report file > report
	mctrace report --tree file > tree
	diag "$(grep -c . tree) lines"
	equal "with returns, too" "$(grep -c ' <-- ' report)" \
		"$(grep -cE '\|  .*\(\)(;| \{)( /\* goes on \*/)?$' tree)"
	equal "each return that is known has its duration" \
		"$(grep -cE ' (returns|goes on) after ' report)" \
		"$(grep -cE '^. *~?[0-9]+\.[0-9]{3} us  \|' tree)"
else
	skip "with returns, too" "this kernel does not see returns"
	skip "durations" "this kernel does not see returns"
fi

# --- answers
mctrace record -q -o file sh -c "$words"
mctrace report file > report
equal "a profile counts each call" "$(grep -c ' <-- ' report)" \
	"$(mctrace profile file | awk '$1 ~ /^[0-9]+$/ { n += $1 } END { print n }')"
equal "so do stacks" "$(grep -c ' <-- ' report)" \
	"$(mctrace export --to folded file | awk '{ n += $NF } END { print n }')"
equal "a function's callers are those of the report" \
	"$(sed -n 's/.* vfs_read+[^ ]* <-- \([^+]*\)+.*/\1/p' report | sort -u | xargs)" \
	"$(mctrace profile --callers file | awk '
		/ vfs_read$/ { its = 1; next } its && / <- / { print $NF; next } { its = 0 }' |
		sort -u | xargs)"
check "what is wanted of returns says how to get them" \
	says 'record -g' mctrace latency vfs_read file
check "a function that was not called" says 'was not called' mctrace graph no_such_function file
check "a flame graph of calls" sh -c 'mctrace flame -o - file | grep -q "</svg>"'
check "two recordings that are the same do not differ" sh -c \
	'[ -z "$(mctrace diff --json file file)" ]'
equal "JSON has each event" "$(grep -c '^CPU ' report)" \
	"$(mctrace report --json file | grep -c '^{')"
check "a form that there is not" says "no form 'nothing'" mctrace export --to nothing file
if put graph "$mode" 2>/dev/null; then
	put function "$mode"
	settings > before
	mctrace record -q -g -o file sh -c "$words"
	equal "self times are as long as outermost calls" \
		"$(mctrace report --tree --json file | sed -n 's/.*"self_ns":\([0-9]*\).*/\1/p' |
			awk '{ n += $1 } END { printf "%.0f", n }')" \
		"$(mctrace export --to folded file | awk '{ n += $NF } END { printf "%.0f", n }')"
	equal "latency has all calls of the profile" \
		"$(mctrace profile --json file |
			sed -n 's/.*"vfs_open".*"calls":\([0-9]*\)}/\1/p')" \
		"$(mctrace latency vfs_open --json file | sed -n 's/.*"calls":\([0-9]*\),.*/\1/p')"
	check "live, too" sh -c \
		'mctrace latency vfs_open --live --json ls / | grep -q "\"calls\":[1-9]"'
	as_before "which sets all back"
	mctrace record -q -g -o slept sleep 1
	check "a sleep is time off the CPU" sh -c 'mctrace profile --json slept | grep nanosleep |
		sed -n "s/.*\"total_ns\":\([0-9]*\).*\"total_cpu_ns\":\([0-9]*\).*/\1 \2/p" |
		awk "\$1 >= 1000000000 && \$2 < 500000000 { slept = 1 } END { exit !slept }"'
	check "what is live and not called is said" says 'was not called' \
		mctrace latency kthread_stop --live true
	check "slow calls are compared with usual ones" sh -c \
		'mctrace slow vfs_open file | grep -q "^# usual: [1-9]"'
	mctrace why -e ENOENT cat /proc/no_such_file > out 2> err
	check "why finds the system call" grep -q 'sys_openat returned -ENOENT' out
	check "and the function that was the first" grep -q '<- first' out
	equal "it is one of that call's" "$(grep -c '<- first' out)" \
		"$(grep -c ' returned -ENOENT' out)"
	as_before "and leaves nothing set"
	PATH=/nonexist:$PATH mctrace why -e ENOENT sh -c 'test -e /nonexist' > out 2> err
	check "so it does where entries end by jumps" grep -q 'sys_.*stat.* returned -ENOENT' out
	equal "how mctrace looks for the command is not shown" "" "$(grep execve out)"
	sh -c 'while :; do read -r line < /nonexist; sleep 1; done' 2> /dev/null &
	sleeper=$!
	mctrace why -P $sleeper --seconds 3 > out 2> err
	kill $sleeper
	check "why looks at a process that runs" \
		grep -q "^sh:$sleeper .*sys_open.* returned -ENOENT" out
	check "no error is no answer" sh -c \
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
equal "of a process that has gone meanwhile it is said that it is not set back" 1 $?
check "and nothing is recorded, as before" grep -qx '[0-9]*' "$pid"
put "" "$pid"
mctrace record -q -o file sleep 100 &
recorder=$!
wait_until "$MCT_PATIENCE" recording
kill -TERM $recorder
wait $recorder
equal "a signal ends it and the command" "143 0" "$? $(ps | grep -c "[s]leep 100")"
mctrace record -q -R vfs_open:mark -o file ls / > out
check "a trigger is set" sh -c "mctrace report file | grep -q '^# mark .* vfs_open+'"
equal "and goes" "" "$(cat "$triggers")"
if mctrace record -q -l 'vfs_*' -R vfs_read:args -o file cat /proc/self/stat > out 2> err; then
	same "arguments are those that the kernel shows" file
	check "and there are some" grep -q ' vfs_read+[^ ]* (0x' report
else
	skip "arguments are those that the kernel shows" "$(cat err)"
	skip "and there are some" "$(cat err)"
fi

# args FUNCTION COMMAND...: what is said of its arguments
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
	check "a name that an argument points to is shown, in its place" \
		grep -q '^dfd=-100, pathname="/proc/uptime", op=0x[0-9a-f]*$' said
	check "and is in JSON" sh -c \
		'mctrace report --json file | grep -q "\"string\":\"/proc/uptime\""'
	args vfs_write echo word > said
	check "what is the user's is an address" grep -q ', buf=0x[0-9a-f]*, count=5, ' said
	equal "and no string" "" "$(grep '"' said)"
else
	for test in name JSON address string; do
		skip "strings: $test" "types are not known here"
	done
fi

# --- files that are damaged
mctrace record -q -o file -l 'vfs_*' ls / > /dev/null
size=$(wc -c < file)
wrong=
for cut in 0 1 15 16 17 55 56 57 100 $((size / 3)) $((size / 2)) $((size - 41)) $((size - 1)); do
	head -c "$cut" file > cut
	[ "$(status mctrace report cut)" = 1 ] || wrong="$wrong $cut"
	grep -q -e 'offset' -e 'is empty' err || wrong="$wrong $cut:silent"
done
equal "of one that is cut it is said where" "" "$wrong"
wrong=
i=0
while [ $i -lt 60 ]; do
	# Some in each part: the beginning, the names of functions, the words.
	at=$(((i * 7919 + i * i * 104729) % size))
	[ $((i % 3)) -gt 0 ] || at=$((at % 4096))
	cp file cut
	printf "\\$((i * 5 % 4))$((i * 3 % 8))$((i % 8))" |
		dd of=cut bs=1 seek=$at conv=notrunc 2> /dev/null
	[ "$(status timeout 60 mctrace report cut)" -le 1 ] || wrong="$wrong $i:$at"
	[ "$(status timeout 60 mctrace report --tree cut)" -le 1 ] || wrong="$wrong tree:$i:$at"
	i=$((i + 1))
done
equal "none of $i with a wrong byte breaks it" "" "$wrong"

# --- the switches
mctrace start -l 'vfs_*' -t
cat /proc/uptime > out
check "start starts" grep -q 1 "$MCT_CTRL"
check "as it was told to" sh -c "mctrace show | grep -q '^\[.* vfs_read+'"
check "twice is refused" says 'on already' mctrace start
mctrace stop
equal "stop stops" 0 "$(cat "$MCT_CTRL")"
mctrace reset
equal "also kernel.mcount_enabled" 0 "$(cat "$MCT_SYSCTL")"
equal "reset sets all back" notime "$(grep time "$MCT_OPTIONS"; cat "$filter" "$pid" "$never")"
mctrace start -l 'vfs_*'
cat /proc/uptime > out
echo T > /proc/sysrq-trigger
mctrace stop
mctrace show > report
check "of a crash's last calls record says that they are there" \
	says 'frozen (sysrq): .*mctrace show' mctrace record -q -o file2 true
# shellcheck disable=SC2016
check "and stream, and start, and reset" sh -c \
	'! mctrace stream 2> err && ! mctrace start 2> err && ! mctrace reset 2> err'
mctrace show > kernel
check "which leave them" cmp report kernel
mctrace reset --force
check "with --force they go" sh -c "! grep -q frozen '$MCT_STATS' && ! mctrace show | grep ' <-- '"
mctrace stream -l 'vfs_*' > out 2> err &
recorder=$!
wait_until "$MCT_PATIENCE" recording
cat /proc/uptime > /dev/null
wait_until "$MCT_PATIENCE" grep -q vfs_read out
kill -INT $recorder
wait $recorder
equal "stream prints, and ends by Ctrl-C" "0 0" "$? $(cat "$MCT_CTRL")"
check "what comes" grep -q ' vfs_read+' out
finish
