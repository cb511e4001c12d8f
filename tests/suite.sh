#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tests scripts/suite: runs the suites of tests/suites, and records each result once.
. "${0%/*}/../scripts/test-lib.sh"

export SUITES="$T/suites" LEDGER="$T/ledger" README="$T/readme"
cat >"$SUITES" <<'END'
# a comment
good	6.12	echo "3 passed, 0 failed, 1 skipped"
group/bad	6.12	echo "2 passed, 1 failed"; exit 1
group/plain	7.3	true
group/broken	7.3	echo "5 passed, 0 failed"; false
END
printf '%s\n' "# suites" "<!-- ledger -->" "<!-- end -->" "below" >"$README"

# suite STATUS LAST-LINE NAME...: succeed if scripts/suite ends with this status and last line
suite()
{
	_want=$1 _last=$2 _rc=0
	shift 2
	"$REPO/scripts/suite" "$@" >"$T/out" 2>&1 || _rc=$?
	cat "$T/out"
	[ "$_rc" = "$_want" ] && [ "$(tail -n 1 "$T/out")" = "$_last" ]
}

# recorded NAME PASSED FAILED SKIPPED: succeed if the ledger has this suite once, with these counts
recorded()
{
	cat "$LEDGER"
	[ "$(awk -v name="$1" '$1 == name { print $5, $6, $7 }' "$LEDGER")" = "$2 $3 $4" ]
}

table()
{
	cat "$README"
	grep -qE '^\| good \| 6\.12 \| 1 of 1 \| 3 \| 0 \| 1 \| [0-9]+ \| ' "$README" &&
		grep -qE '^\| group \| 6\.12, 7\.3 \| 3 of 3 \| 8 \| 2 \| 0 \| ' "$README" &&
		[ "$(tail -n 1 "$README")" = below ]
}

# complete: print parts, classes of mutations and kernels that have no suite
complete()
{
	_suites=$(awk "!/^(#|$)/ { print \$1 }" "$REPO/tests/suites")
	for _part in $("$REPO/scripts/test-part" long); do
		echo "$_suites" | grep -qx "long/$_part" || echo "no suite long/$_part"
	done
	for _class in $(cd "$REPO/tests/mutations" && ls -- *.patch | sed 's/-.*//' | sort -u); do
		echo "$_suites" | grep -qx "mutations/$_class" || echo "no suite mutations/$_class"
	done
	for _kernel in $(kernels); do
		echo "$_suites" | grep -q "^kernels/$_kernel-" || echo "no suite kernels/$_kernel-..."
	done
}

silent()
{
	"$@" >"$T/said" 2>&1
	cat "$T/said"
	[ ! -s "$T/said" ]
}

plan 11
check "a suite's counts are the last line" suite 0 "3 passed, 0 failed, 1 skipped" good
check "the counts are in the ledger" recorded good 3 0 1
check "a group runs all of its suites" suite 1 "8 passed, 2 failed" group
check "a suite that fails is in the ledger" recorded group/bad 2 1 0
check "a suite without counts is one test" recorded group/plain 1 0 0
check "a suite that ends with an error has failed" recorded group/broken 5 1 0
check "README has a line for each group" table
check "a second run replaces the line" suite 0 "3 passed, 0 failed, 1 skipped" good
check "the ledger has one line for the suite" recorded good 3 0 1
check "an unknown suite is refused" fails_saying "no such suite: nosuch" "$REPO/scripts/suite" nosuch
check "each part, class of mutations and kernel has a suite" silent complete
finish
