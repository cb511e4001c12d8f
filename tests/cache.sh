#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tests the cache on a fake kernel tree: half-finished work is never taken for finished, and only changed
# parts are made again.
. "${0%/*}/../scripts/test-lib.sh"

export XDG_CACHE_HOME="$T/cache"
unset MCT_LOCKED
repo=$T/repo
fake_repo "$repo"
fake_tree "$T/linux"
export LINUX="$T/linux"

first()
{
	tree=$("$repo/scripts/kernel-tree") || return 1
	grep -q 'two, changed' "$tree/init/main.c" && [ -f "$tree/kernel/trace/new/new.c" ] &&
		[ "$(git -C "$tree" rev-list --count mctracer-base..HEAD)" = 2 ]
}

half_unpacked()	# the state that an interrupted unpack leaves
{
	"$repo/scripts/kernel-tree" >/dev/null || return 1
	name=$(basename -- "$("$repo/scripts/kernel-tree")")
	rm -rf "$XDG_CACHE_HOME/mctracer/tree"
	mkdir -p "$XDG_CACHE_HOME/mctracer/tree/new.$name/left"
	first && [ ! -e "$tree/left" ]
}

half_applied()	# the state that an interrupted git am leaves
{
	first || return 1
	rm "$tree/.git/mctracer-key"
	git_plain -C "$tree" checkout -q -f mctracer-base
	echo junk >"$tree/init/main.c"
	echo junk >"$tree/kernel/trace/junk.c"
	first && [ ! -e "$tree/kernel/trace/junk.c" ]
}

only_changed()	# a changed series gives new times only to the files that differ
{
	first || return 1
	find "$tree" -name '*.c' -exec touch -d '2020-01-01' {} +
	git -C "$tree" update-index -q --refresh
	sed -i 's/^+new$/+newer/' "$repo/patches/one/0001-first.patch"
	"$repo/scripts/kernel-tree" >/dev/null || return 1
	changed=$(cd "$tree" && find . -name '*.c' -newermt 2021-01-01)
	echo "changed: $changed"
	[ "$changed" = ./kernel/trace/new/new.c ]
}

broken_series()
{
	echo two/0002-none.patch >>"$repo/series"
	fails_saying 'error: .*patch' "$repo/scripts/kernel-tree"
	rc=$?
	sed -i '$d' "$repo/series"
	return "$rc"
}

does_not_apply()
{
	sed -i.keep 's/^-two$/-deux/' "$repo/patches/one/0001-first.patch"
	fails_saying 'the whole log: .*kernel-tree.log' "$repo/scripts/kernel-tree"
	rc=$?
	mv "$repo/patches/one/0001-first.patch.keep" "$repo/patches/one/0001-first.patch"
	[ "$rc" = 0 ] && grep -q 'patch does not apply' "$T/err" && first
}

refused()	# VERSION PATCHLEVEL REGEX
{
	rm -rf "$T/other"
	fake_tree "$T/other" "$1" "$2"
	before=$(sum "$T/other")
	LINUX=$T/other fails_saying "$3" "$repo/scripts/kernel-tree" &&
		LINUX=$T/other fails_saying "$3" "$repo/scripts/apply" &&
		[ "$before" = "$(sum "$T/other")" ]
}

no_kernel()
{
	mkdir -p "$T/empty"
	LINUX=$T/empty fails_saying 'is not a Linux kernel tree' "$repo/scripts/kernel-tree"
}

out()
{
	echo "$XDG_CACHE_HOME/mctracer/build/$(basename -- "$("$repo/scripts/kernel-tree")")-fake"
}

build_fails()
{
	FAKE_FAIL=bzImage fails_saying '^error: building the fake kernel' \
		"$repo/scripts/build" fake && grep -q 'main.c:1: error: as told' "$T/err" &&
		grep -q '^the whole log: .*build-fake.log' "$T/err" && [ ! -e "$(out)/mctracer-stamp" ]
}

