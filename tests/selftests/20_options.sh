#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: Options are set by name; with "time", lines begin with the time
# requires: root tracer helper:badwrite helper:tracecheck helper:victim

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=rings.sh
. "$(dirname "$0")/rings.sh"

plan 20

mode=$MCT_DIR/mode

at_end()
{
	put "" "$MCT_DIR/triggers"
	put function "$mode"
	rings_restore
}

# Print the two options that this test knows, in the file's order. The file may have more.
options()
{
	grep -E '^(no)?(time|overwrite)$' "$MCT_OPTIONS" | xargs
}

# write_as FORMAT [OPTIONS]: write printf's output by badwrite and print its result
write_as()
{
	local format=$1
	shift
	# shellcheck disable=SC2059 # the format is the input
	printf "$format" | "$MCT_BIN/badwrite" "$@" "$MCT_OPTIONS"
}

names_only()
{
	! grep -Ev '^[a-z][a-z0-9_-]*$' "$MCT_OPTIONS" &&
		[ -z "$(sed 's/^no//' "$MCT_OPTIONS" | sort | uniq -d)" ]
}

# refused: succeed if bad input is refused and changes nothing
refused()
{
	local input got before bad=

	before=$(cat "$MCT_OPTIONS")
	for input in '' ' ' '\n' no nono nonotime nonooverwrite nonotime'\n' \
		not tim timee Time TIME xtime -time +time 'no time' no-time \
		'time overwrite' 'notime\noverwrite' 'time,' 'time=1' 1 0 -1 \
		'time\0' 'time\0x' '\0' '\0time' '\377' '\001\002' 'no\377'; do
		got=$(write_as "$input")
		if [ "$got" != "write EINVAL" ]; then
			echo "'$input': $got"
			bad=1
		fi
	done
	for input in time notime nooverwrite; do
		got=$(write_as "$input" -o 1)
		case $got in
		"write EINVAL"|"write ESPIPE")
			;;
		*)
			echo "$input at offset 1: $got"
			bad=1 ;;
		esac
	done
	got=$(head -c 65536 /dev/zero | tr '\0' t |
		"$MCT_BIN/badwrite" "$MCT_OPTIONS")
	if [ "$got" != "write EINVAL" ]; then
		echo "64 KiB of t: $got"
		bad=1
	fi
	if [ "$(cat "$MCT_OPTIONS")" != "$before" ]; then
		cat "$MCT_OPTIONS"
		bad=1
	fi
	[ -z "$bad" ]
}

# taken: succeed if white space around a name is accepted
taken()
{
	local input got want bad=

	for input in time 'notime\n' ' time\n' '\tnotime ' '\ntime\n\n' \
		'notime\r\n' 'time'; do
		want=$(printf '%b' "$input" | wc -c)
		got=$(write_as "$input")
		if [ "$got" != "ok $want" ]; then
			echo "'$input': $got"
			bad=1
		fi
		want=$(printf '%b' "$input" | tr -dc '[:lower:]')
		got=$(options)
		if [ "$got" != "$want overwrite" ]; then
			echo "'$input' gives $got"
			bad=1
		fi
	done
	[ -z "$bad" ]
}

# answer TEXT FILE: write printf's output by badwrite and print its result
answer()
{
	# shellcheck disable=SC2059 # the format is the input
	printf "$1" | "$MCT_BIN/badwrite" "$2"
}

# mode_after TEXT: write it into mode; print the result and the mode
mode_after()
{
	echo "$(answer "$1" "$mode"), $(cat "$mode")"
}

# bad_modes: succeed if the mode refuses bad input and keeps its value
bad_modes()
{
	local input got before bad=

	before=$(cat "$mode")
	for input in '' ' ' '\n' grap graphs Graph xgraph func functions nograph \
		nofunction 'graph function' 'function\ngraph' 'graph,' 1 0 -1 \
		'graph\0' 'graph\0x' '\0' '\377'; do
		got=$(mode_after "$input")
		[ "$got" = "write EINVAL, $before" ] && continue
		echo "'$input': $got"
		bad=1
	done
	[ -z "$bad" ]
}

# return_triggers: write triggers that need returns; print the results and the list
return_triggers()
{
	local text
	for text in vfs_read:ret vfs_read:fail:count 'vfs_read:slow 1ms:count'; do
		answer "$text" "$MCT_DIR/triggers" | sed 's/^ok.*/ok/'
	done
	sed -e 's/[[:space:]]*#.*//' -e '/^$/d' "$MCT_DIR/triggers"
}

# timed FILE: succeed if all records begin with the time, and time never decreases
timed()
{
	awk '/^#/ { next }
	     !/^\[[0-9]+\.[0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9][0-9]\] CPU / {
		print; bad = 1; exit
	     }
	     {
		dot = index($1, ".")
		t = substr($1, 2, dot - 2) + 0
		u = "." substr($1, dot + 1, 9)	# text: not octal
		if (t < s || (t == s && u < ns)) {
			print "went back from " s ns ":"; print
			bad = 1; exit
		}
		s = t; ns = u; n++
	     }
	     END {
		if (!n) print "no records"
		exit bad || !n
	     }' "$1"
}

