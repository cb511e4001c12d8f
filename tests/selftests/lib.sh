# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
#
# Shared code of the mctracer selftests: KTAP output, control of the tracer, load, and the final
# checks of each test.
#
# A test begins with the comment lines "description:" and "requires:", sources this file, and
# continues like
#
#	plan 2
#	check "the sky is blue" test "$sky" = blue
#	...
#	finish
#
# plan takes the number of results that the test itself reports. finish adds one result: the kernel
# has logged no complaint since the test began. If the machine lacks something that "requires:"
# names, the whole test is skipped.
#
# Tests use only what a POSIX shell, busybox or coreutils provide. MCT_DIR and MCT_SYSCTL may name
# other files, to try a test without the tracer.

MCT_DIR=${MCT_DIR:-/sys/kernel/debug/mctracer}
MCT_SYSCTL=${MCT_SYSCTL:-/proc/sys/kernel/mcount_enabled}
MCT_CTRL=$MCT_DIR/ctrl
MCT_TRACE=$MCT_DIR/trace
MCT_STATS=$MCT_DIR/stats

MCT_BIN=$(cd "$(dirname "$0")" && pwd) || exit 1
MCT_NAME=$(basename "$0" .sh)
MCT_CPUS=/sys/devices/system/cpu

# The longest wait for anything, in seconds.
MCT_PATIENCE=${MCT_PATIENCE:-60}

KSFT_FAIL=1
KSFT_SKIP=4

# --- KTAP -------------------------------------------------------------------

ktap_planned=0
ktap_passed=0
ktap_failed=0
ktap_skipped=0
ktap_finished=

diag()
{
	printf '%s\n' "$*" | sed 's/^/# /'
}

# Print at most 20 lines of standard input as diagnostics.
diag_lines()
{
	head -n 20 | sed 's/^/#   /'
}

plan()
{
	ktap_planned=$(($1 + 1))
	echo "1..$ktap_planned"
}

ktap_number()
{
	echo $((ktap_passed + ktap_failed + ktap_skipped))
}

ok()
{
	ktap_passed=$((ktap_passed + 1))
	echo "ok $(ktap_number) $1"
}

# not_ok NAME [REASON]
not_ok()
{
	ktap_failed=$((ktap_failed + 1))
	echo "not ok $(ktap_number) $1"
	[ -z "${2-}" ] || diag "$2"
}

# skip NAME REASON
skip()
{
	ktap_skipped=$((ktap_skipped + 1))
	echo "ok $(ktap_number) $1 # SKIP $2"
}

# returns_are_caught: succeed if the kernel sees returns by rethook, not by call sites before them
returns_are_caught()
{
	grep -q '^# returns missed: ' "$MCT_STATS"
}

skip_all()
{
	echo "1..0 # SKIP $*"
	ktap_finished=1
	exit $KSFT_SKIP
}

# needs_returns: skip the whole test if the kernel does not see returns; else the mode is function
needs_returns()
{
	[ -e "$MCT_DIR/mode" ] || skip_all "there is no mode"
	put graph "$MCT_DIR/mode" || skip_all "this kernel does not see returns"
	put function "$MCT_DIR/mode"
}

bail_out()
{
	echo "Bail out! $*"
	ktap_finished=1
	exit $KSFT_FAIL
}

# check NAME COMMAND...: report ok if the command succeeds
check()
{
	local name=$1 output
	shift
	if output=$("$@" 2>&1); then
		ok "$name"
		return 0
	fi
	not_ok "$name" "failed: $*"
	[ -z "$output" ] || printf '%s\n' "$output" | diag_lines
	return 1
}

not()
{
	! "$@"
}

# equal NAME WANTED GOT
equal()
{
	if [ "$2" = "$3" ]; then
		ok "$1"
		return 0
	fi
	not_ok "$1" "wanted '$2', got '$3'"
	return 1
}

# at_least NAME WANTED GOT, both numbers
at_least()
{
	if [ "${3:-0}" -ge "$2" ]; then
		ok "$1"
		return 0
	fi
	not_ok "$1" "wanted at least $2, got '$3'"
	return 1
}

