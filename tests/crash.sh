#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What a kernel prints of its last calls when it crashes, wherever it does. Boots a guest for each crash, so it is
# no test for who wants a quick answer.
. "${0%/*}/../scripts/test-lib.sh"

CALLS=50

# boots HOW: a guest that crashes in this way
boots()
{
	LOG=crash-$1 TIMEOUT=300 QUIET=1 APPEND="mctracer.dump=$CALLS mct.how=$1 ${APPEND-}" \
		"$REPO/scripts/boot" mctracer-objects crash
}

# crashes HOW DIES: and its console is in $T/console, the dump in $T/dump, without the time before each line
crashes()
{
	console=$LOGS/boot-crash-$1.console
	DIES=$2 boots "$1" || return
	sed -e 's/\r$//' -e 's/^\[[^]]*\] //' "$console" >"$T/console"
	sed -n '/^mctracer: frozen: /,/^mctracer: end of the last calls/p' "$T/console" >"$T/dump"
}

# As many calls of each CPU as were asked for, and an end; once.
whole()
{
	[ "$(grep -c '^mctracer: frozen: ' "$T/console")" = 1 ] &&
		[ "$(grep -c '^mctracer: end of the last calls$' "$T/console")" = 1 ] || return
	for cpu in 0 1; do
		n=$(grep -cE "^CPU $cpu: .+:[0-9]+ .*\+0x.* <-- " "$T/dump")
		echo "$n calls of CPU $cpu"
		[ "$n" = "$CALLS" ] || return
	done
}

# dumped WHY REGEX HOW DIES: that was its reason, and the call is among the last ones. If an interrupt comes between
# that call and the end, whose calls are more than are shown, then once more.
dumped()
{
	why=$1 call=$2
	shift 2
	for _ in 1 2 3; do
		crashes "$@" && head -n 3 "$T/dump" && whole &&
			grep -q "^mctracer: frozen: $why; the last $CALLS calls of each CPU:" "$T/dump" || return
		! grep -qE "^CPU [0-9]+: .*$call" "$T/dump" || return 0
		echo "the call is not there; the last ones are:"
		tail -n 4 "$T/dump"
	done
	return 1
}

# All of its mutexes, and the kernel's for patching
locked()
{
	dumped panic ' panic\+.* <-- sysrq_handle_crash\+' locks 'sysrq triggered crash' &&
		grep '^mct: 12 mutexes are held' "$T/console"
}

twice()
{
	crashes twice 'sysrq triggered crash' && grep '^mctracer: ' "$T/console" &&
		[ "$(grep -c '^mctracer: frozen: ' "$T/console")" = 1 ] &&
		[ "$(grep -c '^mctracer: end of' "$T/console")" = 0 ] &&
		grep -q 'RIP: .*mct_crash_now' "$T/console"
}

# passes HOW: as the guest's checks say
passes()
{
	boots "$1"
	rc=$?
	sed 's/^/| /' "$LOGS/boot-crash-$1.output"
	return "$rc"
}

survived() { APPEND=oops=continue passes survived; }

# Where a kernel lands is chance: not where the memory is.
saved()
{
	APPEND="nokaslr pstore.kmsg_bytes=65536 reserve_mem=2M:256M:oops ramoops.mem_name=oops ramoops.record_size=0x40000" \
		REBOOTS=1 DIES='sysrq triggered crash' passes pstore
}

plan 12
fatal='Fatal exception'
check "SysRq-C: a panic" dumped panic ' panic\+.* <-- sysrq_handle_crash\+' sysrq 'sysrq triggered crash'
check "a bad pointer in a task" dumped oops ' lkdtm_EXCEPTION\+.* <-- lkdtm_do_action\+' task "$fatal"
check "BUG() in a module" dumped oops ' lkdtm_BUG\+.* \[lkdtm\] <-- lkdtm_do_action\+' bug "$fatal"
check "a stack that is too small" dumped oops ' recursive_loop\+.* <-- recursive_loop\+' stack "$fatal"
check "a bad pointer in an interrupt" \
	dumped oops ' mct_crash_now\+.* <-- mct_crash_probe\+' irq "$fatal in interrupt"
check "a bad pointer in an NMI" dumped oops ' mct_crash_now\+.* <-- mct_crash_nmi\+' nmi "$fatal in interrupt"
check "a CPU that is locked up" \
	dumped 'hard lockup' ' lkdtm_HARDLOCKUP\+.* <-- lkdtm_do_action\+' hard 'Hard LOCKUP'
check "a panic while another CPU holds the tracer's locks" locked
check "an oops in who reads the trace" \
	dumped oops ' mct_crash_now\+.* <-- mct_crash_probe\+' reader "$fatal"
check "an oops in the dump ends it, and the kernel dies as it would" twice
check "warnings, oopses that are survived, hung tasks and soft lockups" survived
check "pstore has it for the next boot" saved
finish
