#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: mctrace does not record itself, names modules that come and go, and reads rings
# requires: root tracer hackbench mctrace testmod:mct_target testmod:mct_twin

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=rings.sh
. "$(dirname "$0")/rings.sh"

plan 25

pid=$MCT_DIR/pid
recorder=

at_end()
{
	[ -z "$recorder" ] || kill -KILL "$recorder" 2> /dev/null
	load_stop
	put "" "$pid"
	for module in mct_target mct_twin; do
		! mod_loaded $module || mod_unload $module
	done
	rings_restore
}

cd "$MCT_TMP" || exit

# The file gets its name before the tracer is switched on for the last time.
recording()
{
	[ -e file ] && [ "$(cat "$MCT_CTRL" "$MCT_DIR/tracing_on" | xargs)" = "1 1" ]
}

# begin ARGUMENT...: start mctrace record as $recorder, and wait until it records
begin()
{
	rm -f file
	mctrace record -o file "$@" > out 2> summary &
	recorder=$!
	wait_until "$MCT_PATIENCE" recording
}

# end: stop $recorder, and return its status
end()
{
	kill -INT $recorder
	wait $recorder
	set -- $?
	recorder=
	return "$1"
}

# threads PID: print the threads of a process and of its children, which must not have children
threads()
{
	for process in /proc/[0-9]*; do
		case $process in
		"/proc/$1")	ls "$process/task" ;;
		*)		! grep -qs "^PPid:[[:space:]]*$1\$" "$process/status" ||
				ls "$process/task" ;;
		esac
	done 2> /dev/null
}

# own: print how many events of the recording are of the threads in the file tids
own()
{
	mctrace report --json --tid "$(paste -s -d , tids)" file 2> err |
		grep -cE '"event":"(call|return)"'
}

# written: print how many calls the kernel wrote, by the summary
written()
{
	sed -n 's/^\([0-9]*\) written, .*/\1/p' summary
}

# --- mctrace's own processes
if ! put "not 1" "$pid"; then
	for what in threads same end others none summary end-self self counted; do
		skip "mctrace itself: $what" "this kernel can't leave processes out"
	done
else
	put "" "$pid"
	begin -a
	threads $recorder > tids
	at_least "mctrace has several processes and threads" 4 "$(grep -c . tids)"
	load_repeat "hackbench -g 1 -f 4 -l 100"
	sleep 3
	threads $recorder > later
	check "mctrace's threads have not changed" cmp tids later
	load_stop
	end
	equal "record ends with success" 0 $?
	diag "$(cat summary)"
	at_least "all other tasks are recorded" 100000 "$(written)"
	equal "no thread of mctrace is recorded" 0 "$(own)"
	equal "the summary has no calls of mctrace, which it has if they are 2 %" "" \
		"$(grep "mctrace's own" summary)"

	begin -a --self
	threads $recorder > tids
	sleep 2
	end
	equal "record --self ends with success" 0 $?
	own=$(own)
	diag "$own events of mctrace: $(cat summary)"
	at_least "record --self records mctrace" 1000 "$own"
	# The summary counts what mctrace read from the rings; report has all events.
	counted=$(sed -n "s/^\([0-9]*\) of them are mctrace's own\$/\1/p" summary)
	check "the summary of --self has the number of these events" \
		[ "$((${counted:-0} * 10 / (own + 1)))" -ge 9 ]
fi

# --- modules that come and go
# calls MODULE N: let a process of its own make N calls of the module's branch(), which calls leaf()
calls()
{
	# shellcheck disable=SC2016
	sh -c 'echo "$$ $1 $2 $2" >> truth; echo "$2" > "/sys/module/$1/parameters/calls"' sh "$@"
}

# load MODULE N: load the module, which makes N calls of branch() and one more of leaf()
load()
{
	# shellcheck disable=SC2016
	sh -c 'echo "$$ $2 $3 $(($3 + 1))" >> truth; exec insmod "$1/$2.ko" "calls=$3"' \
		sh "$MCT_BIN/test_modules" "$@"
}

# unload MODULE: unload the module, which makes one call of branch()
unload()
{
	# shellcheck disable=SC2016
	sh -c 'echo "$$ $1 1 1" >> truth; exec rmmod "$1"' sh "$1"
}