build_again()	# the kernel is built again after the failure, but not a third time
{
	"$repo/scripts/build" fake || return 1
	lines=$(wc -l <"$(out)/made")
	image=$("$repo/scripts/build" fake) || return 1
	[ -f "$image" ] && [ "$(wc -l <"$(out)/made")" = "$lines" ]
}

build_killed()
{
	echo CONFIG_C=y >>"$repo/configs/fake.config"
	made=$(out)/made
	lines=$(wc -l <"$made")
	FAKE_FAIL=hang timeout 60 "$repo/scripts/build" fake &
	build=$!
	for _ in $(seq 200); do
		[ "$(wc -l <"$made")" = "$lines" ] || break
		sleep 0.2
	done
	# timeout passes the signal on to all processes that it has started.
	kill "$build"
	wait "$build" && return 1
	lines=$(wc -l <"$made")
	[ ! -e "$(out)/mctracer-stamp" ] || return 1
	"$repo/scripts/build" fake && [ "$(wc -l <"$made")" -gt "$lines" ]
}

option_lost()
{
	echo CONFIG_D=y >>"$repo/configs/fake.config"
	FAKE_DROP=CONFIG_D fails_saying 'did not come out as asked: CONFIG_D=y' \
		"$repo/scripts/build" fake && "$repo/scripts/build" fake
}

unmet()
{
	echo CONFIG_U=y >>"$repo/configs/fake.config"
	FAKE_UNMET=1 fails_saying 'unmet direct dependencies' "$repo/scripts/build" fake
}

objtool_warns()
{
	echo CONFIG_E=y >>"$repo/configs/fake.config"
	FAKE_FAIL=objtool fails_saying 'objtool warned' "$repo/scripts/build" fake &&
		grep -q 'as told' "$T/err" && [ ! -e "$(out)/mctracer-stamp" ]
}

configured()	# FLAVOUR LINE: succeed if the flavour's configuration has LINE
{
	image=$("$repo/scripts/build" "$1") && grep -x "$2" "${image%/arch/x86/boot/bzImage}/.config"
}

widths()
{
	configured fake CONFIG_64BIT=y && configured fake-32 '# CONFIG_64BIT is not set' &&
		configured fake-32 CONFIG_B=y
}

unknown()
{
	fails_saying 'no such flavour: fake-31 \(.* fake\)' "$repo/scripts/build" fake-31
}

git_tree()	# only committed files of a git tree are used
{
	fake_git_tree "$T/git"
	echo uncommitted >"$T/git/kernel/fork.c"
	before=$(sum "$T/git")
	tree=$(LINUX=$T/git "$repo/scripts/kernel-tree") &&
		grep -q unchanged "$tree/kernel/fork.c" && [ "$before" = "$(sum "$T/git")" ]
}

plan 18
check "the tree has the base and one commit for each patch" first
check "a half-finished unpack is not taken for a finished one" half_unpacked
check "a half-applied series is not taken for an applied one" half_applied
check "a changed series gives new times only to files that differ" only_changed
check "a series that names a missing patch is an error" broken_series
check "a patch that does not apply is an error, and the next run works" does_not_apply
check "Linux 6.11 is refused and unchanged" refused 6 11 'is Linux 6.11.1; this series needs Linux 6.12\.'
check "Linux 5.12 is refused and unchanged" refused 5 12 'is Linux 5.12.1; this series needs Linux 6.12\.'
check "a directory that is no kernel is refused" no_kernel
check "a failing build shows the end and the path of its log" build_fails
check "the kernel is built again after a failure, but not after success" build_again
check "an interrupted build is not taken for a finished one" build_killed
check "an option that is not in the final configuration is named" option_lost
check "a select without its dependencies is an error" unmet
check "a warning of objtool is an error" objtool_warns
check "a flavour with -32 in its name is 32-bit" widths
check "an unknown flavour is refused, and the known ones are named" unknown
check "only committed files of a git tree are used, and nothing in it is changed" git_tree
finish