# logged TEXT: print the time of this line of the kernel's log
logged()
{
	dmesg | sed -n "s/^\\[ *\\([0-9.]*\\)\\] .*$1 $$\$/\\1/p" | tail -n 1
}

# between LOW X HIGH: succeed if LOW <= X <= HIGH
between()
{
	awk -v low="$1" -v x="$2" -v high="$3" \
		'BEGIN { exit !(x != "" && low + 0 <= x + 0 && x + 0 <= high + 0) }'
}

minus()
{
	awk -v a="$1" -v b="$2" 'BEGIN { printf "%.6f\n", a - b }'
}

check "the options are listed by name, each once" names_only
equal "the options are read as they were set" "notime overwrite" "$(options)"
check "bad input is EINVAL and changes nothing" refused
check "white space around a name is accepted" taken
put time "$MCT_OPTIONS"
put nooverwrite "$MCT_OPTIONS"
equal "time and nooverwrite can be set together" "time nooverwrite" "$(options)"
check "bad input is EINVAL and changes nothing with time and nooverwrite" refused
put notime "$MCT_OPTIONS"
equal "notime leaves nooverwrite unchanged" "notime nooverwrite" "$(options)"
put overwrite "$MCT_OPTIONS"

# The mode graph and triggers at returns exist only in some kernels.
if grep -q ' arch_mcount_return$' /proc/kallsyms || returns_are_caught; then
	diag "this kernel sees returns"
	equal "the mode can be graph" "ok 5, graph" "$(mode_after graph)"
	check "other modes are EINVAL and change nothing" bad_modes
	equal "the mode can be function again" "ok 9, function" "$(mode_after 'function\n')"
	equal "triggers at returns are accepted" "ok
ok
ok
vfs_read:ret
vfs_read:fail:count
vfs_read:slow 1ms:count" "$(return_triggers)"
	put "" "$MCT_DIR/triggers"
else
	diag "this kernel does not see returns"
	equal "the mode can not be graph" "write EOPNOTSUPP, function" "$(mode_after graph)"
	check "other modes are EINVAL and change nothing" bad_modes
	equal "the mode can be function" "ok 9, function" "$(mode_after 'function\n')"
	equal "triggers at returns are refused" "write EOPNOTSUPP
write EOPNOTSUPP
write EOPNOTSUPP" "$(return_triggers)"
fi

# Make two events, one second apart, in rings that hold both.
put 4096 "$MCT_SIZE"
trace_clear
trace_on
begun=$(cut -d ' ' -f 1 /proc/uptime)
echo "$kmsg_prefix before $$" > /dev/kmsg
"$MCT_BIN/victim" -n mcta many 1 >/dev/null
sleep 1
"$MCT_BIN/victim" -n mctb many 1 >/dev/null
echo "$kmsg_prefix after $$" > /dev/kmsg
ended=$(cut -d ' ' -f 1 /proc/uptime)
trace_off

cat "$MCT_TRACE" > "$MCT_TMP/plain"
check "lines have no time without the option time" examine "$MCT_TMP/plain"
put time "$MCT_OPTIONS"
cat "$MCT_TRACE" > "$MCT_TMP/trace"
check "with the option time each line begins with the time, which never decreases" \
	timed "$MCT_TMP/trace"
sed 's/^\[[0-9.]*\] //' "$MCT_TMP/trace" > "$MCT_TMP/stripped"
check "the rest of each line is the same as without time" cmp "$MCT_TMP/plain" "$MCT_TMP/stripped"
bad=
for cpu in $(cpu_list online); do
	cat "$(per_cpu "$cpu" trace)" > "$MCT_TMP/cpu"
	timed "$MCT_TMP/cpu" > "$MCT_TMP/why" || {
		bad="$bad $cpu"
		diag_lines < "$MCT_TMP/why"
	}
done
equal "in each CPU's own trace, too, each line begins with the time" "" "$bad"

a=$(getppid_time mcta0 "$MCT_TMP/trace")
b=$(getppid_time mctb0 "$MCT_TMP/trace")
diag "getppid at $a and $b; uptime $begun to $ended"
took=$(minus "$b" "$a")
check "the events are at least one second apart" between 1 "$took" 1000
check "the events are no further apart than uptime allows" between 1 "$took" \
	"$(minus "$ended" "$begun" | awk '{ print $1 + 0.02 }')"
before=$(logged before)
after=$(logged after)
diag "the log has $before to $after"
source=/sys/devices/system/clocksource/clocksource0/current_clocksource
if [ -z "$before" ] || [ -z "$after" ]; then
	skip "the first event has the time that the log shows" "the log has no times"
	skip "the second event has the time that the log shows" "the log has no times"
elif [ "$(cat $source)" != tsc ]; then
	skip "the first event has the time that the log shows" "the log has another clock"
	skip "the second event has the time that the log shows" "the log has another clock"
else
	check "the first event has the time that the log shows" between "$before" "$a" "$b"
	check "the second event has the time that the log shows" between "$a" "$b" "$after"
fi
put notime "$MCT_OPTIONS"
cat "$MCT_TRACE" > "$MCT_TMP/again"
check "notime removes the times" cmp "$MCT_TMP/plain" "$MCT_TMP/again"
finish
