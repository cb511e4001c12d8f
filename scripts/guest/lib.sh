# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=dash
# Sourced by the guest's jobs that print TAP: where the tracer is, its switches, and a check.

t=/sys/kernel/debug/mctracer
mcount=/proc/sys/kernel/mcount_enabled
tests=0 failed=0

# check NAME COMMAND...: one test, passed if the command succeeds.
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

# skip NAME WHY: one test that can't be done here
skip()
{
	tests=$((tests + 1))
	echo "ok $tests - $1 # SKIP $2"
}

# written: the records that all CPUs have written.
written()
{
	awk '!/^#/ { n += $3 } END { print n }' "$t/stats"
}

on() { echo 1 >"$t/ctrl" && echo 1 >$mcount; }
off() { echo 0 >"$t/ctrl" && echo 0 >$mcount; }

# some: what makes records while both are on.
some() { cat /proc/self/stat /proc/meminfo >/dev/null; }

grows() { before=$(written); some; [ "$(written)" -gt "$before" ]; }

# finish: end with what the checks came to, after the plan.
finish()
{
	echo "1..$tests"
	exit "$failed"
}
