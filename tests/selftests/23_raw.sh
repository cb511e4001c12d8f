#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: raw provides the calls of trace, by read and by mmap
# requires: root tracer hackbench helper:badwrite helper:pipecheck helper:rawreader

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=rings.sh
. "$(dirname "$0")/rings.sh"

cpus=$(cpu_list online)
nr_cpus=$(echo "$cpus" | wc -l)

plan $((48 + 11 * nr_cpus))

rawreader=$MCT_BIN/rawreader
badwrite=$MCT_BIN/badwrite
raw0=$(per_cpu 0 raw)
got=$MCT_TMP/got
restrict=/proc/sys/kernel/kptr_restrict
restricted=$(cat $restrict)
mapper=

at_end()
{
	[ -z "$mapper" ] || kill -KILL "$mapper"
	put "$restricted" $restrict
	rings_restore
}

# value KEY [FILE]: print a value of rawreader's output
value()
{
	awk -v key="$1" '$1 == key { print $2 }' "${2:-$got}"
}

# Print the number of calls that can still be read.
left()
{
	"$rawreader" read "$raw0" | awk '$1 == "records" { print $2 }'
}

mapped()
{
	grep -qs mapped "$1"
}

resize()
{
	echo "$1" | "$badwrite" "$MCT_SIZE"
}

put 0 $restrict
storm
"$rawreader" errors "$raw0" "$RING_KB" > "$got"
sed 's/^/# /' "$got"
for want in "read-less EINVAL" "read-0 EINVAL" "read-unaligned ok" \
	"read-nowhere EFAULT" "pread ESPIPE" "map-header ok" "map-whole ok" \
	"map-private ok" "map-private-writable EPERM" "map-offset EINVAL" \
	"map-long EINVAL" "mprotect-writable EACCES" "remap-long EFAULT" \
	"read-into-it EFAULT"; do
	equal "${want% *} is ${want#* }" "${want#* }" "$(value "${want% *}")"
done
check "map-writable is EPERM or EACCES" grep -Eq '^map-writable (EPERM|EACCES)$' \
	"$got"

# The header's values agree with stats.
for cpu in $cpus; do
	check "CPU $cpu: the header can be read" \
		"$rawreader" header "$(per_cpu "$cpu" raw)"
	"$rawreader" header "$(per_cpu "$cpu" raw)" > "$got"
	equal "CPU $cpu: the header has the CPU and the ring's size" "$cpu $((RING_KB * 1024))" \
		"$(value cpu) $(value ring_size)"
	at_least "CPU $cpu: the header counts at least as many words as stats counts calls" \
		$(($(stat_cpu "$cpu" "$WRITTEN") - $(stat_cpu "$cpu" "$LOST"))) \
		"$(value started)"
done

# matches NAME: report whether read() returns the calls of trace
matches()
{
	for cpu in $cpus; do
		cat "$(per_cpu "$cpu" trace)" > "$MCT_TMP/trace"
		check "CPU $cpu: read returns the calls of trace, $1" \
			"$rawreader" match "$(per_cpu "$cpu" raw)" "$MCT_TMP/trace"
	done
}

# Record without times, which readers then estimate, and with times.
put time "$MCT_OPTIONS"
matches "in order, at a possible time"
trace_clear
storm
matches "in order, at the same time"
put notime "$MCT_OPTIONS"

for size in 512 65536; do
	trace_clear
	storm
	cat "$MCT_STATS" > "$MCT_TMP/stats"
	"$rawreader" read "$raw0" $size > "$got"
	equal "reads of $size bytes return valid records" 0 $?
	equal "reads of $size bytes return as many records as entries" \
		"$(stat_cpu 0 "$ENTRIES" "$MCT_TMP/stats")" "$(value records)"
	equal "reads of $size bytes report one gap, of the overwritten records" \
		"1 $(stat_cpu 0 "$OVERWRITTEN" "$MCT_TMP/stats")" \
		"$(value gaps) $(value missed)"
	equal "reads of $size bytes skip no other record" 0 "$(value skipped)"
done
equal "the ring is empty after the reads" 0 "$(left)"
check "the counts add up" counts_add_up

# Another reader consumes calls in between, and then they are cleared.
trace_clear
storm
exec 3< "$raw0"
dd bs=4096 count=1 <&3 > "$MCT_TMP/stream" 2>/dev/null
dd if="$raw0" bs=8192 count=1 of=/dev/null 2>/dev/null
dd bs=4096 count=1 <&3 >> "$MCT_TMP/stream" 2>/dev/null
trace_clear
work
moment
dd bs=4096 count=1 <&3 >> "$MCT_TMP/stream" 2>/dev/null
exec 3<&-
"$rawreader" read "$MCT_TMP/stream" > "$got"
equal "a reader beside others gets valid records" 0 $?
at_least "each part that is missing has a gap" 2 "$(value gaps)"
equal "a reader beside others skips no other record" 0 "$(value skipped)"
trace_clear