# compare all|most: compare the calls in the file with the truth. Print "wrong" and each call by a
# name of another module; "missing" and each process with too few calls or too many. With "most",
# calls without a name may be any. Print at last how many processes there were, how many calls with
# a name, and how many without.
compare()
{
	mctrace report --json --tid "$(cut -d " " -f 1 truth | paste -s -d , -)" file |
		grep -E '"function":"(0x|\[unknown\]|mct_)' | awk -v how="$1" '
	BEGIN {
		while ((getline < "truth") > 0) {
			module[$1] = $2
			branches[$1] = $3
			leaves[$1] = $4
		}
	}
	!/"event":"call"/ || !match($0, /"pid":[0-9]*/) { next }
	{
		pid = substr($0, RSTART + 6, RLENGTH - 6)
		if (!(pid in module))
			next
		match($0, /"function":"[^"]*"/)
		name = substr($0, RSTART + 12, RLENGTH - 13)
		if (name ~ /^(0x|\[unknown\])/) {
			unnamed[pid]++
			without++
		} else {
			with++
			if (index(name, "[" module[pid] "]") == 0)
				print "wrong", name, "by", pid, "of", module[pid]
			branch[pid] += name ~ /_branch\+/
			leaf[pid] += name ~ /_leaf\+/
		}
	}
	END {
		for (pid in module) {
			n++
			short = branches[pid] + leaves[pid] - branch[pid] - leaf[pid]
			if (short > (how == "most" ? unnamed[pid] : 0) ||
			    branch[pid] > branches[pid] || leaf[pid] > leaves[pid])
				print "missing", pid, "of", module[pid], short, unnamed[pid] + 0
		}
		print n, with + 0, without + 0
	}' > compared
	tail -n 1 compared
}

# has_names MODULE N: succeed if N lists of names in the recording have this module
has_names()
{
	[ "$(grep -ao "[tT] $1_leaf" file | grep -c .)" -ge "$2" ]
}

# slowly: load modules at each other's addresses, and wait until mctrace has looked
slowly()
{
	calls mct_target 3
	unload mct_target
	load mct_twin 5
	wait_until "$MCT_PATIENCE" has_names mct_twin 1
	calls mct_twin 7
	unload mct_twin
	load mct_target 11
	wait_until "$MCT_PATIENCE" has_names mct_target 2
	unload mct_target
	load mct_twin 13
	wait_until "$MCT_PATIENCE" has_names mct_twin 2
}

# quickly: load modules at each other's addresses, mostly faster than mctrace looks
quickly()
{
	for pause in 0 0 0.1 0 1; do
		load mct_target 2
		sleep "$pause"
		unload mct_target
		load mct_twin 3
		unload mct_twin
	done
}

# record_modules COMMAND [OPTION...]: record COMMAND's processes, with all functions
record_modules()
{
	local command=$1
	shift
	rm -f truth
	begin -a "$@"
	"$command"
	end
}

mod_load mct_target
record_modules slowly
equal "modules are loaded and unloaded while mctrace records" 0 $?
read -r processes with without <<- END
	$(compare all)
END
diag "$with calls in modules have a name, $without have none: $(tail -n 1 summary)"
equal "no record is overwritten" "0 overwritten, 0 lost" \
	"$(sed -n 's/.* written, \(.* lost\);.*/\1/p' summary)"
equal "each process has made its calls" "8 processes, " \
	"$processes processes, $(grep missing compared)"
equal "each call has its module" "" "$(grep wrong compared)"
# Each of the three loads calls two functions of init, whose names the kernel has forgotten since.
equal "only functions of init lack a name" 6 "$without"
mctrace report file > loaded
for name in "mct_target_leaf.* \[mct_target\]" "mct_twin_leaf.* \[mct_twin\]"; do
	at_least "report has calls of $name" 14 "$(grep -c " $name" loaded)"
done
mod_unload mct_twin
mctrace report file > unloaded
check "the names are the same once the modules are gone" cmp loaded unloaded

record_modules quickly
equal "modules come and go faster than mctrace looks" 0 $?
read -r processes with without <<- END
	$(compare most)
END
diag "$with calls in modules have a name, $without have none: $(tail -n 1 summary)"
equal "each process has made its calls, with or without names" "20 processes, " \
	"$processes processes, $(grep missing compared)"
at_least "some of them have names" 5 "$with"
equal "no call has another module's name" "" "$(grep wrong compared)"

# --- the kernel's own ring
raw=$(per_cpu 0 raw)
put 1024 "$MCT_SIZE"
trace_clear
trace_on
sh -c 'cat /proc/uptime /proc/stat' > out
trace_off
grep '^CPU 0: ' "$MCT_TRACE" > kernel
at_least "the ring has many records" 100 "$(grep -c . kernel)"
# A ring has times, too, which the kernel's text has only with the option time.
mctrace report "$raw" | sed -e '/^#/d' -e 's/^\[~*[0-9.]*\] //' > text
check "report prints the ring as the kernel does" cmp kernel text || diag "$(head -n 3 text)"
equal "a tree of the ring has each call once" "$(grep -c ' <-- ' text)" \
	"$(mctrace report --tree "$raw" | grep -cE '\|  .*\(\)(;| \{)$')"
mctrace report "$raw" | sed -e '/^#/d' -e 's/^\[~*[0-9.]*\] //' > again
check "mctrace consumes nothing" cmp text again
finish
