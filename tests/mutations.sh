#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Checks tests/mutations/: each patch has a complete head, applies to the patched tree, and names an existing test;
# each class has a mutation. The suite "mutations" checks that the tests notice the mutations.
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

set -- "$REPO"/tests/mutations/*.patch
plan $((1 + 3 * $#))
check "each class is in the README" all_classes
for patch; do
	name=$(basename -- "$patch" .patch)
	check "$name: the head is complete" headed "$patch"
	check "$name: the patch applies" applies "$patch"
	check "$name: the test exists" there "$patch"
done
finish
