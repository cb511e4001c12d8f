#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tests scripts/worktree, export and check-tree on a fake kernel tree: editing and exporting keep the patches,
# the comments of series and the readable folders right, and check-tree notices mistakes in them.
. "${0%/*}/../scripts/test-lib.sh"

export XDG_CACHE_HOME="$T/cache"
unset MCT_LOCKED
repo=$T/repo
fake_repo "$repo"
fake_tree "$T/linux"
export LINUX="$T/linux"
g="git_plain -C $T/work"

worktree()
{
	"$repo/scripts/worktree" "$T/work" && [ "$($g log --format=%s | xargs)" = 'second first Linux 6.12.1' ] &&
		[ "$($g symbolic-ref --short HEAD)" = mctracer ]
}

round_trip()
{
	"$repo/scripts/export" "$T/work" || return 1
	cp -R "$repo" "$T/again" && "$T/again/scripts/export" "$T/work" &&
		diff -r "$repo" "$T/again" && [ -f "$repo/kernel-trace/new/new.c" ] &&
		[ -x "$repo/tests/selftests/run.sh" ] && "$repo/scripts/check-tree"
}

inserted()	# a patch between the two: numbers change, comments stay above the same patches
{
	$g checkout -q -B mctracer HEAD~1 && mkdir -p "$T/work/include/linux" &&
		echo header >"$T/work/include/linux/new.h" && $g add -A &&
		$g commit -q -m between && $g cherry-pick "$("$repo/scripts/kernel-tree" >/dev/null
			git -C "$("$repo/scripts/kernel-tree")" rev-parse HEAD)" || return 1
	"$repo/scripts/export" "$T/work" || return 1
	cat >"$T/want" <<'END'
# Banner one

# Banner two, of the first
one/0001-first.patch
one/0002-between.patch
# Banner of the second
two/0001-second.patch
END
	diff "$T/want" "$repo/series" && [ -e "$repo/patches/one/0002-between.patch" ] &&
		[ -f "$repo/include/linux/new.h" ] && "$repo/scripts/check-tree"
}

dropped()	# a removed patch: its files are removed, its comments move to the next patch
{
	$g checkout -q -B mctracer HEAD~2 && $g cherry-pick 'mctracer@{1}' || return 1
	"$repo/scripts/export" "$T/work" && [ ! -e "$repo/include" ] && [ "$(grep -c . "$repo/series")" = 5 ] &&
		"$repo/scripts/check-tree"
}

moved()	# a patch whose folder in series was changed is exported to that posting
{
	sed -i 's,^one/,new/,' "$repo/series"
	"$repo/scripts/export" "$T/work" && cat "$repo/series" && [ -f "$repo/patches/new/0001-first.patch" ] &&
		[ ! -e "$repo/patches/one" ] && "$repo/scripts/check-tree"
}

notices()	# REGEX COMMAND...: succeed if check-tree fails with REGEX after COMMAND changed a copy
{
	cp -a "$repo" "$T/spoilt"
	_want=$1
	shift
	(cd "$T/spoilt" && "$@") || return 1
	fails_saying "$_want" "$T/spoilt/scripts/check-tree"
	_rc=$?
	rm -rf "$T/spoilt"
	return "$_rc"
}

plan 12
check "worktree makes a tree with one commit for each patch" worktree
check "export is stable, and its result passes check-tree" round_trip
check "after an inserted patch, comments are above the same patches" inserted
check "the files of a dropped patch are removed" dropped
check "a patch is moved to another posting" moved
check "check-tree notices a patch that series lacks" notices 'do not name the same' \
	sed -i '/second/d' series
check "check-tree notices a missing patch" notices 'do not name the same' \
	rm patches/two/0001-second.patch
check "check-tree notices a changed byte in a folder" notices 'not the same.*: kernel-trace$' \
	sed -i 's/new/old/' kernel-trace/new/new.c
check "check-tree notices an additional file" notices 'not the same.*: include$' \
	sh -c 'mkdir include && echo x >include/more.h'
check "check-tree notices a missing file" notices 'not the same.*: tests/selftests$' \
	rm tests/selftests/run.sh
check "check-tree notices a changed byte in tools" notices 'not the same.*: tools$' \
	sh -c 'mkdir -p tools && echo x >tools/more.c'
check "check-tree notices a changed mode" notices 'not the same.*: tests/selftests$' \
	chmod -x tests/selftests/run.sh
finish
