#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# tests/mutations/: each patch says what it must, applies to the patched tree, and names a test that is
# there; no class is without one. Whether the tests notice them is for the suite mutations.
. "${0%/*}/../scripts/test-lib.sh"
export KERNEL="$MAIN_KERNEL"	# the mutations are of no other

tree=$("$REPO/scripts/kernel-tree") || exit 1
readme=$REPO/tests/mutations/README.md

# What the series must have a test for, each named as in the README.
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

headed()	# the head has one of each, and says why
{
	for key in class test; do
		[ "$(field "$1" "$key" | wc -l)" = 1 ] || {
			echo "not one line \"$key:\""
			return 1
		}
	done
	sed -n -e '/^diff /q' -e '/^[a-z]*: /d' -e p "$1" | grep -q '[a-z]' || {
		echo "it does not say what is wrong"
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

there()	# is there such a test?
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

all_classes()	# the README has each, with a mutation or the reason why there is none
{
	echo "$classes" | while read -r class; do
		grep -qF "| $class |" "$readme" || echo "not in README.md: $class"
	done >"$T/missing"
	cat "$T/missing"
	[ ! -s "$T/missing" ]
}

set -- "$REPO"/tests/mutations/*.patch
plan $((1 + 3 * $#))
check "each class is in the README" all_classes
for patch; do
	name=$(basename -- "$patch" .patch)
	check "$name: has a head" headed "$patch"
	check "$name: applies" applies "$patch"
	check "$name: its test is there" there "$patch"
done
finish
