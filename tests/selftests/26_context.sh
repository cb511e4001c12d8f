#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: With "context", each line shows the state of the CPU
# requires: root tracer helper:rawreader testmod:mct_context

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=rings.sh
. "$(dirname "$0")/rings.sh"

plan 20

rounds=20
filter=$MCT_DIR/filter
mode=$MCT_DIR/mode
column=$MCT_TMP/column

at_end()
{
	! mod_loaded mct_context || mod_unload mct_context
	put nocontext "$MCT_OPTIONS"
	[ ! -e "$mode" ] || put function "$mode"
	[ ! -e "$filter" ] || put "" "$filter"
	rings_restore
}

# contexts FUNCTION [WHAT]: print the context column of each of its calls, or each line with WHAT
contexts()
{
	grep "mct_context_$1+0x[^ ]* \\[mct_context\\] ${2-<--} " "$MCT_TRACE" |
		sed -n 's/^\(.*\) CPU [0-9]*: .*/\1/p'
}

# shown FUNCTION PATTERN [WHAT]: succeed if all its calls are recorded, or all lines with WHAT, and
# each column matches
shown()
{
	contexts "$1" ${3+"$3"} > "$column"
	[ "$(wc -l < "$column")" -eq "$rounds" ] && ! grep -v -x "$2" "$column" &&
		return 0
	echo "$(wc -l < "$column") of $rounds calls of $1:"
	sort "$column" | uniq -c
	return 1
}

traced_rounds()
{
	trace_clear
	trace_on
	mod_set mct_context rounds $rounds
	trace_off
}

put 4096 "$MCT_SIZE"
mod_load mct_context
put context "$MCT_OPTIONS"
equal "the option reads as on" context "$(grep -x '\(no\)*context' "$MCT_OPTIONS")"
traced_rounds

# A tick can set the second letter at any time.
any='[.npN]'
check "the column shows a task with nothing disabled" shown plain ".$any\\.\\."
check "the column shows interrupts off" shown irqs_off "d$any\\.\\."
check "the column shows preemption off at depth two" shown preempt_off ".$any\\.2"
check "the column shows need-resched of both kinds" shown resched '.N\.1'
# Interrupts show the preemption depth of the interrupted code; idle tasks have depth one.
check "the column shows a soft interrupt" shown softirq ".${any}s."
check "the column shows a hard interrupt, alone or within a soft interrupt" \
	shown hardirq "d${any}[hH]."
contexts plain | sort | uniq -c | sed 's/^/# plain:/'
equal "the column is empty for most calls of a task" yes \
	"$(contexts plain | grep -c -x '\.\.\.\.' |
		awk -v n="$rounds" '{ print ($1 > n / 2) ? "yes" : $1 }')"

# The host may inject NMIs; then it sets MCT_NMIS.
nmi_shown()
{
	grep -q '^..[zZ]. CPU ' "$MCT_TRACE"
}

if [ -n "${MCT_NMIS-}" ]; then
	trace_on
	check "the column shows an NMI" wait_until 30 nmi_shown
	trace_off
	traced_rounds	# later records may have overwritten the first rounds
else
	skip "the column shows an NMI" "MCT_NMIS is not set"
fi

# Options change how the rings' records are shown, not the records.
put time "$MCT_OPTIONS"
check "with time the column follows the time" shown plain "\\[[0-9.]*\\] .$any\\.\\."
put notime "$MCT_OPTIONS"
put nocontext "$MCT_OPTIONS"
equal "nocontext removes the column" "$rounds" \
	"$(grep -c '^CPU .* mct_context_plain+' "$MCT_TRACE")"
traced_rounds
put context "$MCT_OPTIONS"
check "records without a context show dashes" shown irqs_off ----
put nooverwrite "$MCT_OPTIONS"
traced_rounds
check "the column works with nooverwrite" shown preempt_off ".$any\\.2"
put overwrite "$MCT_OPTIONS"

# Returns that mcount catches take another way into the rings.
if put graph "$mode" 2> /dev/null; then
	put 'mct_context_*' "$filter"
	traced_rounds
	for what in "<--" returns; do
		check "in mode graph, '$what' has a task with nothing disabled" \
			shown plain ".$any\\.\\." "$what"
		check "in mode graph, '$what' has preemption off at depth two" \
			shown preempt_off ".$any\\.2" "$what"
	done
	put function "$mode"
	put "" "$filter"
	traced_rounds
else
	for what in call return; do
		skip "in mode graph, a $what has a task with nothing disabled" "no returns"
		skip "in mode graph, a $what has preemption off at depth two" "no returns"
	done
fi

for cpu in $(cpu_list online); do
	"$MCT_BIN/rawreader" read "$(per_cpu "$cpu" raw)" > "$MCT_TMP/raw.$cpu" ||
		: > "$MCT_TMP/raw.bad"
done
cat "$MCT_TMP"/raw.? | sed 's/^/# raw: /'
check "raw has valid records with contexts" test ! -e "$MCT_TMP/raw.bad"
at_least "raw has many records with contexts" 1000 \
	"$(awk '$1 == "records" { n += $2 } END { print n + 0 }' "$MCT_TMP"/raw.?)"
check "the counts add up" counts_add_up
finish