# poll() waits for records of this CPU, and splice() returns the same as read().
pipecheck=$MCT_BIN/pipecheck
equal "poll waits while the ring is empty" timeout "$("$pipecheck" poll "$raw0" 300)"
equal "epoll waits while the ring is empty" timeout "$("$pipecheck" epoll "$raw0" 300)"
"$pipecheck" poll "$raw0" 20000 > "$MCT_TMP/poll" &
poller=$!
sleep 1
trace_on
wait "$poller"
equal "poll is woken when there are records" in "$(cat "$MCT_TMP/poll")"
work
trace_off
equal "poll returns at once when there are records" in "$("$pipecheck" poll "$raw0" 300)"
trace_clear
storm
cat "$MCT_STATS" > "$MCT_TMP/stats"
"$pipecheck" splice "$raw0" > "$MCT_TMP/spliced"
"$rawreader" read "$MCT_TMP/spliced" > "$got"
equal "splice returns all records and reports the gap" \
	"$(stat_cpu 0 "$ENTRIES" "$MCT_TMP/stats") $(stat_cpu 0 "$OVERWRITTEN" "$MCT_TMP/stats")" \
	"$(value records) $(value missed)"
equal "splice removes the records from the ring" 0 "$(left)"
check "the counts add up after splice" counts_add_up

# With the hook registered but mcount disabled, no records arrive, so a reader need not skip any.
trace_clear
trace_on
work
put 0 "$MCT_SYSCTL"
cat "$MCT_STATS" > "$MCT_TMP/stats"
"$rawreader" read "$raw0" > "$got"
equal "with mcount disabled only overwritten records are skipped" \
	"$(stat_cpu 0 "$ENTRIES" "$MCT_TMP/stats") $(stat_cpu 0 "$OVERWRITTEN" "$MCT_TMP/stats")" \
	"$(value records) $(value missed)"
trace_off

# followers_start: start a reader by mmap for each CPU, in $pids
followers_start()
{
	pids=
	for cpu in $cpus; do
		rm -f "$got.$cpu"
		"$rawreader" follow "$(per_cpu "$cpu" raw)" \
			> "$got.$cpu" 2> "$got.$cpu.why" &
		pids="$pids $!"
		wait_until 60 mapped "$got.$cpu"
	done
}

# Readers by mmap follow the writer, in rings that overtake them and in large rings.
for kb in "$RING_KB" 1024; do
	put "$kb" "$MCT_SIZE"
	trace_clear
	followers_start
	load_start
	trace_on
	sleep 4
	trace_off
	load_stop
	# shellcheck disable=SC2086 # a list
	kill -TERM $pids
	for cpu in $cpus; do
		# shellcheck disable=SC2086 # a list
		set -- $pids
		pids="${pids# "$1"}"
		wait "$1"
		equal "$kb KiB, CPU $cpu: the follower sees valid records" 0 $?
		diag_lines < "$got.$cpu.why"
		diag "seen $(value seen "$got.$cpu")," \
		     "lost $(value lost "$got.$cpu")"
		at_least "$kb KiB, CPU $cpu: the follower sees many records" 1000 \
			"$(value seen "$got.$cpu")"
		equal "$kb KiB, CPU $cpu: seen and lost records are all that were written" \
			"$(stat_cpu "$cpu" "$WRITTEN")" \
			$(($(value seen "$got.$cpu") + $(value lost "$got.$cpu")))
	done
	equal "$kb KiB: followers do not count as reads" 0 "$(stat_sum "$READ")"
done

# A follower that starts after the ring was overwritten knows how many records it missed.
put "$RING_KB" "$MCT_SIZE"
trace_clear
storm
rm -f "$got"
"$rawreader" follow "$raw0" > "$got" &
mapper=$!
wait_until 60 mapped "$got"
kill -TERM "$mapper"
wait "$mapper"
equal "a late follower sees valid records" 0 $?
mapper=
equal "a late follower's seen and lost records are all since the last clear" \
	"$(stat_cpu 0 "$WRITTEN")" \
	$(($(value seen) + $(value lost)))

# A mapped ring can't be replaced.
rm -f "$got"
"$rawreader" hold "$raw0" > "$got" &
mapper=$!
wait_until 60 mapped "$got"
equal "a resize while the ring is mapped is EBUSY" "write EBUSY" "$(resize 128)"
equal "the size stays after EBUSY" "$RING_KB" "$(cat "$MCT_SIZE")"
equal "tracing can start and stop while the ring is mapped" "1 0" \
	"$(trace_on; xargs < "$MCT_CTRL") $(trace_off; xargs < "$MCT_CTRL")"
kill -KILL "$mapper"
wait "$mapper" 2>/dev/null
mapper=
equal "a resize succeeds after the mapping process was killed" "ok 4 128" \
	"$(resize 128) $(cat "$MCT_SIZE")"
"$rawreader" header "$raw0" > "$got"
equal "a resize succeeds after a mapping process has exited" \
	"ok 4 256" "$(resize 256) $(cat "$MCT_SIZE")"

put 2 $restrict
equal "raw can't be opened with kptr_restrict=2" "open EPERM" "$("$badwrite" -r "$raw0")"
put 0 $restrict
equal "raw can be opened after kptr_restrict=2" "ok 0" "$("$badwrite" -r "$raw0")"
equal "another user can not open raw" "open EACCES" \
	"$("$badwrite" -u 1000 -r "$raw0")"
finish
