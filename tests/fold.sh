#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tests scripts/fold.py: a change goes into the patches that introduced the code, and the final files stay the same.
. "${0%/*}/../scripts/test-lib.sh"

tree=$T/tree
g="git_plain -C $tree"

# add FILE LINE...: write a file of these lines; commit SUBJECT: commit all changes
add()
{
	file=$1
	shift
	printf '%s\n' "$@" >"$tree/$file"
}

commit()
{
	$g add -A && $g commit -q -m "$1"
}

series()
{
	rm -rf "$tree"
	git_plain init -q "$tree" && add kernel.c old && commit base && $g tag mctracer-base &&
		add a.c one two three four && commit "one: Add" &&
		add a.c one two three four five six && add kernel.c old new && commit "two: Add more" &&
		add a.c one two 3 four five six && commit "three: Change a line" &&
		add a.c one TWO TOO 3 four FIVE six && add kernel.c old newer && commit "four: Mend"
}

fold()	# ARGUMENT...
{
	last=$($g rev-parse 'HEAD^{tree}') &&
		"$REPO/scripts/fold.py" "$tree" "$@" && [ "$($g rev-parse 'HEAD^{tree}')" = "$last" ]
}

# state SUBJECT FILE LINES: succeed if FILE has these LINES after the commit SUBJECT
state()
{
	_commit=$($g log --format=%h --grep="^$1" HEAD) && $g show "$_commit:$2" | paste -s -d ' ' >"$T/state"
	cat "$T/state"
	[ "$(cat "$T/state")" = "$3" ]
}

subjects()
{
	$g log --reverse --format=%s mctracer-base..HEAD | paste -s -d ,
}

all()
{
	series && fold && subjects && [ "$(subjects)" = "one: Add,two: Add more,three: Change a line" ]
}

later()
{
	series && fold "four: Mend" two && state one a.c 'one two three four'
}

added()
{
	series && add b.c new && commit "five: Add a file" && fails_saying 'FIRST must be named' fold &&
		fold five two && $g cat-file -e HEAD~1:b.c && ! $g cat-file -e HEAD~3:b.c
}

untouched()
{
	rm -rf "$tree"
	git_plain init -q "$tree" && add kernel.c old && commit base && $g tag mctracer-base &&
		add a.c one && commit "one: Add" && add a.c two && add kernel.c new && commit "two: Change" &&
		fold && [ "$(subjects)" = "one: Add,two: Change" ] && state one a.c two && state one kernel.c old &&
		fold two one && [ "$(subjects)" = "one: Add" ] && state one kernel.c new
}

dirty()
{
	series && add a.c other && fails_saying 'not committed' fold
}

plan 9
check "a commit that is folded completely is removed" all
check "the first patch has the change of its line" state one a.c 'one TWO TOO three four'
check "the patch that adds a later line has the change of that line" \
	state two a.c 'one TWO TOO three four FIVE six'
check "the patch that changes the kernel's file has the change" state two kernel.c 'old newer'
check "patches before FIRST stay as they are" later
check "an added file needs FIRST" added
check "a file that no earlier patch touches stays in the commit, unless FIRST is named" untouched
check "an unknown commit is refused" fails_saying '0 commits are called nosuch' fold nosuch
check "changes that are not committed are refused" dirty
finish
