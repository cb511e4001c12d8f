#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Checks tests/mutations/: each patch has a complete head, applies to the patched tree and names an existing test, and the
# files of one patch in SPARSE compile (5; scripts/test-long compiles all); each class has a mutation. The suite
# "mutations" checks that the tests notice the mutations.
. "${0%/*}/../scripts/test-lib.sh"
export KERNEL="$MAIN_KERNEL"	# the kernel that the mutations are for

tree=$("$REPO/scripts/kernel-tree") || exit 1
readme=$REPO/tests/mutations/README.md

# The classes of faults that the series must have a test for, named as in the README.
classes='a helper is itself traced
preempt count leaks
%gs invalid on resume
early boot
hotplug
patching races
modules
init and weak sites
freed under a preempted task
reader against writer
clock backwards
registers clobbered
sharing a site
sysctl order
parsers
soft lockup
readers in the way'

field()	# PATCH KEY
{
	sed -n -e '/^diff /q' -e "s/^$2: *//p" "$1"
}

headed()	# the head has each key once, and an explanation
{
	for key in class test; do
		[ "$(field "$1" "$key" | wc -l)" = 1 ] || {
			echo "not one line \"$key:\""
			return 1
		}
	done
	sed -n -e '/^diff /q' -e '/^[a-z]*: /d' -e p "$1" | grep -q '[a-z]' || {
		echo "the head does not explain the fault"
		return 1
	}
	grep -qF "$(basename -- "$1" .patch)" "$readme" || {
		echo "not in README.md"
		return 1
	}
}

applies()
{
	git -C "$tree" apply --check "$1"
}

there()	# succeed if the test exists
{
	field "$1" test >"$T/test"
	read -r kind test <"$T/test"
	case $kind in
	selftest)	[ -f "$REPO/tests/selftests/$test.sh" ] ;;
	kunit)		grep -Erqw "KUNIT_CASE(_SLOW)?\(${test#*.}\)" "$tree/kernel/trace" ;;
	host)		[ -x "$REPO/$test" ] ;;
	*)		[ -f "$REPO/scripts/guest/$kind" ] ;;
	esac
}

all_classes()	# the README has each class, with a mutation or the reason why there is none
{
	echo "$classes" | while read -r class; do
		grep -qF "| $class |" "$readme" || echo "not in README.md: $class"
	done >"$T/missing"
	cat "$T/missing"
	[ ! -s "$T/missing" ]
}

# compiled FILE: print the files that the kernel compiles FILE in: itself, or, for a header, some that include it
compiled()
{
	case $1 in
	*.h)	(cd "$T/src" && grep -rlF "$(basename -- "$1")\"" --include='*.c' . | grep -v /tests/ | head -n 3)
		# A header of include/ is included in angle brackets.
		(cd "$T/src" && grep -rlF "$(basename -- "$1")>" --include='*.c' . | grep -v /tests/ |
			head -n 3) ;;
	*)	echo "$1" ;;
	esac
}

# command FILE: print the command that compiled FILE in the flavour $built, or in another flavour that has it
command_of()
{
	_cmd=$(dirname -- "$1")/.$(basename -- "${1%.*}").o.cmd
	for _flavour in "$built" mctracer mctracer-static mctracer-ftrace; do
		_out=$CACHE/build/$(basename -- "$tree")-$_flavour
		[ -e "$_out/$_cmd" ] || continue
		sed -n '1{s/^[^=]*:= kcc //; s/ ; .*//; p;}' "$_out/$_cmd"
		echo "$_out"
		return
	done
}

# compiles PATCH: apply the patch to a copy of the folders, and let the compiler check the changed files there
compiles()
{
	built=$(field "$1" flavour)
	built=${built:-mctracer}
	rm -rf "$T/src"
	mkdir -p "$T/src/kernel/trace"
	cp -R -- "$tree/kernel/trace/mcount" "$tree/kernel/trace/mctracer" "$T/src/kernel/trace/"
	sed -n 's,^+++ b/,,p' "$1" >"$T/changed"
	while read -r file; do
		mkdir -p "$T/src/$(dirname -- "$file")"
		cp -- "$tree/$(dirname -- "$file")/"*.[chS] "$T/src/$(dirname -- "$file")/"
	done <"$T/changed"
	patch -s -p1 -d "$T/src" <"$1" || return
	while read -r file; do
		compiled "$file"
	done <"$T/changed" | sort -u >"$T/compiled"
	examined=0
	while read -r file; do
		command_of "$file" >"$T/command"
		[ -s "$T/command" ] || continue
		out=$(tail -n 1 "$T/command")
		how=-fsyntax-only
		[ "$file" = "${file%.S}" ] || how=
		# The command ends with the names of the object and of the source.
		line=$(sed -n "1s, -c -o .*,,p" "$T/command")
		(cd "$out" && eval "gcc -I'$T/src/include' -I'$T/src/include/uapi' -I'$T/src/arch/x86/include' $line $how \
			-Wp,-MMD,/dev/null -c -o /dev/null '$T/src/$file'") || return
		examined=$((examined + 1))
	done <"$T/compiled"
	echo "$examined of $(wc -l <"$T/compiled") files"
}

# compiled_somewhere PATCH: succeed if a kernel that is built has a changed file
compiled_somewhere()
{
	built=$(field "$1" flavour)
	built=${built:-mctracer}
	sed -n 's,^+++ b/,,p' "$1" >"$T/changed"
	while read -r file; do
		case $file in
		*.h)	file=kernel/trace/mctracer/record/emit.c ;;
		esac
		[ -z "$(command_of "$file")" ] || return 0
	done <"$T/changed"
	return 1
}

set -- "$REPO"/tests/mutations/*.patch
sparse=${SPARSE:-5} n=0
plan $((1 + 3 * $# + $# / sparse))
check "each class is in the README" all_classes
for patch; do
	name=$(basename -- "$patch" .patch)
	check "$name: the head is complete" headed "$patch"
	check "$name: the patch applies" applies "$patch"
	check "$name: the test exists" there "$patch"
	n=$((n + 1))
	[ $((n % sparse)) = 0 ] || continue
	if [ -n "${QUICK-}" ] || ! compiled_somewhere "$patch"; then
		skip "$name: the changed files compile" "no kernel that is built here has them"
	else
		check "$name: the changed files compile" compiles "$patch"
	fi
done
finish
