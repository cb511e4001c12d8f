#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tests the series for other kernels: the patches with the diffs of ports/ apply, and export writes these diffs. Uses
# fake kernel trees, except in the last check.
. "${0%/*}/../scripts/test-lib.sh"

export XDG_CACHE_HOME="$T/cache"
unset MCT_LOCKED KERNEL LINUX
repo=$T/repo
fake_repo "$repo"
port=$repo/ports/6.13
mkdir -p "$port"
printf '# here\nlinux-source-6.13_0-none_all.deb 0\n' >"$port/source"
cat >"$port/0001-first.diff" <<'END'
--- 6.12
+++ 6.13
@@ -14,4 +14,4 @@
  one
--two
-+two, changed
+-zwei
++zwei, changed
  three
END

# newer DIR: make a tree of the other kernel
newer()
{
	fake_tree "$1" 6 13
	sed -i 's/two/zwei/' "$1/init/main.c"
}

applied()	# DIR WORD
{
	grep -qx "$2, changed" "$1/init/main.c" && [ -f "$1/kernel/trace/new/new.c" ] &&
		[ -x "$1/tools/testing/selftests/mctracer/run.sh" ]
}

by_git()
{
	newer "$T/git" && git_plain -C "$T/git" init -q -b main && git_plain -C "$T/git" add -A &&
		git_plain -C "$T/git" commit -q -m base &&
		LINUX=$T/git "$repo/scripts/apply" && applied "$T/git" zwei
}

by_quilt()
{
	newer "$T/plain"
	LINUX=$T/plain "$repo/scripts/apply" && applied "$T/plain" zwei
}

as_before()
{
	fake_tree "$T/older"
	LINUX=$T/older "$repo/scripts/apply" && applied "$T/older" two
}

of_none()
{
	fake_tree "$T/none" 6 14
	LINUX=$T/none fails_saying 'is Linux 6.14.1; this series needs Linux 6.12 or 6.13\.' "$repo/scripts/apply" &&
		KERNEL=6.14 fails_saying 'no such kernel here: 6.14 .there are: 6.12 6.13' "$repo/scripts/kernel-tree"
}

not_there()
{
	KERNEL=6.13 fails_saying 'give a tree of Linux 6.13 by LINUX=DIR' "$repo/scripts/kernel-tree" &&
		[ -z "$(ls "$XDG_CACHE_HOME/mctracer/source")" ]
}

no_fit()
{
	cp "$port/0001-first.diff" "$T/kept"
	sed -i 's/^--two/--three/' "$port/0001-first.diff"
	newer "$T/unfit"
	before=$(sum "$T/unfit")
	LINUX=$T/unfit fails_saying '0001-first.diff no longer fits 0001-first.patch' "$repo/scripts/apply"
	rc=$?
	cp "$T/kept" "$port/0001-first.diff"
	[ "$rc" = 0 ] && [ "$before" = "$(sum "$T/unfit")" ]
}

# fragments_of KERNEL FLAVOUR: print the paths of the configuration's files, relative to the repository
fragments_of()
{
	KERNEL=$1 sh -c '. "${0%/*}/lib.sh"; . "${0%/*}/kbuild.sh"; fragments "$1"' "$repo/scripts/any" "$2" |
		sed "s,$repo/,,g"
}

own_base()	# only that kernel uses the file, and only for its width
{
	echo CONFIG_C=y >"$port/base-32.config"
	of_it=$(fragments_of 6.13 fake-32) wide=$(fragments_of 6.13 fake) main=$(fragments_of 6.12 fake-32)
	rm "$port/base-32.config"
	printf '%s\n' "$of_it" "$wide" "$main"
	[ "$of_it" = "configs/base.config ports/6.13/base-32.config configs/fake.config" ] &&
		[ "$wide" = "configs/base.config configs/base-64.config configs/fake.config" ] &&
		[ "$main" = "configs/base.config configs/base-32.config configs/fake.config" ]
}

exported()	# export writes the diff, and nothing else
{
	newer "$T/linux"
	LINUX=$T/linux "$repo/scripts/worktree" "$T/work" || return
	cp -R "$repo" "$T/again"
	"$T/again/scripts/export" "$T/work" || return
	cat "$T/again/ports/6.13/"*.diff
	[ "$(ls "$T/again/ports/6.13")" = "$(printf '0001-first.diff\nsource')" ] || return
	rm -r "$repo/ports" && cp -R "$T/again/ports" "$repo/" && diff -r "$repo" "$T/again" &&
		newer "$T/same" && LINUX=$T/same "$repo/scripts/apply" && applied "$T/same" zwei
}

others()	# a tree with an additional commit
{
	git_plain -C "$T/work" commit -q --allow-empty -m more
	echo more >"$T/work/kernel/more.c"
	git_plain -C "$T/work" add -A && git_plain -C "$T/work" commit -q --amend -m more || return
	before=$(sum "$repo")
	fails_saying 'has other patches than the series' "$repo/scripts/export" "$T/work" &&
		[ "$before" = "$(sum "$repo")" ]
}

# real: all diffs of the real series must fit
real()
{
	[ "$(kernels | wc -l)" -gt 1 ] || return
	for KERNEL in $(kernels); do
		dir=$(patches) && [ "$(cd "$dir" && ls -- *.patch)" = "$(series | sort)" ] || return
		echo "$KERNEL: $dir"
	done
}

plan 10
check "the series is applied to a git tree of another kernel" by_git
check "the series is applied to a plain tree of another kernel" by_quilt
check "the main kernel gets patches/ unchanged" as_before
check "an unsupported kernel is refused, and the supported ones are named" of_none
check "if the source can't be downloaded, the error explains what to do" not_there
check "a diff that no longer fits is named, and the tree is unchanged" no_fit
check "a port's own base configuration is used" own_base
check "export of another kernel's tree writes the diffs and nothing else" exported
check "export refuses a tree with other patches" others
check "all diffs fit the series" real
finish
