#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The hooks in hook.o are compiled to believe that functions preserve the registers of their arguments,
# so they must not call any: the kernel's own Makefile looks at the object and refuses it. And the benchmark
# links them into a program of its own, which has to have what they refer to.
. "${0%/*}/../scripts/test-lib.sh"
# shellcheck source=scripts/kbuild.sh
. "$REPO/scripts/kbuild.sh"

dir=kernel/trace/mctracer
tree=$("$REPO/scripts/kernel-tree") || exit 1

build()	# FLAVOUR: $out is where it is built
{
	image=$("$REPO/scripts/build" "$1") || return 1
	out=${image%/arch/x86/*}
}

# looked_at LINE: build the folder with an nm that says one line more of each object. By another name
# each time: else there would be nothing to do again.
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

# KINDS: which kernels
kinds=${KINDS:-mctracer}
plan $((4 * $(echo "$kinds" | wc -w) + 1))
for flavour in $kinds; do
	if [ -n "${QUICK-}" ] || ! build "$flavour"; then
		for what in 'the hooks call nothing' 'a function of their own' 'another function' \
			'part of a name'; do
			skip "$flavour: $what" "quick: nothing is built"
		done
		continue
	fi
	check "$flavour: the hooks call nothing, and the build has looked" good
	check "$flavour: a function of their own, left out of line, is refused" \
		refused '0 t record_call.constprop.0' 'record_call.constprop.0'
	check "$flavour: another function is refused" refused ' U memcpy' memcpy
	check "$flavour: part of a name that may be there is refused" refused ' U pcpu' pcpu
done
if [ -n "${QUICK-}" ]; then
	skip "the benchmark can time them on this processor" "quick: nothing is built"
else
	check "the benchmark can time them on this processor" timed
fi
finish
