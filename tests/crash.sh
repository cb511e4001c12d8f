#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tests the last calls that a kernel prints when it crashes, for many kinds of crashes. Slow: boots a guest for each.
. "${0%/*}/../scripts/test-lib.sh"

CALLS=50

# boots HOW: boot a guest that crashes in this way
boots()
{
	LOG=crash-$1 TIMEOUT=300 QUIET=1 APPEND="mctracer.dump=$CALLS mct.how=$1 ${APPEND-}" \
		"$REPO/scripts/boot" mctracer-objects crash
}

# crashes HOW DIES: let a guest crash; its console is in $T/console, the dump in $T/dump, without the log's times
crashes()
{
	console=$LOGS/boot-crash-$1.console
	DIES=$2 boots "$1" || return
	sed -e 's/\r$//' -e 's/^\[[^]]*\] //' "$console" >"$T/console"
	sed -n '/^mctracer: frozen: /,/^mctracer: end of the last calls/p' "$T/console" >"$T/dump"
}

# whole: succeed if there is one dump, with an end and $CALLS calls of each CPU
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

# dumped WHY REGEX HOW DIES: succeed if the dump's reason is WHY and a call matches REGEX. Retry twice, because an
# interrupt between that call and the end may have more calls than the dump shows.
dumped()
{
	why=$1 call=$2
	shift 2
	for _ in 1 2 3; do
		crashes "$@" && head -n 3 "$T/dump" && whole &&
			grep -q "^mctracer: frozen: $why; the last $CALLS calls of each CPU:" "$T/dump" || return
		! grep -qE "^CPU [0-9]+: .*$call" "$T/dump" || return 0
		echo "the call is not there; the last calls are:"
		tail -n 4 "$T/dump"
	done
	return 1
}

# locked: the crash happens while all of the tracer's mutexes, and the kernel's text_mutex, are held
locked()
{
	dumped panic ' panic\+.* <-- sysrq_handle_crash\+' locks 'sysrq triggered crash' &&
		grep '^mct: 13 mutexes are held' "$T/console"
}

twice()
{
	crashes twice 'sysrq triggered crash' && grep '^mctracer: ' "$T/console" &&
		[ "$(grep -c '^mctracer: frozen: ' "$T/console")" = 1 ] &&
		[ "$(grep -c '^mctracer: end of' "$T/console")" = 0 ] &&
		grep -q 'RIP: .*mct_crash_now' "$T/console"
}

# passes HOW: succeed if all checks in the guest succeed
passes()
{
	boots "$1"
	rc=$?
	sed 's/^/| /' "$LOGS/boot-crash-$1.output"
	return "$rc"
}

survived() { APPEND=oops=continue passes survived; }

# saved: check pstore. nokaslr: a random address of the kernel might overlap the memory of pstore.
saved()
{
	APPEND="nokaslr pstore.kmsg_bytes=65536 reserve_mem=2M:256M:oops ramoops.mem_name=oops ramoops.record_size=0x40000" \
		REBOOTS=1 DIES='sysrq triggered crash' passes pstore
}

plan 12
fatal='Fatal exception'
check "a panic by SysRq-C is dumped" \
	dumped panic ' panic\+.* <-- sysrq_handle_crash\+' sysrq 'sysrq triggered crash'
check "a bad pointer in a task is dumped" dumped oops ' lkdtm_EXCEPTION\+.* <-- lkdtm_do_action\+' task "$fatal"
check "BUG() in a module is dumped" dumped oops ' lkdtm_BUG\+.* \[lkdtm\] <-- lkdtm_do_action\+' bug "$fatal"
check "a stack overflow is dumped" dumped oops ' recursive_loop\+.* <-- recursive_loop\+' stack "$fatal"
check "a bad pointer in an interrupt is dumped" \
	dumped oops ' mct_crash_now\+.* <-- mct_crash_probe\+' irq "$fatal in interrupt"
check "a bad pointer in an NMI is dumped" \
	dumped oops ' mct_crash_now\+.* <-- mct_crash_nmi\+' nmi "$fatal in interrupt"
check "a hard lockup is dumped" \
	dumped 'hard lockup' ' lkdtm_HARDLOCKUP\+.* <-- lkdtm_do_action\+' hard 'Hard LOCKUP'
check "a panic while another CPU holds the tracer's locks is dumped" locked
check "an oops in a reader of trace is dumped" \
	dumped oops ' mct_crash_now\+.* <-- mct_crash_probe\+' reader "$fatal"
check "an oops in the dump ends the dump, and the kernel dies as usual" twice
check "warnings, survived oopses, hung tasks and soft lockups freeze the recording" survived
check "pstore keeps the dump for the next boot" saved
finish
