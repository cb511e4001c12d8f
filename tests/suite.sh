#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tests scripts/suite: runs the suites of tests/suites, records each result once, and continues a group where it stopped.
. "${0%/*}/../scripts/test-lib.sh"

unset KERNEL LINUX ONLY AGAIN
export XDG_CACHE_HOME="$T/cache"
repo=$T/repo
fake_repo "$repo"
mkdir -p "$repo/tests"
cat >"$repo/tests/suites" <<'END'
# a comment
good	6.12	all	echo "3 passed, 0 failed, 1 skipped"
group/bad	6.12	all	echo "2 passed, 1 failed"; exit 1
group/plain	7.3	kernel	true
group/broken	7.3	all	echo "5 passed, 0 failed"; false
END
printf '%s\n' "# suites" "<!-- ledger -->" "<!-- end -->" "below" >"$repo/README.md"

# commit: all that there is
commit()
{
	git_plain -C "$repo" add -A && git_plain -C "$repo" commit -q --allow-empty -m x
}

# suite STATUS LAST-LINE NAME...: succeed if scripts/suite ends with this status and last line
suite()
{
	_want=$1 _last=$2 _rc=0
	shift 2
	"$repo/scripts/suite" "$@" >"$T/out" 2>&1 || _rc=$?
	cat "$T/out"
	[ "$_rc" = "$_want" ] && [ "$(tail -n 1 "$T/out")" = "$_last" ]
}

# recorded NAME PASSED FAILED SKIPPED: succeed if the ledger has this suite once, with these counts
recorded()
{
	cat "$repo/tests/ledger"
	[ "$(awk -v name="$1" '$1 == name { print $5, $6, $7 }' "$repo/tests/ledger")" = "$2 $3 $4" ]
}

# row REGEX...: README's table has these rows, and its other lines are as they were
row()
{
	cat "$repo/README.md"
	for _row; do
		grep -qE "^\\| $_row" "$repo/README.md" || return
	done
	[ "$(tail -n 1 "$repo/README.md")" = below ]
}

# unrecorded: a run that is not as tests/suites has it leaves no line
unrecorded()
{
	cp "$repo/tests/ledger" "$T/ledger" && KERNEL=6.12 suite 0 "3 passed, 0 failed, 1 skipped" good &&
		ONLY=01 suite 0 "3 passed, 0 failed, 1 skipped" good && cmp "$T/ledger" "$repo/tests/ledger"
}

dirty()
{
	touch "$repo/tests/more" && suite 0 "3 passed, 0 failed, 1 skipped" good && row 'good \| 6\.12 \| 0 of 1 '
}

# complete: print parts that do nothing, and parts, classes of mutations and kernels that have no suite
complete()
{
	for _part in $("$REPO/scripts/test-part"; "$REPO/scripts/test-part" long); do
		grep -qE "^(	|)$_part(\\)|\\(\\))" "$REPO/scripts/test-part" || echo "part $_part does nothing"
	done
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

# shown: README's table is what ledger.py writes from tests/suites and tests/ledger for the commits that the table names
shown()
{
	_commits=$(sed -n '/^<!-- ledger/,/^<!-- end/p' "$REPO/README.md" | grep -owE '[0-9a-f]{12}' | sort -u)
	for _all in $_commits -; do
		for _kernel in $_commits -; do
			cp "$REPO/README.md" "$T/README.md"
			"$REPO/scripts/ledger.py" "$REPO/tests/suites" "$REPO/tests/ledger" readme "$T/README.md" \
				"all=$_all,kernel=$_kernel" || return
			! cmp -s "$REPO/README.md" "$T/README.md" || return 0
		done
	done
	diff "$REPO/README.md" "$T/README.md"
	echo "scripts/ledger.py tests/suites tests/ledger readme README.md all=-,kernel=- writes a table without results"
	return 1
}

silent()
{
	"$@" >"$T/said" 2>&1
	cat "$T/said"
	[ ! -s "$T/said" ]
}

git_plain init -q "$repo"
commit
plan 19
check "a suite's counts are the last line" suite 0 "3 passed, 0 failed, 1 skipped" good
check "the counts are in the ledger" recorded good 3 0 1
check "a group runs all of its suites" suite 1 "8 passed, 2 failed" group
check "a suite that fails is in the ledger" recorded group/bad 2 1 0
check "a suite without counts is one test" recorded group/plain 1 0 0
check "a suite that ends with an error has failed" recorded group/broken 5 1 0
check "README has a line for each group" row 'good \| 6\.12 \| 1 of 1 \| 3 \| 0 \| 1 \| [0-9]+ \| ' \
	'group \| 6\.12, 7\.3 \| 3 of 3 \| 8 \| 2 \| 0 \| '
check "a group leaves out what has passed" suite 1 "7 passed, 2 failed" group
check "a suite named by itself runs again" suite 0 "3 passed, 0 failed, 1 skipped" good
check "its line is replaced" recorded good 3 0 1
check "a run with KERNEL= or ONLY= is not recorded" unrecorded
commit
check "results and documents are no other code" suite 1 "7 passed, 2 failed" group
echo "new	6.12	all	true" >>"$repo/tests/suites"
commit
check "on other code all of a group run" suite 1 "8 passed, 2 failed" group
mkdir -p "$repo/tools" "$repo/patches/01-x" && echo >"$repo/tools/mctrace.c" && echo >"$repo/patches/01-x/0001-tools-mctrace-X.patch"
commit
check "a suite of the kernel does not run again for mctrace" suite 1 "7 passed, 2 failed" group
echo >"$repo/patches/01-x/0002-mcount-X.patch"
commit
check "it does for another patch" suite 1 "8 passed, 2 failed" group
check "code that no commit has does not count in README" dirty
check "an unknown suite is refused" fails_saying "no such suite: nosuch" "$repo/scripts/suite" nosuch
check "each part, class of mutations and kernel has a suite" silent complete
check "README has the table of these suites" shown
finish
