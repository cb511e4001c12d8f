#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Checks that files use only their own layer and those above it, as the folder's Makefile lists them, and that no files
# use each other in a circle (scripts/layers.py); and that the check finds violations.
. "${0%/*}/../scripts/test-lib.sh"

layers()
{
	"$REPO/scripts/layers.py" "$1"
}

# mcount, the lower of the two parts, must not know mctracer.
alone()
{
	! grep -rn mctracer "$REPO/kernel-trace/mcount" --include='*.[chS]' --include=Makefile
}

# broken FILE TEXT: copy mctracer, append TEXT to FILE, and print what the check finds there
broken()
{
	rm -rf "$T/copy"
	cp -R -- "$REPO/kernel-trace/mctracer" "$T/copy"
	mkdir -p "$(dirname "$T/copy/$1")"
	printf '%s\n' "$2" >>"$T/copy/$1"
	! layers "$T/copy"
}

finds()	# PATTERN FILE TEXT
{
	broken "$2" "$3" >"$T/found" || return 1
	cat "$T/found"
	grep -qE "$1" "$T/found"
}

plan 7
check "mctracer's files use only layers above theirs, and none in a circle" layers "$REPO/kernel-trace/mctracer"
check "mcount does not use mctracer" alone
check "a header of a lower layer is found" finds '^ring/ring\.c includes files/text\.h' \
	ring/ring.c '#include "../files/text.h"'
check "a function of a lower layer is found, in any notation" finds '^ring/ring\.c uses mctracer_start of control/tracer\.c' \
	ring/ring.c 'static int x(void) { int (*start)(void) = mctracer_start; return start(); }'
check "a variable of a lower layer is found" finds '^ring/ring\.c uses mctracer_sets_mutex of record/selected\.c' \
	ring/ring.c 'static void x(void) { lockdep_assert_held(&mctracer_sets_mutex); }'
check "a circle in one layer is found" finds 'circle: .*select/expressions\.c.*select/functions\.c' \
	select/expressions.c 'static void *x(void) { return mctracer_functions_show; }'
check "a folder that is not in the list is found" finds '^more/: not in' more/Makefile ''
finish
