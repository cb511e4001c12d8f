#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Checks the series' C code by tools that don't run it: sparse, the compiler's additional warnings (W=1), SPDX lines,
# and, if SPARSE is 1, coccinelle's rules. The objects are made in a build tree of their own.
. "${0%/*}/../scripts/test-lib.sh"
# shellcheck source=scripts/kbuild.sh
. "$REPO/scripts/kbuild.sh"

# The kernel's python scripts need Debian's modules.
PATH=/usr/bin:$PATH

folders='kernel/trace/mcount/ kernel/trace/mctracer/ samples/mcount/'
objects="$folders arch/x86/kernel/mcount.o arch/x86/kernel/mcount_sites.o"

tree=$("$REPO/scripts/kernel-tree") || exit 1
base=$(git -C "$tree" rev-parse "$BASE_TAG") || exit 1
out=$CACHE/build/$(basename -- "$tree")-static

configured()
{
	take_lock "$CACHE/lock.static"
	mkdir -p "$out"
	configure mctracer && kmake modules_prepare
}

# quiet COMMAND...: succeed if COMMAND succeeds and prints nothing.
quiet()
{
	"$@" >"$T/said" 2>&1 || echo "exit status $?" >>"$T/said"
	cat "$T/said"
	[ ! -s "$T/said" ]
}

# sparse_finds: C=2 runs sparse on all files, also on those that are up to date. To sparse, guard(rcu) of an older kernel
# looks like a missing unlock.
sparse_finds()
{
	known='^$'
	! grep -q '^DEFINE_LOCK_GUARD_0(rcu, rcu_read_lock(), rcu_read_unlock())' "$tree/include/linux/rcupdate.h" ||
		known='context imbalance in .* - wrong count at exit$'
	# shellcheck disable=SC2086	# a list of targets
	kmake -s C=2 $objects >"$T/sparse" 2>&1
	_status=$?
	grep -v "$known" "$T/sparse"
	return "$_status"
}

warnings()
{
	mkdir -p "$out/kernel/trace" "$out/samples"	# missing if sparse was skipped
	find "$out/kernel/trace" "$out/samples" "$out/arch/x86/kernel" -name '*.o' -delete
	# shellcheck disable=SC2086	# a list of targets
	kmake -s W=1 $objects
}

# rules: run coccinelle, without its output that is no finding: commands, advice, rules without a report. MO= keeps
# newer kernels in their own directory; in the folder itself spatch does not find headers of other folders.
rules()
{
	mkdir "$T/modules"
	for folder in $folders; do
		kmake -s -j1 coccicheck MODE=report DEBUG_FILE=/dev/null M="$tree/$folder" MO="$T/modules" \
			>"$T/rules" 2>&1 || echo "coccicheck failed in $folder"
		grep -vE -e '^/usr/bin/spatch|^Please check|^When using|^warning: line [0-9]+: should|^$' \
			-e "^warning: Skipping .* as it does not match mode 'report'$" "$T/rules"
	done
	return 0
}

spdx()
{
	(cd "$tree" && git diff --name-only --diff-filter=A "$base" HEAD |
		xargs scripts/spdxcheck.py)
}

plan 5
check "the build tree can be configured" configured
valid=$tree/scripts/checker-valid.sh	# newer kernels have it: prints 1 if sparse can read them
if [ -e "$valid" ] && [ "$(sh "$valid" sparse)" != 1 ]; then
	skip "sparse finds nothing" "$(sparse --version) is too old for this kernel"
else
	check "sparse finds nothing" quiet sparse_finds
fi
check "the compiler finds nothing with W=1" quiet warnings
if [ "${SPARSE-}" = 1 ]; then
	check "coccinelle finds nothing" quiet rules
else
	skip "coccinelle finds nothing" "it takes minutes: scripts/test-long long-host runs it"
fi
check "each file has a valid SPDX line" quiet spdx
finish
