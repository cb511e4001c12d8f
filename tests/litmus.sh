#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The ring's memory barriers, by litmus tests under the kernel's memory model: the states that they are
# there to prevent can't be reached, and can when one of them is left out.
#
#	ring.h, ring.c				tests/litmus/*.litmus
#	W1 mctracer_ring_fill()			P0: head before stamp and ip
#	W2 mctracer_ring_commit()		P0: stamp and ip before parent_ip
#	R1 mctracer_ring_read(), load_ips(),	P1: parent_ip before stamp and ip
#	   copy_chunk()
#	R2 mctracer_ring_read(), copy_chunk()	P1: stamp and ip before head
#	load()					load.py: high before low before high
#
# A test's line "Needs:" names the barriers without which its state must be reachable: each is taken
# out in turn, wherever it is marked. herd7 does that; Debian 12 has no package of it. Whether the code
# still does what is modelled, and load(), is checked in any case.
. "${0%/*}/../scripts/test-lib.sh"

tree=$("$REPO/scripts/kernel-tree") || exit 1
model=$tree/tools/memory-model
ring=$tree/kernel/trace/mctracer

# observed FILE WORD: does the test end so?
observed()
{
	(cd "$model" && herd7 -conf linux-kernel.cfg "$1") >"$T/herd" 2>&1
	cat "$T/herd"
	grep -q "^Observation [^ ]* $2 " "$T/herd"
}

# by_herd NAME COMMAND...
by_herd()
{
	if command -v herd7 >/dev/null; then
		check "$@"
	else
		skip "$1" "herd7 is not installed"
	fi
}

# without LABEL FILE: the test without the lines that are marked with it
without()
{
	sed "/\/\/ $1\$/d" "$2" >"$T/without.litmus"
	! cmp -s "$2" "$T/without.litmus"
}

reached()	# FILE LABEL
{
	without "$2" "$1" && observed "$T/without.litmus" Sometimes
}

labels()	# the barriers with a label that the code has
{
	cat "$ring/ring.h" "$ring/ring.c" |
		sed -n 's/.*smp_[rw]mb();.*\/\* \([RW][0-9]*\) \*\/.*/\1/p' | sort -u
}

covered()	# each has a test, and each that a test has is in the code
{
	labels >"$T/code"
	sed -n 's/^ \* Needs: //p' "$REPO"/tests/litmus/*.litmus | tr ' ' '\n' | sort -u >"$T/tests"
	[ "$(wc -l <"$T/code")" -ge 4 ] && diff "$T/code" "$T/tests"
}

order_in()	# FILE FUNCTION PATTERN: what of PATTERN is in the function, in order
{
	awk -v f="$2" '$0 ~ "^[a-z0-9_ *]*" f "\\(" { on = 1 } on { print } on && /^}/ { exit }' "$ring/$1" |
		grep -oE "$3" | xargs
}

# What the tests model is what the code does, in this order.
modelled()
{
	{
		order_in ring.h mctracer_ring_fill 'W1|WRITE_ONCE\(slot->stamp|WRITE_ONCE\(slot->ip'
		order_in ring.h mctracer_ring_commit 'W2|WRITE_ONCE\(slot->parent_ip'
		order_in ring.c mctracer_ring_read \
			'READ_ONCE\(slot->[a-z_]*|R[12]|mctracer_ring_end|V[12]'
		order_in ring.c load_ips 'READ_ONCE\(slot->[a-z_]*|R1'
		order_in ring.c copy_chunk 'load_ips|READ_ONCE\(slot->[a-z_]*|R[12]|V2'
		order_in ring.c mctracer_ring_consume_to_user \
			'copy_chunk|mctracer_ring_end|V1|user\.read \+='
		order_in ring.c load 'halves\[[01]\]|smp_rmb'
	} | tee "$T/order"
	[ "$(cat "$T/order")" = "W1 WRITE_ONCE(slot->stamp WRITE_ONCE(slot->ip
W2 WRITE_ONCE(slot->parent_ip
READ_ONCE(slot->parent_ip R1 READ_ONCE(slot->stamp READ_ONCE(slot->ip R2 mctracer_ring_end V1 V2
READ_ONCE(slot->parent_ip R1 READ_ONCE(slot->ip
load_ips V2 R1 READ_ONCE(slot->stamp R2 R2
mctracer_ring_end copy_chunk mctracer_ring_end V1 user.read +=
halves[1] smp_rmb halves[0] smp_rmb halves[1]" ]
}

load()	# NAME WORD
{
	"$REPO/tests/litmus/load.py" | tee "$T/load"
	grep -q "^Observation $1 $2 " "$T/load"
}

set -- "$REPO"/tests/litmus/*.litmus
plan $((6 + $# + $(sed -n 's/^ \* Needs: //p' "$@" | wc -w)))
check "each labelled barrier of the ring has a litmus test" covered
check "the code's order is the one that is modelled" modelled
for file; do
	name=$(basename -- "$file" .litmus)
	by_herd "$name: the state is never reached" observed "$file" Never
	needs=$(sed -n 's/^ \* Needs: //p' "$file")
	for label in $needs; do
		by_herd "$name: without $label it is" reached "$file" "$label"
	done
done
check "load(): what is read is a value that the counter had" load load Never
for part in first-barrier second-barrier second-look; do
	check "load(): not always without its $part" load load-without-$part Sometimes
done
finish
