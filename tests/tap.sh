#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# scripts/tap.py: counts what it should, and nothing that went missing passes.
. "${0%/*}/../scripts/test-lib.sh"

# counts EXIT-STATUS LAST-LINE TEXT: of a file with that text
counts()
{
	printf '%b' "$3" >"$T/tap"
	"$REPO/scripts/tap.py" "$T/tap" >"$T/counted"
	_rc=$?
	cat "$T/counted"
	[ "$_rc" = "$1" ] && [ "$(tail -n 1 "$T/counted")" = "$2" ]
}

says()	# each line of $1 is part of a line
{
	cat "$T/counted"
	echo "$1" | while read -r _part; do
		grep -qF -- "$_part" "$T/counted" || exit 1
	done
}

plan 20
check "flat" counts 0 "2 passed, 0 failed" '1..2\nok 1 - a\nok 2 - b\n'
check "a failure" counts 1 "1 passed, 1 failed" '1..2\nok 1 - a\n# why\nnot ok 2 - b\n'
check "its name and output are shown" says 'FAILED  b: not ok
# why'
check "a skip, with its reason" counts 0 "1 passed, 0 failed, 1 skipped" \
	'1..2\nok 1 - a\nok 2 - b # SKIP no such device\n'
check "the reason is shown" says 'skipped b: no such device'
check "nested: leaves only" counts 0 "3 passed, 0 failed" \
	'KTAP version 1\n1..2\n  KTAP version 1\n  1..2\n  ok 1 a\n  ok 2 b\nok 1 x\nok 2 y\n'
check "three levels, as KUnit's parameters are" counts 1 "2 passed, 1 failed" \
	'KTAP version 1\n1..1\n    KTAP version 1\n    # Subtest: s\n    1..2\n        KTAP version 1\n        # Subtest: p\n        1..2\n        ok 1 a\n        not ok 2 b\n    not ok 1 p\n    ok 2 q\nnot ok 1 s\n'
check "with its whole name" says 'FAILED  s / p / b: not ok'
check "the kernel log's time stamps" counts 0 "1 passed, 0 failed" \
	'[    1.234567] KTAP version 1\n[    1.234568] 1..1\n[    1.3]     KTAP version 1\n[    1.3]     # Subtest: s\n[    1.3]     1..1\n[    1.3] something else\n[    1.4]     ok 1 a\n[    1.5] ok 1 s\n'
check "too few" counts 1 "1 passed, 1 failed" '1..2\nok 1 - a\n'
check "too few, nested, though the level above is content" counts 1 "1 passed, 1 failed" \
	'1..1\n  1..2\n  ok 1 a\nok 1 x\n'
check "too many" counts 1 "2 passed, 1 failed" '1..1\nok 1 - a\nok 2 - b\n'
check "no plan" counts 1 "1 passed, 1 failed" 'ok 1 - a\n'
check "the plan at the end" counts 0 "1 passed, 0 failed" 'ok 1 - a\n1..1\n'
check "failed as a whole" counts 1 "1 passed, 1 failed" '1..1\n  1..1\n  ok 1 a\nnot ok 1 x\n'
check "nothing at all" counts 1 "0 passed, 1 failed" 'hello\n'
check "all skipped by the plan" counts 1 "0 passed, 0 failed, 1 skipped" \
	'1..1\n  1..0 # SKIP no tracer\nok 1 x # SKIP\n'
check "its reason" says 'skipped x: no tracer'
check "bail out" counts 1 "1 passed, 1 failed" '1..1\nok 1 - a\nBail out! no more\n'
check "carriage returns" counts 0 "1 passed, 0 failed" '1..1\r\nok 1 - a\r\n'
finish
