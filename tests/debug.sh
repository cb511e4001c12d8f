#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tests what scripts/test-debug counts as a failure, with a stand-in for QEMU and a fake kernel tree.
. "${0%/*}/../scripts/test-lib.sh"

export XDG_CACHE_HOME="$T/cache"
unset MCT_LOCKED ONLY TOGGLES LOADS
repo=$T/repo
fake_repo "$repo"
mkdir -p "$repo/tests/selftests"
echo 'int main(void) { return 0; }' >"$repo/tests/selftests/helper.c"
for flavour in debug beside fp ibt kcsan; do
	cp "$repo/configs/fake.config" "$repo/configs/mctracer-$flavour.config"
done
fake_tree "$T/linux"
printf '#!/bin/sh\n' >"$repo/scripts/setup"
export LINUX="$T/linux"

fake_qemu
: >"$T/nothing"
export INITRD="$T/nothing"	# the stand-in boots nothing
export CONSOLE='Linux\n' DEATH='Kernel panic - not syncing: sysrq triggered crash\n'
export OUTPUT='TAP version 13\n1..1\nok 1 - a\nMCT-EXIT 0\n'

# counts STATUS LINE [FLAVOUR...]: succeed if scripts/test-debug ends with this status and last line
counts()
{
	_want=$1 _line=$2
	shift 2
	: >"$ARGS"
	"$repo/scripts/test-debug" "$@" >"$T/out" 2>"$T/err"
	_rc=$?
	cat "$T/out"
	tail -n 5 "$T/err"
	[ "$_rc" = "$_want" ] && [ "$(tail -n 1 "$T/out")" = "$_line" ]
}

complaint()
{
	CONSOLE='BUG: KASAN: use-after-free in f\n' counts 1 '5 passed, 4 failed' mctracer-fp
}

failing()
{
	OUTPUT='TAP version 13\n1..1\nnot ok 1 - a\nMCT-EXIT 1\n' counts 1 '1 passed, 4 failed' mctracer-fp
}

not_built()	# a kernel that can't be built; the next flavour is still tested
{
	rm -rf "$XDG_CACHE_HOME/mctracer/build"
	echo CONFIG_MISSING=y >>"$repo/configs/mctracer-fp.config"
	FAKE_DROP=CONFIG_MISSING counts 1 '10 passed, 1 failed' mctracer-fp mctracer-ibt
	_rc=$?
	sed -i '$d' "$repo/configs/mctracer-fp.config"
	return "$_rc"
}

dies()	# a kernel that must panic, but does not, or panics twice
{
	DEATH='' counts 1 '10 passed, 2 failed' mctracer-ibt &&
		DEATH="$DEATH$DEATH" counts 1 '10 passed, 2 failed' mctracer-ibt
}

stuffed()	# on a processor that needs call depth tracking
{
	counts 0 '10 passed, 0 failed' mctracer-ibt &&
		[ "$(grep -c 'retbleed=stuff.*Skylake-Client' "$ARGS")" = 3 ]
}

races()
{
	counts 0 '2 passed, 0 failed' mctracer-kcsan && grep -q mct.run=races "$ARGS"
}

all()
{
	counts 0 '25 passed, 0 failed' && [ "$(wc -l <"$ARGS")" = 20 ]
}

plan 8
check "results of guests are counted" counts 0 '5 passed, 0 failed' mctracer-fp
check "a complaint of a guest's kernel is a failure" complaint
check "a failing test is a failure" failing
check "a kernel that can't be built is a failure, and later kernels still run" not_built
check "call depth is tracked on a processor that needs it" stuffed
check "a kernel that must panic fails if it does not panic exactly once" dies
check "KCSAN is switched on" races
check "by default all flavours are tested" all
finish