finish()
{
	mct_restore
	kernel_is_quiet
	diag "Totals: pass:$ktap_passed fail:$ktap_failed xfail:0 xpass:0" \
	     "skip:$ktap_skipped error:0"
	ktap_finished=1
	[ "$(ktap_number)" -eq "$ktap_planned" ] ||
		bail_out "planned $ktap_planned results, gave $(ktap_number)"
	[ "$ktap_failed" -eq 0 ] || exit $KSFT_FAIL
	[ "$ktap_passed" -gt 0 ] || exit $KSFT_SKIP
	exit 0
}

# --- the kernel log ---------------------------------------------------------

kmsg_prefix="mctracer selftest:"
kmsg_marker="$kmsg_prefix $MCT_NAME $$ begins"

kmsg_mark()
{
	{ echo "$kmsg_marker" > /dev/kmsg; } 2>/dev/null
}

# Print the log since the test began, or the whole log if that point was overwritten.
kmsg_since()
{
	local log
	log=$(dmesg | sed -n "/$kmsg_marker/,\$p")
	if [ -n "$log" ]; then
		printf '%s\n' "$log"
	else
		dmesg
	fi
}

kernel_is_quiet()
{
	local name="the kernel logged no complaint" found

	if ! dmesg >/dev/null 2>&1; then
		skip "$name" "dmesg is not readable"
		return
	fi
	found=$(kmsg_since | grep -E \
		-e 'WARNING:|BUG:|BUG |Oops|Call Trace:|KASAN|KCSAN|UBSAN' \
		-e 'general protection|[Uu]nable to handle|stack guard page' \
		-e 'detected stall|self-detected|soft lockup|hard LOCKUP' \
		-e 'blocked for more than|scheduling while atomic' \
		-e 'circular locking|recursive locking|suspicious RCU')
	if [ -z "$found" ]; then
		ok "$name"
	else
		not_ok "$name"
		printf '%s\n' "$found" | diag_lines
	fi
}

# --- waiting ----------------------------------------------------------------

now()
{
	local up rest
	read -r up rest < /proc/uptime
	echo "${up%%.*}${rest:+}"
}

# wait_until SECONDS COMMAND...
wait_until()
{
	local end
	end=$(($(now) + $1))
	shift
	while ! "$@"; do
		[ "$(now)" -lt "$end" ] || return 1
		sleep 0.1
	done
}

# --- the tracer -------------------------------------------------------------

# put VALUE FILE: write once, print nothing on an error
put()
{
	{ echo "$1" > "$2"; } 2>/dev/null
}

trace_on()
{
	put 1 "$MCT_CTRL" && put 1 "$MCT_SYSCTL"
}

trace_off()
{
	put 0 "$MCT_CTRL" && put 0 "$MCT_SYSCTL"
}

trace_clear()
{
	put 0 "$MCT_TRACE"
}

# stat_sum COLUMN: print the sum over all CPUs
stat_sum()
{
	awk -v col="$1" '!/^#/ { sum += $col } END { printf "%.0f\n", sum }' \
		"$MCT_STATS"
}

# stat_cpu CPU COLUMN [FILE]: print one value of stats, or of a copy of stats
stat_cpu()
{
	awk -v cpu="$1" -v col="$2" '!/^#/ && $1 == cpu { print $col }' \
		"${3:-$MCT_STATS}"
}

# Columns of stats, for stat_sum and stat_cpu.
# shellcheck disable=SC2034 # used by the tests
{
	ENTRIES=2
	WRITTEN=3
	OVERWRITTEN=4
	LOST=5
	RECURSIONS=6
}

# header NAME FILE: print the number in a trace's "# NAME: number" line
header()
{
	sed -n "s/^# $1: \\([0-9][0-9]*\\)\$/\\1/p" "$2"
}

# Succeed if new records are written. Needs no load: makes calls of its own.
records_flow()
{
	local before after
	before=$(stat_sum $WRITTEN)
	cat /proc/self/stat /proc/meminfo >/dev/null
	after=$(stat_sum $WRITTEN)
	[ "$after" -gt "$before" ]
}

