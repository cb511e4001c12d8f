#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tests that scripts/tap.py counts results, and that missing results are failures.
. "${0%/*}/../scripts/test-lib.sh"

# counts EXIT-STATUS LAST-LINE TEXT: succeed if tap.py ends so for a file with this text
counts()
{
	printf '%b' "$3" >"$T/tap"
	"$REPO/scripts/tap.py" "$T/tap" >"$T/counted"
	_rc=$?
	cat "$T/counted"
	[ "$_rc" = "$1" ] && [ "$(tail -n 1 "$T/counted")" = "$2" ]
}

says()	# LINES: succeed if tap.py has printed each of these lines, or a line that contains it
{
	cat "$T/counted"
	echo "$1" | while read -r _part; do
		grep -qF -- "$_part" "$T/counted" || exit 1
	done
}

plan 20
check "results are counted" counts 0 "2 passed, 0 failed" '1..2\nok 1 - a\nok 2 - b\n'
check "a failure is counted" counts 1 "1 passed, 1 failed" '1..2\nok 1 - a\n# why\nnot ok 2 - b\n'
check "the failure's name and output are shown" says 'FAILED  b: not ok
# why'
check "a skip is counted" counts 0 "1 passed, 0 failed, 1 skipped" \
	'1..2\nok 1 - a\nok 2 - b # SKIP no such device\n'
check "the reason of the skip is shown" says 'skipped b: no such device'
check "only leaves of nested results count" counts 0 "3 passed, 0 failed" \
	'KTAP version 1\n1..2\n  KTAP version 1\n  1..2\n  ok 1 a\n  ok 2 b\nok 1 x\nok 2 y\n'
check "three levels, like KUnit's parameters, are counted" counts 1 "2 passed, 1 failed" \
	'KTAP version 1\n1..1\n    KTAP version 1\n    # Subtest: s\n    1..2\n        KTAP version 1\n        # Subtest: p\n        1..2\n        ok 1 a\n        not ok 2 b\n    not ok 1 p\n    ok 2 q\nnot ok 1 s\n'
check "a nested failure is shown with its whole name" says 'FAILED  s / p / b: not ok'
check "time stamps of the kernel's log are ignored" counts 0 "1 passed, 0 failed" \
	'[    1.234567] KTAP version 1\n[    1.234568] 1..1\n[    1.3]     KTAP version 1\n[    1.3]     # Subtest: s\n[    1.3]     1..1\n[    1.3] something else\n[    1.4]     ok 1 a\n[    1.5] ok 1 s\n'
check "too few results are a failure" counts 1 "1 passed, 1 failed" '1..2\nok 1 - a\n'
check "too few nested results are a failure, even if their sum is ok" counts 1 "1 passed, 1 failed" \
	'1..1\n  1..2\n  ok 1 a\nok 1 x\n'
check "too many results are a failure" counts 1 "2 passed, 1 failed" '1..1\nok 1 - a\nok 2 - b\n'
check "a missing plan is a failure" counts 1 "1 passed, 1 failed" 'ok 1 - a\n'
check "the plan may come at the end" counts 0 "1 passed, 0 failed" 'ok 1 - a\n1..1\n'
check "a sum that failed although its results passed is a failure" counts 1 "1 passed, 1 failed" '1..1\n  1..1\n  ok 1 a\nnot ok 1 x\n'
check "no results at all are a failure" counts 1 "0 passed, 1 failed" 'hello\n'
check "a plan can skip all results" counts 1 "0 passed, 0 failed, 1 skipped" \
	'1..1\n  1..0 # SKIP no tracer\nok 1 x # SKIP\n'
check "the reason of the plan's skip is shown" says 'skipped x: no tracer'
check "\"Bail out!\" is a failure" counts 1 "1 passed, 1 failed" '1..1\nok 1 - a\nBail out! no more\n'
check "carriage returns are ignored" counts 0 "1 passed, 0 failed" '1..1\r\nok 1 - a\r\n'
finish
