#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: trace_pipe returns each record once, waits for more, and reports gaps
# requires: root tracer hackbench taskset helper:badwrite helper:pipecheck helper:tracecheck
# requires: testmod:mct_target testmod:mct_twin

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=rings.sh
. "$(dirname "$0")/rings.sh"

plan 46

pipecheck=$MCT_BIN/pipecheck
got=$MCT_TMP/got
readers=

at_end()
{
	[ -z "$readers" ] || kill "$readers"
	! mod_loaded mct_target || mod_unload mct_target
	! mod_loaded mct_twin || mod_unload mct_twin
	put "" "$MCT_DIR/filter"
	rings_restore
}

# state_of PID: print the letter of the process's state
state_of()
{
	sed 's/.*) \(.\).*/\1/' "/proc/$1/stat"
}

sleeps()
{
	[ "$(state_of "$1")" = S ]
}

nonempty()
{
	[ -s "$1" ]
}

# by_cpu: sort the lines by CPU, and keep each CPU's order
by_cpu()
{
	sort -s -k 2,2
}

# Nothing to read.
"$pipecheck" drain "$MCT_PIPE" >/dev/null
trace_clear
equal "an empty trace_pipe returns EAGAIN with O_NONBLOCK" "read EAGAIN" \
	"$("$pipecheck" try "$MCT_PIPE")"
equal "poll waits while trace_pipe is empty" timeout "$("$pipecheck" poll "$MCT_PIPE" 300)"
equal "epoll waits while trace_pipe is empty" timeout "$("$pipecheck" epoll "$MCT_PIPE" 300)"
equal "a read waits until a signal comes" "read EINTR" \
	"$("$pipecheck" signal "$MCT_PIPE" 300)"
equal "another user can not open trace_pipe" "open EACCES" \
	"$("$MCT_BIN/badwrite" -u 1000 -r "$MCT_PIPE")"

# New records wake waiting processes.
cat "$MCT_PIPE" > "$got" &
readers=$!
"$pipecheck" poll "$MCT_PIPE" 20000 > "$MCT_TMP/poll" &
poller=$!
"$pipecheck" epoll "$MCT_PIPE" 20000 > "$MCT_TMP/epoll" &
epoller=$!
sleep 1
check "a reader sleeps while trace_pipe is empty" wait_until 10 sleeps "$readers"
check "the sleeping reader has read nothing" not nonempty "$got"
trace_on
check "the reader is woken when tracing starts" wait_until 10 nonempty "$got"
wait "$poller" "$epoller"
trace_off
equal "poll is woken when tracing starts" in "$(cat "$MCT_TMP/poll")"
equal "epoll is woken when tracing starts" in "$(cat "$MCT_TMP/epoll")"
drained()
{
	[ "$(stat_sum "$ENTRIES")" -eq 0 ] && sleeps "$readers"
}
check "the reader reads all records" wait_until 20 drained
kill -TERM "$readers"
wait "$readers" 2>/dev/null
equal "a signal ends the waiting reader" 143 $?
readers=
equal "the read count is the number of lines" "$(stat_sum "$READ")" \
	"$(records_of "$got" | wc -l)"
check "all lines are well-formed" examine "$got"

moment
records_of | by_cpu > "$MCT_TMP/want"
equal "poll returns at once when there are records" in \
	"$("$pipecheck" poll "$MCT_PIPE" 1)"
# Compare without the comments on overwritten records, which differ between the two files. Order by
# CPU, because the order between CPUs may differ: the previous reader has estimated some times that
# are known better only now, and a CPU's times never decrease.
"$pipecheck" drain "$MCT_PIPE" | sed '/^#/d' | by_cpu > "$got"
check "the signal loses no record" cmp "$MCT_TMP/want" "$got"

moment
"$pipecheck" edge "$MCT_PIPE" 20000 > "$MCT_TMP/edge" &
poller=$!
wait_until 10 nonempty "$MCT_TMP/edge"
sleep 1
moment
wait "$poller"
equal "edge-triggered epoll reports the next records, too" "drained in" \
	"$(xargs < "$MCT_TMP/edge")"

# Reads of any size return the same text as trace.
for size in 1 7 333 4099 1000000; do
	trace_clear
	if [ $size -lt 100 ]; then
		moment
	else
		storm
	fi
	overwritten=$(stat_sum "$OVERWRITTEN")
	records_of > "$MCT_TMP/want"
	diag "$(wc -l < "$MCT_TMP/want") records by reads of $size bytes"
	"$pipecheck" drain "$MCT_PIPE" $size > "$got"
	records_of "$got" > "$got.records"
	check "reads of $size bytes return the text of trace" \
		cmp "$MCT_TMP/want" "$got.records"
	equal "reads of $size bytes: the gaps are the overwritten records" "$overwritten" \
		"$(gaps_of "$got")"
done
equal "trace_pipe is empty after the reads" "read EAGAIN" "$("$pipecheck" try "$MCT_PIPE")"

trace_clear
storm
records_of > "$MCT_TMP/want"
"$pipecheck" splice "$MCT_PIPE" > "$got"
records_of "$got" > "$got.records"
check "splice returns the text of trace, too" cmp "$MCT_TMP/want" "$got.records"

