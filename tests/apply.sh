#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tests scripts/apply on fake trees, with git and without: a failure must leave the tree as it was.
. "${0%/*}/../scripts/test-lib.sh"

export XDG_CACHE_HOME="$T/cache"
repo=$T/repo
fake_repo "$repo"

applied()	# DIR
{
	grep -q 'two, changed' "$1/init/main.c" && [ -f "$1/kernel/trace/new/new.c" ] &&
		[ -x "$1/tools/testing/selftests/mctracer/run.sh" ]
}

on_git()
{
	fake_git_tree "$T/git"
	LINUX=$T/git "$repo/scripts/apply" && applied "$T/git" &&
		[ "$(git -C "$T/git" log --format=%s | xargs)" = 'second first base' ] &&
		[ -z "$(git -C "$T/git" status --porcelain)" ]
}

on_plain()
{
	fake_tree "$T/plain"
	LINUX=$T/plain "$repo/scripts/apply" && applied "$T/plain" &&
		(cd "$T/plain" && [ "$(QUILT_PATCHES=$repo/patches quilt applied | wc -l)" = 2 ])
}

on_changed_git()	# a git tree with local changes: quilt applies, and the changes stay
{
	fake_git_tree "$T/changed"
	echo mine >"$T/changed/kernel/fork.c"
	LINUX=$T/changed "$repo/scripts/apply" && applied "$T/changed" &&
		grep -q mine "$T/changed/kernel/fork.c"
}

first()	# only the first posting, by git and by quilt
{
	fake_git_tree "$T/first-git" && fake_tree "$T/first" || return
	for tree in first-git first; do
		LINUX=$T/$tree POSTINGS=1 "$repo/scripts/apply" && [ -f "$T/$tree/kernel/trace/new/new.c" ] &&
			[ ! -e "$T/$tree/tools/testing/selftests/mctracer/run.sh" ] || return
	done
	[ "$(git -C "$T/first-git" log --format=%s | xargs)" = 'first base' ] &&
		LINUX=$T/first POSTINGS=3 fails_saying 'only 2 postings' "$repo/scripts/apply" &&
		LINUX=$T/first POSTINGS=x fails_saying 'number of postings' "$repo/scripts/apply"
}

twice()	# DIR
{
	before=$(sum "$1")
	LINUX=$1 fails_saying 'already has .*: the series, or a part of it' "$repo/scripts/apply" &&
		[ "$before" = "$(sum "$1")" ]
}

conflict()	# DIR FAKE: a file that the first patch changes has other contents
{
	"$2" "$1"
	sed -i 's/two/zwei/' "$1/init/main.c"
	[ "$2" = fake_tree ] || git_plain -C "$1" commit -q -a -m other
	before=$(sum "$1")
	LINUX=$1 fails_saying 'nothing was changed there' "$repo/scripts/apply" &&
		[ "$before" = "$(sum "$1")" ] &&
		{ [ "$2" = fake_tree ] || [ -z "$(git -C "$1" status --porcelain)" ]; }
}

fuzz()	# patches that would need fuzz are refused
{
	fake_tree "$T/fuzz"
	sed -i 's/three/drei/' "$T/fuzz/init/main.c"
	before=$(sum "$T/fuzz")
	LINUX=$T/fuzz fails_saying 'nothing was changed there' "$repo/scripts/apply" &&
		[ "$before" = "$(sum "$T/fuzz")" ]
}

plan 10
check "the series is applied to a git tree as commits" on_git
check "the series is applied to a plain tree by quilt" on_plain
check "POSTINGS=1 applies the first posting" first
check "local changes of a git tree stay" on_changed_git
check "a git tree that has the series is refused" twice "$T/git"
check "a plain tree that has the series is refused" twice "$T/plain"
check "a conflict leaves a git tree as it was" conflict "$T/conflict-git" fake_git_tree
check "a conflict leaves a plain tree as it was" conflict "$T/conflict" fake_tree
check "a patch that needs fuzz is refused" fuzz
check "without LINUX= the error shows how to name a tree" \
	fails_saying 'make apply LINUX=' env -u LINUX "$repo/scripts/apply"
finish
