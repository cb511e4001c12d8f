#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Checks that the series' new files compile for 32 bits and on each port's kernel, without a warning. scripts/test-long
# and scripts/test-kernels build whole kernels and boot them, but take hours.
. "${0%/*}/../scripts/test-lib.sh"
# shellcheck source=scripts/kbuild.sh
. "$REPO/scripts/kbuild.sh"

# compiles [WIDTH]: in a subshell, because it takes the lock of these builds
compiles()
(
	flavour=mctracer${1:+-$1}
	tree=$("$REPO/scripts/kernel-tree") || exit
	out=$CACHE/build/$(basename -- "$tree")-static${1:+-$1}
	take_lock "$CACHE/lock.static"
	mkdir -p "$out"
	configure "$flavour" && kmake -s modules_prepare || exit
	find "$out/kernel/trace" -name '*.o' -delete 2>/dev/null
	kmake -s W=1 kernel/trace/mcount/ kernel/trace/mctracer/ \
		arch/x86/kernel/mcount.o arch/x86/kernel/mcount_callers.o >"$T/made" 2>&1
	rc=$?
	cat "$T/made"
	[ "$rc" = 0 ] && [ ! -s "$T/made" ]
)

others=$(kernels | sed 1d)
plan $((1 + $(echo "$others" | wc -w)))
if [ -n "${QUICK-}" ]; then
	skip "the new files compile for 32 bits" "quick: nothing is built"
else
	check "the new files compile for 32 bits" compiles 32
fi
for KERNEL in $others; do
	export KERNEL
	if [ -n "${QUICK-}" ]; then
		skip "the new files compile on $KERNEL" "quick: nothing is built"
	elif "$REPO/scripts/kernel-source" "$KERNEL" >"$T/why" 2>&1; then
		check "the new files compile on $KERNEL" compiles
	else
		sed 's/^/# /' "$T/why"
		skip "the new files compile on $KERNEL" "its source can't be had"
	fi
done
finish
