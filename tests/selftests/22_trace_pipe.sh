#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: trace_pipe gives each record once, waits, and tells of gaps
# requires: root tracer hackbench helper:badwrite helper:pipecheck helper:tracecheck
# requires: testmod:mct_target testmod:mct_twin

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=rings.sh
. "$(dirname "$0")/rings.sh"

plan 45

pipecheck=$MCT_BIN/pipecheck
got=$MCT_TMP/got
readers=

at_end()
{
	[ -z "$readers" ] || kill "$readers"
	! mod_loaded mct_target || mod_unload mct_target
	! mod_loaded mct_twin || mod_unload mct_twin
	rings_restore
}

# state_of PID: the letter
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

# by_cpu: the lines, those of each CPU in their order
by_cpu()
{
	sort -s -k 2,2
}

# Nothing to read.
"$pipecheck" drain "$MCT_PIPE" >/dev/null
trace_clear
equal "when it is empty, O_NONBLOCK gives EAGAIN" "read EAGAIN" \
	"$("$pipecheck" try "$MCT_PIPE")"
equal "poll waits" timeout "$("$pipecheck" poll "$MCT_PIPE" 300)"
equal "epoll waits" timeout "$("$pipecheck" epoll "$MCT_PIPE" 300)"
equal "a read waits until a signal comes" "read EINTR" \
	"$("$pipecheck" signal "$MCT_PIPE" 300)"
equal "another user can not open it" "open EACCES" \
	"$("$MCT_BIN/badwrite" -u 1000 -r "$MCT_PIPE")"

# What waits is woken when there is something.
cat "$MCT_PIPE" > "$got" &
readers=$!
"$pipecheck" poll "$MCT_PIPE" 20000 > "$MCT_TMP/poll" &
poller=$!
"$pipecheck" epoll "$MCT_PIPE" 20000 > "$MCT_TMP/epoll" &
epoller=$!
sleep 1
check "a reader sleeps while there is nothing" wait_until 10 sleeps "$readers"
check "and has got nothing" not nonempty "$got"
trace_on
check "it is woken when tracing starts" wait_until 10 nonempty "$got"
wait "$poller" "$epoller"
trace_off
equal "so is poll" in "$(cat "$MCT_TMP/poll")"
equal "so is epoll" in "$(cat "$MCT_TMP/epoll")"
drained()
{
	[ "$(stat_sum "$ENTRIES")" -eq 0 ] && sleeps "$readers"
}
check "it reads all that there is" wait_until 20 drained
kill -TERM "$readers"
wait "$readers" 2>/dev/null
equal "it ends by a signal while it waits" 143 $?
readers=
equal "each record read is a line" "$(stat_sum "$READ")" \
	"$(records_of "$got" | wc -l)"
check "all lines are well-formed" examine "$got"

moment
records_of | by_cpu > "$MCT_TMP/want"
equal "poll says at once that there is something" in \
	"$("$pipecheck" poll "$MCT_PIPE" 1)"
# Without the notes of what was overwritten, which differ between the two. The reader before has
# estimated times that are not known better until now, and those of a CPU never decrease: so between
# CPUs the order may be another one.
"$pipecheck" drain "$MCT_PIPE" | sed '/^#/d' | by_cpu > "$got"
check "nothing was lost by the signal" cmp "$MCT_TMP/want" "$got"

moment
"$pipecheck" edge "$MCT_PIPE" 20000 > "$MCT_TMP/edge" &
poller=$!
wait_until 10 nonempty "$MCT_TMP/edge"
sleep 1
moment
wait "$poller"
equal "who is told of edges only is told of the next one, too" "drained in" \
	"$(xargs < "$MCT_TMP/edge")"

# However it is read, it is the same text as trace.
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
	check "reads of $size bytes give the text of trace" \
		cmp "$MCT_TMP/want" "$got.records"
	equal "and the gaps, what was overwritten" "$overwritten" \
		"$(gaps_of "$got")"
done
equal "then it is empty" "read EAGAIN" "$("$pipecheck" try "$MCT_PIPE")"

trace_clear
storm
records_of > "$MCT_TMP/want"
"$pipecheck" splice "$MCT_PIPE" > "$got"
records_of "$got" > "$got.records"
check "splice gives the text of trace, too" cmp "$MCT_TMP/want" "$got.records"

# Hook registered, mcount disabled: nothing comes, so nothing need be skipped.
trace_clear
trace_on
work
put 0 "$MCT_SYSCTL"
overwritten=$(stat_sum "$OVERWRITTEN")
records_of > "$MCT_TMP/want"
"$pipecheck" drain "$MCT_PIPE" > "$got"
records_of "$got" > "$got.records"
check "at rest nothing is skipped" cmp "$MCT_TMP/want" "$got.records"
equal "but what was overwritten" "$overwritten" "$(gaps_of "$got")"
trace_off

# A module in the place of another: its functions have its names.
# calls MODULE: have its functions called while tracing, and the pipe drained
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
# The kernel chooses; freed memory may not be there at once.
tries=0
while mod_load mct_twin && [ "$(where mct_twin_leaf)" != "$place" ] && [ $tries -lt 20 ]; do
	mod_unload mct_twin
	tries=$((tries + 1))
done
if [ "$(where mct_twin_leaf)" = "$place" ]; then
	ok "the module's functions are where another's were"
else
	skip "the module's functions are where another's were" "the kernel chose another place"
fi
calls mct_twin
kill -TERM "$readers"
wait "$readers" 2>/dev/null
readers=
at_least "these had their names" 5 "$(grep -c ' mct_target_leaf+.* \[mct_target\]' "$got")"
at_least "the module's have its own" 5 "$(grep -c ' mct_twin_leaf+.* \[mct_twin\]' "$got")"
equal "and none of the other's" "$(grep -c ' mct_target_branch+.*<--' "$got")" \
	"$(grep -c ' mct_target_leaf+.*<--' "$got")"

# More than one reader: each line goes to one of them.
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

# A read ends after a moment, though there is always more.
trace_clear
load_start
trace_on
dd if="$MCT_PIPE" of="$got" bs=32M count=1 2>/dev/null
trace_off
load_stop
equal "a read of busy CPUs' records comes to an end" "some" \
	"$([ -s "$got" ] && [ "$(wc -c < "$got")" -lt $((32 << 20)) ] && echo some)"

# Under load it can't keep up, and says so.
trace_clear
load_start
cat "$MCT_PIPE" > "$got" &
readers=$!
trace_on
sleep 3
trace_off
load_stop
check "after a storm the reader gets the rest" wait_until 60 drained
kill -TERM "$readers"
wait "$readers" 2>/dev/null
readers=
check "under load all lines are well-formed" examine "$got"
at_least "there were gaps" 1 "$(found lapped)"
equal "as many lines as were read" "$(stat_sum "$READ")" "$(found records)"
equal "the gaps are what was overwritten" "$(stat_sum "$OVERWRITTEN")" \
	"$(gaps_of "$got")"
check "the counts add up" counts_add_up
finish