# With the hook registered but mcount disabled, no records arrive, so a reader need not skip any.
trace_clear
trace_on
work
put 0 "$MCT_SYSCTL"
overwritten=$(stat_sum "$OVERWRITTEN")
records_of > "$MCT_TMP/want"
"$pipecheck" drain "$MCT_PIPE" > "$got"
records_of "$got" > "$got.records"
check "with mcount disabled no record is skipped" cmp "$MCT_TMP/want" "$got.records"
equal "with mcount disabled the gaps are the overwritten records" "$overwritten" "$(gaps_of "$got")"
trace_off

# Load a module at the address of an unloaded one: its functions must have its own names.
# calls MODULE: call its functions while tracing, and wait until trace_pipe is empty
calls()
{
	trace_on
	mod_set "$1" calls 5
	trace_off
	wait_until 60 drained
}
# where FUNCTION
where()
{
	sed -n "s/ . $1[[:space:]].*//p" /proc/kallsyms
}
trace_clear
cat "$MCT_PIPE" > "$got" &
readers=$!
wait_until 10 sleeps "$readers"
mod_load mct_target
place=$(where mct_target_leaf)
calls mct_target
mod_unload mct_target
# The kernel chooses the address; freed memory may not be available at once.
tries=0
while mod_load mct_twin && [ "$(where mct_twin_leaf)" != "$place" ] && [ $tries -lt 20 ]; do
	mod_unload mct_twin
	tries=$((tries + 1))
done
if [ "$(where mct_twin_leaf)" = "$place" ]; then
	ok "the new module's functions are at the old module's addresses"
else
	skip "the new module's functions are at the old module's addresses" \
		"the kernel chose another address"
fi
calls mct_twin
kill -TERM "$readers"
wait "$readers" 2>/dev/null
readers=
at_least "calls of the old module have its names" \
	5 "$(grep -c ' mct_target_leaf+.* \[mct_target\]' "$got")"
at_least "calls of the new module have its names" \
	5 "$(grep -c ' mct_twin_leaf+.* \[mct_twin\]' "$got")"
equal "no call of the new module has a name of the old module" \
	"$(grep -c ' mct_target_branch+.*<--' "$got")" \
	"$(grep -c ' mct_target_leaf+.*<--' "$got")"

# With several readers each line goes to one of them.
for n in 2 4; do
	trace_clear
	storm
	records_of | sort > "$MCT_TMP/want"
	pids=
	for i in $(seq $n); do
		"$pipecheck" drain "$MCT_PIPE" 5000 > "$got.$i" &
		pids="$pids $!"
	done
	# shellcheck disable=SC2086 # a list
	wait $pids
	for i in $(seq $n); do
		diag "reader $i of $n got $(wc -l < "$got.$i") lines"
	done
	cat "$got".? | sed '/^#/d' | sort > "$got"
	check "$n readers: each record is read once" cmp "$MCT_TMP/want" "$got"
done
trace_clear
storm
records_of | sort > "$MCT_TMP/want"
"$pipecheck" twice "$MCT_PIPE" > "$got.all"
records_of "$got.all" | sort > "$got"
check "two threads on one file: each record is read once" \
	cmp "$MCT_TMP/want" "$got"

# Where calls were rare, the next ones are not kept back until their estimated times. The other
# CPU's ring is empty, so these times decide. Only these shells call the function. New rings have
# no frequent calls that the estimate begins with.
truncates()
{
	# shellcheck disable=SC2016
	taskset 1 sh -c 'for i in $(seq "$1"); do : > "$2"; sleep "$3"; done' \
		sh "$1" "$MCT_TMP/empty" "$2"
}
: > "$MCT_TMP/empty"
put do_truncate "$MCT_DIR/filter"
put $((RING_KB * 2)) "$MCT_SIZE"
put "$RING_KB" "$MCT_SIZE"
trace_on
truncates 4 2
counts=
for i in 1 2 3; do	# some of these calls may be followed by a time
	truncates 5 0
	"$pipecheck" drain "$MCT_PIPE" > "$got.rare$i"
	sleep 1
	"$pipecheck" drain "$MCT_PIPE" >> "$got.rare$i"
	counts="$counts $(records_of "$got.rare$i" | wc -l)"
done
trace_off
put "" "$MCT_DIR/filter"
equal "calls after rare ones come at once" " 9 5 5" "$counts"

# A read returns after a moment, although more records keep arriving.
trace_clear
load_start
trace_on
dd if="$MCT_PIPE" of="$got" bs=32M count=1 2>/dev/null
trace_off
load_stop
equal "a read ends while busy CPUs keep recording" "some" \
	"$([ -s "$got" ] && [ "$(wc -c < "$got")" -lt $((32 << 20)) ] && echo some)"

# Under load the reader can't keep up, and trace_pipe reports gaps.
trace_clear
load_start
cat "$MCT_PIPE" > "$got" &
readers=$!
trace_on
sleep 3
trace_off
load_stop
check "the reader reads the rest after the load" wait_until 60 drained
kill -TERM "$readers"
wait "$readers" 2>/dev/null
readers=
check "under load all lines are well-formed" examine "$got"
at_least "trace_pipe reports gaps under load" 1 "$(found lapped)"
equal "under load the read count is the number of lines" "$(stat_sum "$READ")" "$(found records)"
equal "under load the gaps are the overwritten records" "$(stat_sum "$OVERWRITTEN")" \
	"$(gaps_of "$got")"
check "the counts add up" counts_add_up
finish