# Succeed if no record is written for a second, whatever the load does.
records_stand()
{
	local before after
	before=$(stat_sum $WRITTEN)
	cat /proc/self/stat /proc/meminfo >/dev/null
	sleep 1
	after=$(stat_sum $WRITTEN)
	[ "$after" -eq "$before" ] && return 0
	echo "written went from $before to $after"
	return 1
}

# Check for each CPU, once tracing has stopped: written = entries + overwritten.
stats_add_up()
{
	awk '/^#/ { next }
	     NF < 6 { print "short line: " $0; bad = 1 }
	     $3 != $2 + $4 { print "does not add up: " $0; bad = 1 }
	     { n++ }
	     END { exit bad || !n }' "$MCT_STATS"
}

# Succeed if the column is 0 in each line of stats.
stats_zero()
{
	awk -v col="$1" '/^#/ { next } $col != 0 { print; bad = 1 } { n++ }
	     END { exit bad || !n }' "$MCT_STATS"
}

# Print the numbers of a kernel CPU list such as 0-2,5, one per line.
cpu_list()
{
	tr ',' '\n' < "$MCT_CPUS/$1" | while IFS=- read -r first last; do
		[ -z "$first" ] || seq "$first" "${last:-$first}"
	done
}

# examine FILE: write tracecheck's summary of a trace to $MCT_TMP/summary. Fails if the file breaks
# the documented format.
examine()
{
	"$MCT_BIN/tracecheck" "$1" > "$MCT_TMP/summary"
}

# found KEY: print a number of the latest summary
found()
{
	awk -v key="$1" '$1 == key { print $2; n++ } END { if (!n) print 0 }' \
		"$MCT_TMP/summary"
}

# --- modules made for the tests ---------------------------------------------

# mod_load NAME [PARAMETER=VALUE...]
mod_load()
{
	local name=$1
	shift
	insmod "$MCT_BIN/test_modules/$name.ko" "$@"
}

mod_unload()
{
	rmmod "$1"
}

mod_loaded()
{
	[ -d "/sys/module/$1" ]
}

# mod_set NAME PARAMETER VALUE
mod_set()
{
	echo "$3" > "/sys/module/$1/parameters/$2"
}

# mod_get NAME PARAMETER
mod_get()
{
	cat "/sys/module/$1/parameters/$2"
}

# regs_rounds NAME N: report whether the loaded module mct_regs ran N rounds without a difference.
# The module compares registers and logs each difference.
regs_rounds()
{
	local before after
	before=$(mod_get mct_regs rounds)
	if mod_set mct_regs rounds "$2" 2>/dev/null; then
		after=$(mod_get mct_regs rounds)
		equal "$1" "$2" $((after - before))
	else
		not_ok "$1"
		kmsg_since | grep 'mct_regs: ' | diag_lines
	fi
}

# --- kernel text ------------------------------------------------------------

# text_save NAME: save the kernel's text as it is now
text_save()
{
	"$MCT_BIN/kerneltext" dump "$MCT_TMP/text.$1"
}

# text_same NAME NAME: succeed if two saved texts are identical
text_same()
{
	cmp "$MCT_TMP/text.$1" "$MCT_TMP/text.$2" && return 0
	"$MCT_BIN/kerneltext" diff "$MCT_TMP/text.$1" "$MCT_TMP/text.$2"
	return 1
}

# Print the kind of the kernel's call sites. Call it with the tracer off: then call sites of a
# dynamic kernel are NOPs, and those of a static kernel are calls, as always.
text_kind()
{
	"$MCT_BIN/kerneltext" heads | awk '
		{ n[$1] = $2 }
		END { print (n["nops"] > n["calls"]) ? "dynamic" : "static" }'
}

# --- load -------------------------------------------------------------------

load_groups=

# Run a command repeatedly until load_stop.
load_repeat()
{
	setsid sh -c "while :; do $1; done" >/dev/null 2>&1 &
	load_groups="$load_groups $!"
}

load_start()
{
	load_repeat "hackbench -g 1 -f 4 -l 100"
}

load_gone()
{
	! kill -0 "-$1" 2>/dev/null
}

