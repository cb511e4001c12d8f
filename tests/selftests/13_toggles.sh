#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: Both switches are toggled at once under load
# requires: root tracer hackbench

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

plan 9

wanted=100
enough=50
limit=${MCT_TOGGLE_SECONDS:-60}

# toggle FILE NAME: 0 and 1 in turn; writes how often, and what failed
toggle()
{
	local n=0 end
	end=$(($(now) + limit))
	while [ $n -lt $wanted ] && [ "$(now)" -lt "$end" ]; do
		put $((n % 2)) "$1" || echo "toggle $n of $2 failed"
		n=$((n + 1))
	done > "$MCT_TMP/$2.failed"
	echo $n > "$MCT_TMP/$2"
}

load_start
begun=$(now)
toggle "$MCT_CTRL" ctrl &
first=$!
toggle "$MCT_SYSCTL" sysctl &
wait $! $first
diag "ctrl $(cat "$MCT_TMP/ctrl") times, the sysctl" \
     "$(cat "$MCT_TMP/sysctl") times in $(($(now) - begun)) seconds"

for name in ctrl sysctl; do
	at_least "$name was toggled often enough" $enough \
		"$(cat "$MCT_TMP/$name")"
	equal "no toggle of $name failed" "" "$(cat "$MCT_TMP/$name.failed")"
done

trace_on
check "with both on records are written" wait_until 10 records_flow
put 0 "$MCT_CTRL"
check "with ctrl off none are" records_stand
put 1 "$MCT_CTRL"
put 0 "$MCT_SYSCTL"
check "with the sysctl off none are" records_stand
put 0 "$MCT_CTRL"
check "with both off none are" records_stand
load_stop
check "the counts add up" stats_add_up
finish
