#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Checks that the series' new files compile on each port's kernel, without a warning. scripts/test-kernels builds whole
# kernels and boots them, but takes hours.
. "${0%/*}/../scripts/test-lib.sh"
# shellcheck source=scripts/kbuild.sh
. "$REPO/scripts/kbuild.sh"

# compiles: in a subshell, because it takes the lock of the cache, which others may need
compiles()
(
	tree=$("$REPO/scripts/kernel-tree") || exit
	out=$CACHE/build/$(basename -- "$tree")-static
	lock
	mkdir -p "$out"
	configure mctracer && kmake -s modules_prepare || exit
	find "$out/kernel/trace" -name '*.o' -delete 2>/dev/null
	kmake -s W=1 kernel/trace/mcount/ kernel/trace/mctracer/ \
		arch/x86/kernel/mcount.o arch/x86/kernel/mcount_callers.o >"$T/made" 2>&1
	rc=$?
	cat "$T/made"
	[ "$rc" = 0 ] && [ ! -s "$T/made" ]
)

others=$(kernels | sed 1d)
plan "$(echo "$others" | wc -w)"
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
