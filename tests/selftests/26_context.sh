#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: With "context", a line says what the CPU was doing
# requires: root tracer helper:rawreader testmod:mct_context

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=rings.sh
. "$(dirname "$0")/rings.sh"

plan 16

rounds=20
column=$MCT_TMP/column

at_end()
{
	! mod_loaded mct_context || mod_unload mct_context
	put nocontext "$MCT_OPTIONS"
	rings_restore
}

# contexts FUNCTION: the column of each of its calls
contexts()
{
	sed -n "s/^\\(.*\\) CPU [0-9]*: .* mct_context_$1+0x[^ ]* \\[mct_context\\] <-- .*/\\1/p" \
		"$MCT_TRACE"
}

# shown FUNCTION PATTERN: all its calls are there, each with such a column
shown()
{
	contexts "$1" > "$column"
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

# The second letter may be set by a tick at any time.
any='[.npN]'
check "a task with nothing disabled" shown plain ".$any\\.\\."
check "irqs off" shown irqs_off "d$any\\.\\."
check "preemption off, two deep" shown preempt_off ".$any\\.2"
check "need-resched, in both places" shown resched '.N\.1'
# These show the preemption depth of what they interrupted; idle tasks have one.
check "a soft interrupt" shown softirq ".${any}s."
check "a hard interrupt, or one in a soft one" shown hardirq "d${any}[hH]."
contexts plain | sort | uniq -c | sed 's/^/# plain:/'
equal "most calls of a task have nothing to show" yes \
	"$(contexts plain | grep -c -x '\.\.\.\.' |
		awk -v n="$rounds" '{ print ($1 > n / 2) ? "yes" : $1 }')"

# Whoever runs the machine may inject NMIs, and set MCT_NMIS to say so.
nmi_shown()
{
	grep -q '^..[zZ]. CPU ' "$MCT_TRACE"
}

if [ -n "${MCT_NMIS-}" ]; then
	trace_on
	check "an NMI" wait_until 30 nmi_shown
	trace_off
	traced_rounds	# what came meanwhile may have overwritten the first
else
	skip "an NMI" "nobody says that they are injected"
fi

# What is in the rings keeps what it has.
put time "$MCT_OPTIONS"
check "with time it follows the time" shown plain "\\[[0-9.]*\\] .$any\\.\\."
put notime "$MCT_OPTIONS"
put nocontext "$MCT_OPTIONS"
equal "nocontext takes the column away" "$rounds" \
	"$(grep -c '^CPU .* mct_context_plain+' "$MCT_TRACE")"
traced_rounds
put context "$MCT_OPTIONS"
check "what was recorded without it shows that" shown irqs_off ----
put nooverwrite "$MCT_OPTIONS"
traced_rounds
check "it goes with nooverwrite" shown preempt_off ".$any\\.2"
put overwrite "$MCT_OPTIONS"

for cpu in $(cpu_list online); do
	"$MCT_BIN/rawreader" read "$(per_cpu "$cpu" raw)" > "$MCT_TMP/raw.$cpu" ||
		: > "$MCT_TMP/raw.bad"
done
cat "$MCT_TMP"/raw.? | sed 's/^/# raw: /'
check "raw has good records of this kind" test ! -e "$MCT_TMP/raw.bad"
at_least "and many" 1000 \
	"$(awk '$1 == "records" { n += $2 } END { print n + 0 }' "$MCT_TMP"/raw.?)"
check "the counts add up" counts_add_up
finish