load_stop()
{
	local group
	for group in $load_groups; do
		kill -KILL "-$group"
		wait "$group"
		wait_until 10 load_gone "$group"
	done 2>/dev/null
	load_groups=
}

# --- toggles ----------------------------------------------------------------

toggler=

# toggles_start FILE [ON OFF]: write ON and OFF (1 and 0) to the file in turn until toggles_stop
toggles_start()
{
	rm -f "$MCT_TMP/toggles.stop" "$MCT_TMP/toggles.failed"
	echo 0 > "$MCT_TMP/toggles"
	(
		n=0
		while [ ! -e "$MCT_TMP/toggles.stop" ]; do
			n=$((n + 1))
			[ $((n % 2)) = 1 ] && word=${2:-1} || word=${3:-0}
			put "$word" "$1" ||
				echo $n >> "$MCT_TMP/toggles.failed"
			echo $n > "$MCT_TMP/toggles"
		done
	) &
	toggler=$!
}

# toggles_reach N: succeed after N toggles
toggles_reach()
{
	local n
	read -r n < "$MCT_TMP/toggles"
	[ "${n:-0}" -ge "$1" ]
}

toggles_stop()
{
	[ -n "$toggler" ] || return 0
	: > "$MCT_TMP/toggles.stop"
	wait "$toggler"
	toggler=
	diag "$(cat "$MCT_TMP/toggles") toggles"
}

toggles_failed()
{
	[ -e "$MCT_TMP/toggles.failed" ]
}

# --- beginning and end ------------------------------------------------------

# A test that must restore anything else redefines at_end.
at_end()
{
	:
}

mct_restore()
{
	toggles_stop
	load_stop
	at_end
	[ ! -w "$MCT_CTRL" ] || put 0 "$MCT_CTRL"
	[ ! -w "$MCT_SYSCTL" ] || put 0 "$MCT_SYSCTL"
}

mct_exit()
{
	local status=$?
	trap - EXIT
	mct_restore
	rm -rf "${MCT_TMP:?}"
	if [ -z "$ktap_finished" ]; then
		echo "Bail out! ended early with status $status"
		status=$KSFT_FAIL
	fi
	exit "$status"
}

# Take one word of a "requires:" line. Print the reason if the machine lacks it.
missing()
{
	case $1 in
	root)
		[ "$(id -u)" = 0 ] || echo "must be root" ;;
	tracer)
		[ -e "$MCT_CTRL" ] && [ -e "$MCT_SYSCTL" ] ||
			echo "no mctracer in this kernel" ;;
	smp)
		[ "$(nproc)" -ge 2 ] || echo "needs two CPUs" ;;
	cpu:*)
		[ -e "$MCT_CPUS/cpu${1#cpu:}/online" ] ||
			echo "CPU ${1#cpu:} can not go offline" ;;
	module:*)
		modprobe -D "${1#module:}" >/dev/null 2>&1 ||
			echo "no module ${1#module:}" ;;
	testmod:*)
		[ -e "$MCT_BIN/test_modules/${1#testmod:}.ko" ] ||
			echo "module ${1#testmod:} is not built" ;;
	kcore)
		[ -r /proc/kcore ] || echo "no /proc/kcore" ;;
	helper:*)
		[ -x "$MCT_BIN/${1#helper:}" ] ||
			echo "helper ${1#helper:} is not built" ;;
	lockdown)
		[ -w /sys/kernel/security/lockdown ] ||
			echo "no lockdown file in securityfs" ;;
	*)
		command -v "$1" >/dev/null || echo "no $1" ;;
	esac
}

mct_begin()
{
	local word words reason

	echo "KTAP version 1"
	words=$(sed -n 's/^# requires: *//p' "$0")
	for word in $words; do
		reason=$(missing "$word")
		[ -z "$reason" ] || skip_all "$reason"
	done
	MCT_TMP=$(mktemp -d /tmp/mctracer.XXXXXX) || bail_out "no directory"
	trap mct_exit EXIT
	trap 'exit 1' HUP INT TERM
	kmsg_mark
	trace_off || bail_out "can not switch the tracer off"
	[ ! -w "$MCT_TRACE" ] || trace_clear
}

mct_begin
