#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tests scripts/oracle.py: the comparison of two call graphs finds each difference, and nothing else.
. "${0%/*}/../scripts/test-lib.sh"

# output FILE [SCRIPT]: write made-up output, changed by sed's SCRIPT: 40 system calls, in each of which a function
# calls 29 others; in 2 runs of 10 one less.
output()
{
	awk 'BEGIN {
		print "traceable outer\ntraceable middle\ntraceable inner"
		for (n = 1; n <= 40; n++) {
			for (way = 0; way < 2; way++) {
				print "call sys" n, way ? 2 : 8
				print "0 outer"
				for (i = way; i < 28; i++)
					print "1 middle"
				print "2 inner"
			}
		}
		print "MCT-EXIT 0"
	}' | sed "${2-}" >"$T/$1"
}

# compared [SCRIPT]: compare the output with itself, changed by SCRIPT
compared()
{
	output one
	output other "${1-}"
	_rc=0
	"$REPO/scripts/oracle.py" "$T/one" "$T/other" >"$T/tap" 2>&1 || _rc=1
	cat "$T/tap"
	[ "$_rc" = 0 ]
}

same()
{
	compared && grep -q '^ok 41 - 1200 calls of 40 system calls are the same$' "$T/tap" &&
		! grep -q '^not ok' "$T/tap"
}

# differs NAME SCRIPT: succeed if exactly this system call differs
differs()
{
	! compared "$2" && [ "$(grep -c '^not ok' "$T/tap")" = 1 ] &&
		grep -q "^not ok [0-9]* - $1: no run of one kernel has the same calls as a run of the other" "$T/tap"
}

seldom()
{
	! compared '/^call sys7 8/,/^call sys7 2/s/inner/outer/' &&
		grep -q '^not ok .* - sys7: .* the same calls: 2 of 10 and 2 of 10' "$T/tap"
}

of_one()	# a function that only one kernel can trace
{
	compared 's/^2 inner/2 own\n3 inner/; 1i traceable own' &&
		grep -q '^ok 41 - 1200 calls' "$T/tap"
}

inlined()	# a function that the other kernel can't trace
{
	compared '/^traceable middle/d; /^1 middle/d; s/^2 inner/1 inner/' &&
		grep -q '^ok 1 - sys1: 2 calls; ' "$T/tap" && return 1
	grep -q '^not ok 41 - 80 calls' "$T/tap"	# 80 calls are too few
}

plan 9
check "equal outputs are the same" same
check "a missing call is found" differs sys3 '/^call sys3 /,/^call sys4 /{/^2 inner/d}'
check "an additional call is found" differs sys3 '/^call sys3 /,/^call sys4 /s/^2 inner/&\n&/'
check "another depth is found" differs sys3 '/^call sys3 /,/^call sys4 /s/^2 inner/1 inner/'
check "another order is found" differs sys3 '/^call sys3 /,/^call sys4 /{s/^2 inner/1 middle/; s/^0 outer/&\n1 inner/}'
check "a sequence of calls that is rare on both kernels is not enough" seldom
check "a function that only one kernel can trace is ignored" of_one
check "a function that is inlined in one kernel is removed from both" inlined
output other '/MCT-EXIT/d'
check "incomplete output is refused" fails_saying 'is not complete' \
	"$REPO/scripts/oracle.py" "$T/one" "$T/other"
finish
