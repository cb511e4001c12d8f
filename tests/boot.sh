#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tests scripts/boot's verdict on a guest, with a stand-in for QEMU and a fake kernel tree.
. "${0%/*}/../scripts/test-lib.sh"

export XDG_CACHE_HOME="$T/cache"
unset MCT_LOCKED
repo=$T/repo
fake_repo "$repo"
mkdir -p "$repo/tests/selftests"
echo 'int main(void) { return 0; }' >"$repo/tests/selftests/helper.c"
fake_tree "$T/linux"
export LINUX="$T/linux"

fake_qemu
export MONITOR="$T/monitor" CONSOLE='Linux\n' OUTPUT='hello\r\nMCT-EXIT 0\r\n'

boot()
{
	: >"$ARGS"
	"$repo/scripts/boot" fake none
}

passes()
{
	[ "$(boot)" = hello ] && grep -q 'mct.run=none' "$ARGS" && grep -q -- '-smp 2' "$ARGS"
}

# own_selftests: the selftests must come from the fake series, not from the repository's folder.
own_selftests()
{
	boot >/dev/null
	cpio -t --quiet <"$XDG_CACHE_HOME/mctracer/initramfs/fake.cpio" >"$T/files"
	grep -x selftests/run.sh "$T/files" && ! grep -x selftests/helper "$T/files"
}

status()
{
	OUTPUT='MCT-EXIT 7\n' boot
	[ $? = 7 ]
}

silent()
{
	OUTPUT='hello\n' fails_saying 'ended without a result' boot
}

complains()	# LINE...: each line on the console is a failure, even if the job succeeds
{
	for line in "$@"; do
		CONSOLE="Linux\n[    1.0] $line\nmore\n" \
			fails_saying 'the kernel complained' boot && grep -qF "$line" "$T/err" || return 1
	done
}

quiet()		# LINE...: none of these lines is a failure
{
	for line in "$@"; do
		[ "$(CONSOLE="Linux\n[    1.0] $line\n" boot)" = hello ] || return 1
	done
}

hangs()
{
	SLEEP=30 TIMEOUT=1 OUTPUT='hello\n' fails_saying 'not done after 1 seconds' boot
}

qemu_fails()
{
	STATUS=1 fails_saying 'qemu ended with status 1' boot
}

icount()
{
	ICOUNT=1 boot >/dev/null && grep -q 'thread=single -icount shift=0,sleep=off' "$ARGS" &&
		grep -q -- '-smp 1' "$ARGS"
}

nmis()	# NMIs begin when init runs
{
	NMI=0.1 boot >/dev/null && ! grep nmi "$MONITOR" &&
		NMI=0.1 CONSOLE='Run /init as init process\n' SLEEP=1 boot >/dev/null &&
		cat "$MONITOR" && [ "$(grep -cx nmi "$MONITOR")" -gt 3 ] &&
		grep -q 'apic_extnmi=all .*-monitor stdio' "$ARGS"
}

plan 12
check "a guest with status 0 passes, and its output is shown" passes
check "a guest has the selftests of the kernel that it boots" own_selftests
# The following checks need no kernel.
: >"$T/nothing"
export IMAGE="$T/nothing" INITRD="$T/nothing"
check "the status of the guest's job is the script's" status
check "a guest without a result is a failure" silent
check "a complaint of the kernel is a failure" complains 'BUG: unable to handle' \
	'WARNING: CPU: 0 PID: 1 at kernel/fork.c:1' 'Oops: 0000 [#1]' 'Call Trace:' \
	'watchdog: BUG: soft lockup - CPU#0' 'rcu: INFO: rcu_preempt detected stalls' \
	'INFO: task sh:1 blocked for more than 120 seconds'
check "a report of the kernel's checkers is a failure" complains \
	'BUG: KASAN: slab-out-of-bounds in f+0x1/0x2' \
	'BUG: KCSAN: data-race in f / g' \
	'UBSAN: shift-out-of-bounds in kernel/fork.c:1:2' \
	'WARNING: possible circular locking dependency detected' \
	'INFO: possible circular locking dependency detected' \
	'WARNING: possible recursive locking detected' \
	'WARNING: inconsistent lock state' \
	'WARNING: suspicious RCU usage' \
	'INFO: trying to register non-static key.' \
	'BUG: sleeping function called from invalid context at kernel/fork.c:1' \
	'BUG: scheduling while atomic: sh/1/0x00000002' \
	'BUG: using smp_processor_id() in preemptible [00000000] code: sh/1' \
	'rcu: INFO: rcu_preempt self-detected stall on CPU' \
	'INFO: rcu_tasks detected stalls on tasks:' \
	'BUG: workqueue lockup - pool cpus=0' \
	'watchdog: Watchdog detected hard LOCKUP on cpu 0' \
	'kernel BUG at lib/list_debug.c:29!' \
	'BUG kmalloc-64 (Not tainted): Poison overwritten' \
	'pagealloc: memory corruption' \
	'kmemleak: 1 new suspected memory leaks (see /sys/kernel/debug/kmemleak)'
check "a message that contains such words is no failure" quiet \
	'Lock dependency validator: Copyright (c) 2006 Red Hat, Inc., Ingo Molnar' \
	'kasan: KernelAddressSanitizer initialized' \
	'kcsan: strict mode configured' \
	'rcu: 	RCU debug extended QS entry/exit.' \
	'rcu_tasks: Setting shift to 1 and lim to 1 rcu_task_cb_adjust=1.' \
	'ODEBUG: selftest passed' \
	'kcsan: selftest: 3/3 tests passed' \
	'Kernel command line: console=ttyS0 rcupdate.rcu_cpu_stall_timeout=3' \
	'	RCU CPU stall warnings timeout set to 3 (rcu_cpu_stall_timeout).' \
	'watchdog: Delayed init of the lockup detector failed: -19'
check "a guest that hangs is stopped" hangs
check "a failing QEMU is a failure" qemu_fails
check "ICOUNT=1 counts instructions on one CPU" icount
check "NMI= sends NMIs by QEMU's monitor" nmis
check "a job that does not exist is refused" fails_saying 'no such job' "$repo/scripts/boot" fake nothing
finish
