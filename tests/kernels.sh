#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The README's table of kernels: a row is put where it belongs, in the place of the one that it is newer than.
. "${0%/*}/../scripts/test-lib.sh"

readme=$T/README.md

table()	# ROW...
{
	printf 'before\n<!-- kernels -->\n| kernel | arch | gcc | sites | tests |\n|---|---|---|---|---|\n'
	[ $# = 0 ] || printf '%s\n' "$@"
	printf '<!-- end -->\nafter\n'
}

put()
{
	echo "$1" | "$REPO/scripts/kernels.py" "$readme"
}

shows()	# ROW...
{
	cat "$readme"
	[ "$(cat "$readme")" = "$(table "$@")" ]
}

old='| 6.1.192 | x86-64 | gcc | static | 1 |' rc='| 7.3.0-rc7 | x86-64 | gcc | static | 2 |'
new='| 7.3.4 | x86-64 | gcc | static | 3 |' narrow='| 7.3.4 | x86-32 | gcc | static | 4 |'

first()
{
	table >"$readme" && put "$old" && shows "$old"
}

ordered()
{
	table "$old" >"$readme" && put "$rc" && put "$narrow" && shows "$narrow" "$rc" "$old"
}

replaced()
{
	table "$narrow" "$rc" "$old" >"$readme" && put "$new" && shows "$narrow" "$new" "$old"
}

other_columns()
{
	table "$new" >"$readme"
	fails_saying 'not as many columns' put '| 7.3.4 | x86-64 |' && shows "$new"
}

no_table()
{
	echo text >"$readme"
	fails_saying '0 tables of kernels' put "$new" && [ "$(cat "$readme")" = text ]
}

plan 5
check "the first row" first
check "the newest kernel comes first" ordered
check "a row takes the place of that of an older release" replaced
check "other columns are refused" other_columns
check "no table is an error" no_table
finish
