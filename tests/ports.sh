#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tests the series for other kernels: the new files and ports/VERSION/port.patch apply, and export writes that patch.
# Uses fake kernel trees, except in the last check.
. "${0%/*}/../scripts/test-lib.sh"

export XDG_CACHE_HOME="$T/cache"
unset MCT_LOCKED KERNEL LINUX
repo=$T/repo
fake_repo "$repo"
port=$repo/ports/6.13
mkdir -p "$port"
printf '# here\nlinux-source-6.13_0-none_all.deb 0\n' >"$port/source"
cat >"$port/port.patch" <<'END'
From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001
From: A Tester <tester@localhost>
Date: Tue, 1 Jan 2008 00:00:00 +0000
Subject: [PATCH] build for 6.13

What differs.
---
diff --git a/init/main.c b/init/main.c
--- a/init/main.c
+++ b/init/main.c
@@ -1,3 +1,3 @@
 one
-zwei
+zwei, changed
 three
END
# The readable folders have the new files of fake_repo's patches.
mkdir -p "$repo/kernel-trace/new" "$repo/tests/selftests"
echo new >"$repo/kernel-trace/new/new.c"
echo '#!/bin/sh' >"$repo/tests/selftests/run.sh"
chmod +x "$repo/tests/selftests/run.sh"

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
	newer "$T/unfit"
	sed -i 's/zwei/deux/' "$T/unfit/init/main.c"
	before=$(sum "$T/unfit")
	LINUX=$T/unfit fails_saying 'nothing was changed there' "$repo/scripts/apply" &&
		[ "$before" = "$(sum "$T/unfit")" ]
}

# built: files that git ignores are not part of the series
built()
{
	cp -R "$repo" "$T/built" && git_plain -C "$T/built" init -q && echo '*.o' >"$T/built/.gitignore" || return
	git_plain -C "$T/built" add -A && git_plain -C "$T/built" commit -q -m x || return
	touch "$T/built/kernel-trace/new/new.o" "$T/built/kernel-trace/new/added.c"
	newer "$T/clean"
	LINUX=$T/clean "$T/built/scripts/apply" && applied "$T/clean" zwei &&
		[ "$(ls "$T/clean/kernel/trace/new")" = "$(printf 'added.c\nnew.c')" ]
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

exported()	# export writes the port's patch, and nothing else
{
	newer "$T/linux"
	LINUX=$T/linux "$repo/scripts/worktree" "$T/work" &&
		[ "$(git -C "$T/work" rev-list --count mctracer-base..HEAD)" = 2 ] || return
	cp -R "$repo" "$T/again"
	"$T/again/scripts/export" "$T/work" || return
	cat "$T/again/ports/6.13/port.patch"
	diff -r "$repo" "$T/again"
}

# changed: a file of the kernel and a new file differ, in two more commits
changed()
{
	echo better >"$T/work/kernel/trace/new/new.c"
	git_plain -C "$T/work" commit -q -a -m one
	echo changed >"$T/work/kernel/fork.c"
	git_plain -C "$T/work" commit -q -a -m two
	"$T/again/scripts/export" "$T/work" || return
	cat "$T/again/ports/6.13/port.patch"
	[ "$(diff -rq "$repo" "$T/again" | wc -l)" = 1 ] && newer "$T/same" &&
		LINUX=$T/same "$T/again/scripts/apply" && applied "$T/same" zwei &&
		[ "$(cat "$T/same/kernel/fork.c" "$T/same/kernel/trace/new/new.c")" = "$(printf 'changed\nbetter')" ]
}

# stale: a new file has changed since the tree was made
stale()
{
	cp -R "$repo" "$T/later" && echo newer >"$T/later/kernel-trace/new/new.c" || return
	fails_saying 'merge their changes there' "$T/later/scripts/export" "$T/work" &&
		cmp "$repo/ports/6.13/port.patch" "$T/later/ports/6.13/port.patch" || return
	echo newer >"$T/work/kernel/trace/new/new.c" && git_plain -C "$T/work" commit -q -a -m merged &&
		MERGED=1 "$T/later/scripts/export" "$T/work" && ! grep -q new.c "$T/later/ports/6.13/port.patch"
}

# unknown: the tree of a kernel without a port does not replace patches/
unknown()
{
	fake_tree "$T/other" 6 14 && git_plain -C "$T/other" init -q && git_plain -C "$T/other" add -A &&
		git_plain -C "$T/other" commit -q -m base && git_plain -C "$T/other" commit -q --allow-empty -m more || return
	before=$(sum "$repo")
	fails_saying 'there is no ports/6.14' "$repo/scripts/export" "$T/other" && [ "$before" = "$(sum "$repo")" ]
}

# real: the patches of each kernel have all new files, and nothing of the index lines that would change with them
real()
{
	[ "$(kernels | wc -l)" -gt 1 ] || return
	for KERNEL in $(kernels | sed 1d); do
		dir=$(patches) && [ "$(grep -c '^new file mode' "$dir/0001-new-files.patch")" = "$(new_files | wc -l)" ] &&
			! grep -q '^index ' "$dir/0002-port.patch" || return
		echo "$KERNEL: $dir"
	done
}

# traced_early: print functions that a kernel with the series compiles without call sites, and that the module does not
# leave out, although it needs the same
traced_early()
{
	python3 - "$REPO" <<'END'
import glob
import re
import sys

own = {"ftrace_goes_elsewhere",         # the series' own
       "bpf_has_frame_pointer"}         # only noise where there is no call site for its caller
names, left_out = set(), set(re.findall(r'^\t"(\w+)",$', open(sys.argv[1] + "/module/compat.c").read(), re.M))
for patch in glob.glob(sys.argv[1] + "/patches/*/*.patch") + glob.glob(sys.argv[1] + "/ports/*/port.patch"):
    file = ""
    for line in open(patch, errors="replace"):
        file = line[6:].strip() if line.startswith("+++ b/") else file
        found = re.match(r"\+\+?(?!\+)[^*/#\"]*\bnotrace\b[^;]*?(\w+)\(", line)
        if found and file.startswith(("arch/", "drivers/", "kernel/")):
            names.add(found[1])
print("%d functions" % len(names), file=sys.stderr)
if len(names) < 20:
    print("too few")
print("\n".join(sorted(names - left_out - own)))
END
}
left_out()
{
	traced_early >"$T/early" && cat "$T/early" && ! grep -q . "$T/early"
}

plan 14
check "the module leaves out what the series compiles without call sites" left_out
check "the series is applied to a git tree of another kernel" by_git
check "the series is applied to a plain tree of another kernel" by_quilt
check "the main kernel gets patches/ unchanged" as_before
check "an unsupported kernel is refused, and the supported ones are named" of_none
check "if the source can't be downloaded, the error explains what to do" not_there
check "a port that does not fit the tree leaves it unchanged" no_fit
check "a port's own base configuration is used" own_base
check "files that git ignores are left out" built
check "export of an unchanged tree changes nothing" exported
check "export writes the port's patch, and nothing else" changed
check "export refuses a tree that is older than the new files" stale
check "export refuses the tree of a kernel without a port" unknown
check "the patches for the ports have all new files" real
finish
