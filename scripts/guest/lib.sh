# shellcheck shell=dash
# Sourced by the guest's jobs that print TAP: where the tracer is, and a check.

t=/sys/kernel/debug/mctracer
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

# written: the records that all CPUs have written.
written()
{
	awk '!/^#/ { n += $3 } END { print n }' "$t/stats"
}

# finish: end with what the checks came to, after the plan.
finish()
{
	echo "1..$tests"
	exit "$failed"
}
