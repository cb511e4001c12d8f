#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Checks that the same functions call __fentry__ as in a kernel with ftrace's static function tracer: the series
# instruments no object that ftrace leaves out, and leaves out none that ftrace instruments, except for the tracers'
# own code.
. "${0%/*}/../scripts/test-lib.sh"

fentry=$REPO/scripts/fentry.py

# The objects that may differ, with the reason:
#	kernel/trace/		the tracers' own code
#	arch/x86/kernel/ftrace*, mcount*	the tracers' entry code
#	stacktrace, unwind_*, dumpstack_*, extable, module/	unwinding, which pre-handlers use
own='--own kernel/trace/ --own arch/x86/kernel/ftrace --own arch/x86/kernel/mcount
	--own arch/x86/kernel/stacktrace --own arch/x86/kernel/unwind_ --own arch/x86/kernel/dumpstack_
	--own kernel/extable --own kernel/module/'

# fabricate: make small objects to test scripts/fentry.py itself.
fabricate()
{
	mkdir -p "$T/a" "$T/b" && cd "$T" || return 1
	cat >one.c <<'END'
int plain(int x) { return x + 1; }
static __attribute__((noinline, used)) int hidden(int x) { return x + 2; }
__attribute__((section(".init.text"))) int early(int x) { return hidden(x); }
__attribute__((no_instrument_function)) int left_out(int x) { return x + 3; }
END
	flags='-O2 -pg -mfentry -fno-pic -c one.c'
	# shellcheck disable=SC2086	# a list of flags
	gcc $flags -o a/one.o && cp a/one.o b/one.o && gcc $flags -o b/own.o && gcc -O2 -c one.c -o a/two.o &&
		cp a/two.o b/two.o && "$fentry" list a >a.list && "$fentry" list b >b.list && cat a.list
}

lists()
{
	cat "$T/a.list"
	[ "$(grep ' +$' "$T/a.list" | xargs)" = 'one.o early + one.o hidden + one.o plain +' ] &&
		grep -qx 'one.o left_out -' "$T/a.list"
}

equal()
{
	"$fentry" compare "$T/a.list" "$T/b.list" >"$T/out" && cat "$T/out" &&
		grep -q '^> object  own.o plain' "$T/out"
}

differs()	# a function that only one build instruments
{
	sed '/hidden/s/+/-/' "$T/b.list" >"$T/c.list"
	! "$fentry" compare "$T/a.list" "$T/c.list" >"$T/out" && cat "$T/out" &&
		grep -q '^< DIFFERS one.o hidden' "$T/out" &&
		! "$fentry" compare "$T/c.list" "$T/a.list" &&
		"$fentry" compare "$T/a.list" "$T/c.list" --own one
}

absent()	# a function that one build does not have
{
	sed '/hidden/d' "$T/b.list" >"$T/c.list"
	"$fentry" compare "$T/a.list" "$T/c.list" >"$T/out" && cat "$T/out" &&
		grep -q '^< absent  one.o hidden' "$T/out"
}

suffix()	# a difference in .isra.0 and the like alone
{
	sed 's/hidden/hidden.isra.0/' "$T/b.list" >"$T/c.list"
	"$fentry" compare "$T/a.list" "$T/c.list"
}

build()	# FLAVOUR: build the flavour, and write its list to $T/FLAVOUR
{
	image=$("$REPO/scripts/build" "$1") && "$fentry" list "${image%/arch/x86/boot/bzImage}" >"$T/$1" &&
		[ "$(grep -c ' +$' "$T/$1")" -gt 1000 ]
}

same()
{
	# shellcheck disable=SC2086	# a list of options
	"$fentry" compare "$T/mctracer-static" "$T/ftrace-static" $own >"$LOGS/instrumented"
	_rc=$?
	echo "< mctracer-static only, > ftrace only:"
	grep DIFFERS "$LOGS/instrumented"
	tail -n 1 "$LOGS/instrumented"
	return "$_rc"
}

# dead_is_not_traced: functions that a CPU runs after it reported itself dead must not be traced, because no grace
# period waits for them. This kernel does not have all of them.
dead_is_not_traced()
{
	grep -E ' (native_play_dead|hlt_play_dead|tboot_shutdown|cpuidle_play_dead|acpi_idle_play_dead) ' \
		"$T/mctracer-static" >"$T/dead"
	cat "$T/dead"
	grep -q ' native_play_dead -$' "$T/dead" && grep -q ' hlt_play_dead -$' "$T/dead" &&
		! grep -q ' +$' "$T/dead"
}

plan 10
check "fentry.py lists small objects" fabricate
check "the list has the functions that call __fentry__, in any section" lists
check "an object that only one build has is marked \"object\"" equal
check "a function that only one build instruments is found" differs
check "a function that only one build has is marked \"absent\"" absent
check "gcc's suffixes alone make no difference" suffix
if [ "${QUICK-}" = quick ]; then
	for t in "the mctracer-static flavour builds" "the ftrace-static flavour builds" \
		"both instrument the same functions" "functions that a dead CPU runs are not traced"; do
		skip "$t" "builds kernels; make test does it"
	done
else
	check "the mctracer-static flavour builds" build mctracer-static
	check "the ftrace-static flavour builds" build ftrace-static
	check "both instrument the same functions" same
	check "functions that a dead CPU runs are not traced" dead_is_not_traced
	sed 's/^/# /' "$LOGS/instrumented"
fi
finish
