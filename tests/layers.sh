#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Checks that files use only their own layer and those above it, as the folder's Makefile lists them, and that no files
# use each other in a circle (scripts/layers.py); that the table of locks has each mutex; and that the checks find
# violations.
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

# mutexes FOLDER: print each mutex of FOLDER/mcount and FOLDER/mctracer that the table of locks does not have. The
# table has a mutex by its name, or, if it is part of a structure, by the name of its file.
mutexes()
{
	_table=$1/mctracer/control/control.h
	sed -n '/^ \* Locks$/,/^ \*\//p' "$_table" >"$T/table"
	[ "$(grep -c _mutex "$T/table")" -ge 8 ] || echo "$_table has no table of locks"
	grep -rhoE 'DEFINE_(MUTEX|SPINLOCK|RAW_SPINLOCK|RWLOCK|RWSEM|SEMAPHORE)\([a-z_]+|DECLARE_RWSEM\([a-z_]+' \
		"$1/mcount" "$1/mctracer" --include='*.[ch]' --exclude-dir=tests | sed 's/.*(//' | sort -u >"$T/mutexes"
	grep -rlE '^	+(struct (mutex|rw_semaphore)|(raw_)?spinlock_t|rwlock_t) [a-z_]+;' \
		"$1/mcount" "$1/mctracer" --include='*.[ch]' --exclude-dir=tests | sed 's,.*/,,' | sort -u >"$T/files"
	cat "$T/mutexes" "$T/files" | while read -r _name; do
		grep -qwF -- "$_name" "$T/table" || echo "not in the table of locks: $_name"
	done
	[ "$(wc -l <"$T/mutexes")" -ge 10 ] && [ -s "$T/files" ] || echo "few mutexes are found"
}

listed()
{
	mutexes "$REPO/kernel-trace" | tee "$T/unlisted"
	[ ! -s "$T/unlisted" ]
}

# unlisted FILE TEXT NAME: succeed if NAME is missing in the table after TEXT is appended to FILE
unlisted()
{
	rm -rf "$T/copy"
	mkdir "$T/copy"
	cp -R -- "$REPO/kernel-trace/mcount" "$REPO/kernel-trace/mctracer" "$T/copy/"
	printf '%s\n' "$2" >>"$T/copy/$1"
	mutexes "$T/copy" | grep -x "not in the table of locks: $3"
}

plan 10
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
check "each mutex is in the table of locks in control.h" listed
check "a mutex that is not in the table is found" unlisted mcount/sysctl.c 'static DEFINE_MUTEX(some_mutex);' some_mutex
check "a mutex in a structure whose file is not in the table is found" unlisted mctracer/files/text.c \
	'struct x {
	struct mutex mutex;
};' text.c
finish
