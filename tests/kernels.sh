#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tests scripts/kernels.py: a new row is put into the table of kernels in order, and replaces an older row.
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
check "a row is put into an empty table" first
check "the newest kernel comes first" ordered
check "a row replaces the row of an older release" replaced
check "a row with other columns is refused" other_columns
check "a document without a table is an error" no_table
finish
