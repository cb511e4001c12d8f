# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
# Sourced by the guest's jobs that print TAP: the tracer's paths and switches, and functions for checks.

t=/sys/kernel/debug/mctracer
mcount=/proc/sys/kernel/mcount_enabled
tests=0 failed=0

# check NAME COMMAND...: run one test, which passes if COMMAND succeeds.
check()
{
	tests=$((tests + 1)) name=$1
	shift
	if "$@"; then
		echo "ok $tests - $name"
	else
		echo "not ok $tests - $name"
		failed=1
	fi
}

# skip NAME WHY: report one test as skipped
skip()
{
	tests=$((tests + 1))
	echo "ok $tests - $1 # SKIP $2"
}

# written: print the number of records that all CPUs have written.
written()
{
	awk '!/^#/ { n += $3 } END { print n }' "$t/stats"
}

on() { echo 1 >"$t/ctrl" && echo 1 >$mcount; }
off() { echo 0 >"$t/ctrl" && echo 0 >$mcount; }

# some: make some calls, which are recorded while the tracer and mcount are on.
some() { cat /proc/self/stat /proc/meminfo >/dev/null; }

grows() { before=$(written); some; [ "$(written)" -gt "$before" ]; }

# finish: print the plan and exit, with status 1 if a check failed.
finish()
{
	echo "1..$tests"
	exit "$failed"
}
