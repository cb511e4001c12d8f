#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tests the check of hook.o in the kernel's Makefile: the hooks are compiled on the assumption that functions preserve
# the registers of their arguments, so the hooks must not call functions. Also tests that the benchmark can link the
# hooks into a program of its own, which must define the symbols that the hooks use.
. "${0%/*}/../scripts/test-lib.sh"
# shellcheck source=scripts/kbuild.sh
. "$REPO/scripts/kbuild.sh"

dir=kernel/trace/mctracer/record
tree=$("$REPO/scripts/kernel-tree") || exit 1

build()	# FLAVOUR: build the flavour, and set $out to its directory
{
	image=$("$REPO/scripts/build" "$1") || return 1
	out=${image%/arch/x86/*}
}

# looked_at LINE: build the folder with an nm that prints an additional LINE for each object. The name of nm changes each
# time, because otherwise make would have nothing to do.
nms=0
looked_at()
{
	nms=$((nms + 1))
	printf '#!/bin/sh\nnm "$@" && echo "%s"\n' "$1" >"$T/nm$nms"
	chmod +x "$T/nm$nms"
	kmake NM="$T/nm$nms" "$dir/"
}

good()
{
	[ -e "$out/$dir/.hook.checked" ] && looked_at '0 T some_hook' && looked_at ' U mctracer_rings'
}

refused()	# LINE NAME
{
	! looked_at "$1" >"$T/make" 2>&1 && cat "$T/make" &&
		grep -q "hook.o: must not be called from here: $2" "$T/make"
}

timed()
{
	build mctracer && "$REPO/bench/native/run" "$out" "$tree" "$T/native" | grep '^ratio '
}

# $KINDS names the flavours to test.
kinds=${KINDS:-mctracer}
plan $((4 * $(echo "$kinds" | wc -w) + 1))
for flavour in $kinds; do
	if [ -n "${QUICK-}" ] || ! build "$flavour"; then
		for what in 'the hooks call no function' "a function of the hooks' file is refused" \
			'another function is refused' 'a name that is part of an allowed one is refused'; do
			skip "$flavour: $what" "quick: nothing is built"
		done
		continue
	fi
	check "$flavour: the hooks call no function, and the build has checked that" good
	check "$flavour: a function of the hooks' file that is not inlined is refused" \
		refused '0 t record_call.constprop.0' 'record_call.constprop.0'
	check "$flavour: another function is refused" refused ' U memcpy' memcpy
	check "$flavour: a name that is part of an allowed one is refused" refused ' U pcpu' pcpu
done
if [ -n "${QUICK-}" ]; then
	skip "the benchmark can time them on this processor" "quick: nothing is built"
else
	check "the benchmark can time them on this processor" timed
fi
finish
