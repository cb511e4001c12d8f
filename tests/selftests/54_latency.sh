#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: A trace shows what ran while interrupts or preemption were off
# requires: root tracer testmod:mct_latency

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=rings.sh
. "$(dirname "$0")/rings.sh"

plan 13

ms=20
# An emulated machine may stop for longer than $ms, at worst while another task has interrupts off.
tries=8
result=$MCT_TMP/result

at_end()
{
	! mod_loaded mct_latency || mod_unload mct_latency
	put nocontext "$MCT_OPTIONS"
	rings_restore
}

# longest COLUMN FILE: print the longest stretch of a CPU with a mark in this column of the context
# (1: interrupts off, 4: preemption off): nanoseconds, CPU, start time, functions.
# Documentation/trace/mctracer.rst has this script, too.
longest()
{
	awk -v column="$1" '
		!/^\[.* <-- / { next }
		{
			kind = substr($2, 3, 1)
			split($0, half, " <-- ")
			sub(/ \[[^ ]*\]$/, "", half[1])
			n = split(half[1], word, " ")
			f = word[n]
			sub(/\+.*/, "", f)
			now = substr($1, 2) + 0
		}
		kind ~ /[zZ]/ { next }
		column == 1 && (f ~ /^(irq_enter_rcu|preempt_schedule_irq)$/ ||
				half[2] ~ /^(exc_|do_syscall)/) {
			off[$4] = 0	# interrupts were on before
		}
		substr($2, column, 1) ~ /[.-]/ || (word[n - 1] ~ /:0$/ && kind == ".") {
			off[$4] = 0
			next
		}
		!off[$4] { off[$4] = 1; from[$4] = now; ran[$4] = " " }
		!index(ran[$4], " " f " ") { ran[$4] = ran[$4] f " " }
		now - from[$4] > most {
			most = now - from[$4]
			found = sprintf("%.0f ns on CPU %d from %.9f:%s", most * 1e9, $4,
					from[$4], ran[$4])
		}
		END { print found }' "$2"
}

# provoke PARAMETER COLUMN: repeat until the longest stretch is the module's
provoke()
{
	local try=0
	while [ "$try" -lt "$tries" ]; do
		try=$((try + 1))
		trace_clear
		trace_on
		mod_set mct_latency "$1" "$ms"
		trace_off
		cat "$MCT_TRACE" > "$MCT_TMP/trace"
		longest "$2" "$MCT_TMP/trace" > "$result"
		grep -q ' mct_latency_step ' "$result" && return 0
	done
	return 1
}

# where: print the CPU of the module's steps and the time of the first step
where()
{
	sed -n 's/^\[\([0-9.]*\)\] .* CPU \([0-9]*\): .* mct_latency_step+.*/CPU \2 from \1/p' \
		"$MCT_TMP/trace" | head -n 1
}

# steps_but PATTERN: print the columns of the module's steps that do not match
steps_but()
{
	sed -n 's/^\[[0-9.]*\] \(.*\) CPU [0-9]*: .* mct_latency_step+.*/\1/p' "$MCT_TMP/trace" |
		grep -v -x "$1" | sort | uniq -c
}

# found_of PARAMETER COLUMN PATTERN NAME
found_of()
{
	local measured
	check "$4: the longest stretch is the module's" provoke "$1" "$2"
	measured=$(mod_get mct_latency "$1")
	diag "$(cut -c 1-300 "$result")"
	at_least "$4: the stretch lasts at least as long as set" $((ms * 1000000)) "$measured"
	at_least "$4: the trace shows the whole stretch" "$measured" "$(cut -d ' ' -f 1 "$result")"
	equal "$4: the trace shows the right CPU and time" \
		"$(where | cut -d ' ' -f 1-2)" "$(cut -d ' ' -f 4-5 "$result")"
	check "$4: the module's steps show the state of their caller" test -z "$(steps_but "$3")"
	equal "$4: the functions of the stretch are named" delay \
		"$(grep -o ' [a-z_]*delay ' "$result" | grep -o delay | head -n 1)"
}

put 4096 "$MCT_SIZE"
put time "$MCT_OPTIONS"
put context "$MCT_OPTIONS"
mod_load mct_latency
found_of irqs_off 1 'd[.npN]\.\.' "interrupts off"
# A tick may interrupt the stretch, but the tick calls no step.
found_of preempt_off 4 '\.[.npN]\.1' "preemption off"

# A made-up trace with cases that must not count: time outside the kernel, idle time, and two
# interrupts in a row.
cat > "$MCT_TMP/made" <<-'EOF'
	# mode: function
	[1.000000000] d... CPU 0: a b:7 switch_fpu_return+0x9/0x70 <-- do_syscall_64+0x5f/0x90
	[2.000000000] .... CPU 0: a b:7 x64_sys_call+0x5/0x10 <-- do_syscall_64+0x3b/0x90
	[2.000001000] d... CPU 0: a b:7 switch_fpu_return+0x9/0x70 <-- do_syscall_64+0x5f/0x90
	[3.000000000] d... CPU 0: a b:7 irq_enter_rcu+0x5/0x10 <-- sysvec_reboot+0x3b/0x90
	[3.000001000] d.h. CPU 0: a b:7 first+0x5/0x10 <-- sysvec_reboot+0x3b/0x90
	[3.000003000] d.h. CPU 0: a b:7 second+0x5/0x10 [mod] <-- first+0xb/0x10 [mod]
	[3.000003500] d.z. CPU 0: a b:7 nmi+0x5/0x10 <-- exc_nmi+0xb/0x10
	[3.000004000] d... CPU 1: a b:8 other+0x5/0x10 <-- third+0xb/0x10
	[3.000005000] d... CPU 0: a b:7 irq_exit_rcu+0x5/0x10 <-- sysvec_reboot+0x3b/0x90
	[3.000005500] .... CPU 1: a b:8 other+0x5/0x10 <-- third+0xb/0x10
	[4.000000000] d... CPU 0: a b:7 do_user_addr_fault+0x5/0x10 <-- exc_page_fault+0x3b/0x90
	[4.000009000] d..1 CPU 0: a b:7 preempt_schedule_irq+0x5/0x10 <-- irqentry_exit+0x3b/0x90
	[4.000001000] d..1 CPU 1: swapper/1:0 tick_nohz_idle_enter+0x5/0x10 <-- do_idle+0x3b/0x90
	[5.000000000] d.h1 CPU 1: swapper/1:0 first+0x5/0x10 <-- sysvec_reboot+0x3b/0x90
EOF
equal "neither time in user space nor idle counts" \
	"5000 ns on CPU 0 from 3.000000000: irq_enter_rcu first second irq_exit_rcu" \
	"$(longest 1 "$MCT_TMP/made" | sed 's/ *$//')"
finish
