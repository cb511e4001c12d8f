#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tests scripts/post, which makes the mails of a series, on a fake kernel tree. Its get_maintainer.pl names two
# maintainers and a list.
. "${0%/*}/../scripts/test-lib.sh"

export XDG_CACHE_HOME="$T/cache"
unset MCT_LOCKED KERNEL LINUX
repo=$T/repo
fake_repo "$repo"
cat >"$repo/patches/one/cover-letter" <<'END'
Subject: [PATCH 0/1] new: a thing

What it is for.

The end.
END
sed 's/a thing/a program/' "$repo/patches/one/cover-letter" >"$repo/patches/two/cover-letter"
printf 'run:\n\t@scripts/run\n' >"$repo/Makefile"

# tree DIR: make a fake tree. The last argument of its get_maintainer.pl is a patch.
tree()
{
	fake_tree "$1"
	cat >"$1/scripts/get_maintainer.pl" <<'END'
$_ = pop;
print "First M <first\@localhost> (maintainer:NEW (X))\n" if /first/;
print "Second M <second\@localhost> (supporter:OLD)\n" if /second/;
print "First M <first\@localhost> (reviewer:OLD)\n" if /second/;
print "list\@localhost (open list:NEW)\n";
END
}
tree "$T/plain"
tree "$T/git"
git_plain -C "$T/git" init -q -b main && git_plain -C "$T/git" add -A && git_plain -C "$T/git" commit -q -m base

# header MAIL NAME: print the header's lines as one
header()
{
	sed '/^$/,$d' "$1" | awk -v name="$2:" '/^[^ ]/ { in_it = $1 == name } in_it' | xargs
}

mails()
{
	LINUX=$T/git "$repo/scripts/post" "$T/mails" one && LINUX=$T/git "$repo/scripts/post" "$T/two" 2 &&
		cd "$T/mails" && ls && [ "$(echo ./*)" = "./0000-cover-letter.patch ./0001-first.patch" ] &&
		cat ./* && [ "$(header 0000-cover-letter.patch Subject)" = "Subject: [PATCH 0/1] new: a thing" ] &&
		[ "$(header 0000-cover-letter.patch From)" = "From: A Tester <tester@localhost>" ] &&
		grep -qx 'What it is for\.' 0000-cover-letter.patch && grep -qx 'The end\.' 0000-cover-letter.patch &&
		grep -q 'new.c .*+' 0000-cover-letter.patch && cd "$T/two" && ls && cat ./* &&
		[ "$(echo ./*)" = "./0000-cover-letter.patch ./0001-second.patch" ] &&
		[ "$(header 0000-cover-letter.patch Subject)" = "Subject: [PATCH 0/1] new: a program" ] &&
		grep -q 'run.sh .*+' 0000-cover-letter.patch
}

base()
{
	tail -n 1 "$T/mails/0000-cover-letter.patch"
	[ "$(tail -n 1 "$T/mails/0000-cover-letter.patch")" = "base-commit: $(git -C "$T/git" rev-parse HEAD)" ] &&
		tail -n 1 "$T/two/0000-cover-letter.patch" && ! grep -r '^base-commit' "$T/two" &&
		[ "$(tail -n 1 "$T/two/0000-cover-letter.patch")" = 'Needs the series "new: a thing".' ]
}

recipients()
{
	cd "$T/mails" && head -n 20 ./* &&
		[ "$(header 0001-first.patch To)" = "To: First M <first@localhost>" ] &&
		[ "$(header 0001-first.patch Cc)" = "Cc: list@localhost" ] &&
		[ "$(header 0000-cover-letter.patch To)" = "To: First M <first@localhost>" ] &&
		[ "$(header 0000-cover-letter.patch Cc)" = "Cc: list@localhost" ] &&
		cd "$T/two" && head -n 20 ./* &&
		[ "$(header 0001-second.patch To)" = "To: Second M <second@localhost>" ] &&
		header 0001-second.patch Cc | grep -q 'First M <first@localhost>' &&
		header 0000-cover-letter.patch Cc | grep -q 'First M <first@localhost>' &&
		[ "$(header 0000-cover-letter.patch To)" = "To: Second M <second@localhost>" ]
}

# same: applying the mails must give the series' tree
same()
{
	git clone -q "$T/git" "$T/again" && git_plain -C "$T/again" am -q "$T/mails/"0001* "$T/two/"0001* &&
		[ "$(git -C "$T/again" rev-parse "HEAD^{tree}")" = \
		"$(git -C "$(LINUX=$T/git "$repo/scripts/kernel-tree")" rev-parse "mctracer^{tree}")" ]
}

no_base()
{
	LINUX=$T/plain "$repo/scripts/post" "$T/plain-mails" one 2>"$T/said" || return
	cat "$T/said"
	grep -q 'no base-commit' "$T/said" && ! grep -r '^base-commit' "$T/plain-mails"
}

not_again()
{
	before=$(sum "$T/mails")
	LINUX=$T/git fails_saying 'mails exists already' "$repo/scripts/post" "$T/mails" one &&
		[ "$before" = "$(sum "$T/mails")" ]
}

# own WORDS: succeed if a patch with WORDS in its message is refused
own()
{
	cp "$repo/patches/one/0001-first.patch" "$T/kept"
	sed -i "s,^A new file.*,See $1 for it.," "$repo/patches/one/0001-first.patch"
	LINUX=$T/git fails_saying "0001-first.patch:[0-9]+:See $1 for it" "$repo/scripts/post" "$T/refused" one
	rc=$?
	cp "$T/kept" "$repo/patches/one/0001-first.patch"
	[ "$rc" = 0 ] && [ ! -e "$T/refused" ]
}

nobody()
{
	tree "$T/nobody"
	: >"$T/nobody/scripts/get_maintainer.pl"
	LINUX=$T/nobody fails_saying 'nobody is named for' "$repo/scripts/post" "$T/refused" one && [ ! -e "$T/refused" ]
}

unknown()
{
	LINUX=$T/git fails_saying 'there is no posting three; there are: one two' "$repo/scripts/post" "$T/refused" three &&
		[ ! -e "$T/refused" ]
}

plan 10
check "each posting's letter and patches are written" mails
check "the first letter ends with the base-commit, the others with the series before" base
check "each mail has its recipients, and the letter has all" recipients
check "the mails give the series' tree" same
check "without a git tree the letter has no base-commit" no_base
check "existing mails are not overwritten" not_again
check "a path that only this repository has is refused" own scripts/post
check "a target of this repository's Makefile is refused" own "make run"
check "a patch without recipients is refused" nobody
check "an unknown posting is refused" unknown
finish
