#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: The rings' size can be changed at any time, and the newest records stay
# requires: root tracer hackbench helper:badwrite helper:tracecheck

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=rings.sh
. "$(dirname "$0")/rings.sh"

plan 27

# The largest size. Only a 64-bit kernel has a size that exceeds the machine's memory.
case $(uname -m) in
x86_64)	max_kb=1048576 ;;
*)	max_kb=4096 ;;
esac
available_kb=$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo)
nr_cpus=$(cpu_list possible | wc -l)

# resize SIZE: write the size and print badwrite's result
resize()
{
	echo "$1" | "$MCT_BIN/badwrite" "$MCT_SIZE"
}

# refused: succeed if bad sizes are refused and change nothing
refused()
{
	local input got bad=

	for input in '' ' ' 0 00 -1 -64 abc 64k 64K 1M 0x40 1.5 '64 64' '64,' \
		$((max_kb + 1)) $((2 * max_kb)) 4294967296 4294967360 \
		18014398509481983 18014398509481984 18014398509482048 \
		18446744073709551615 18446744073709551616 \
		18446744073709551680; do
		got=$(resize "$input")
		if [ "$got" != "write EINVAL" ]; then
			echo "'$input': $got"
			bad=1
		fi
		if [ "$(cat "$MCT_SIZE")" != "$RING_KB" ]; then
			echo "'$input' changed it to $(cat "$MCT_SIZE")"
			put "$RING_KB" "$MCT_SIZE"
			bad=1
		fi
	done
	got=$(printf '128' | "$MCT_BIN/badwrite" -o 1 "$MCT_SIZE")
	if [ "$got" != "write EINVAL" ]; then
		echo "128 at offset 1: $got"
		bad=1
	fi
	got=$(printf '128\0' | "$MCT_BIN/badwrite" "$MCT_SIZE")
	if [ "$got" != "write EINVAL" ]; then
		echo "128 and NUL: $got"
		bad=1
	fi
	[ -z "$bad" ]
}

# rounded: succeed if the file shows the rounded size that is in effect
rounded()
{
	local pair got bad=

	for pair in 1:64 63:64 64:64 65:128 128:128 129:256 1000:1024 \
		1025:2048 4096:4096 ' 64:64'; do
		put "${pair%:*}" "$MCT_SIZE"
		got=$(cat "$MCT_SIZE")
		if [ "$got" != "${pair#*:}" ]; then
			echo "${pair%:*} gives $got"
			bad=1
		fi
	done
	[ -z "$bad" ]
}

# save NAME: save the records of each CPU
save()
{
	local cpu
	for cpu in $(cpu_list online); do
		records_of "$(per_cpu "$cpu" trace)" > "$MCT_TMP/$1.$cpu"
	done
}

# newest OLD NEW N: succeed if, for each CPU, NEW has at least N records, and they are the last of
# OLD
newest()
{
	local cpu n
	for cpu in $(cpu_list online); do
		diag "CPU $cpu: $(wc -l < "$MCT_TMP/$1.$cpu") records," \
		     "$(wc -l < "$MCT_TMP/$2.$cpu") after"
		n=$(wc -l < "$MCT_TMP/$2.$cpu")
		[ "$n" -ge "$3" ] || return 1
		tail -n "$n" "$MCT_TMP/$1.$cpu" | cmp - "$MCT_TMP/$2.$cpu" ||
			return 1
	done
}

# as_many N: succeed if each CPU has at least N entries
as_many()
{
	local cpu
	for cpu in $(cpu_list online); do
		[ "$(stat_cpu "$cpu" "$ENTRIES")" -ge "$1" ] || return 1
	done
}

storm
cat "$MCT_STATS" > "$MCT_TMP/stats"
check "a bad size is EINVAL and changes nothing" refused
check "a bad size changes no count" cmp "$MCT_TMP/stats" "$MCT_STATS"
check "sizes are rounded up to powers of two, to 64 at least" rounded

# While tracing is off: grow from full small rings, then shrink.
put "$RING_KB" "$MCT_SIZE"
trace_clear
storm
save full
put 1024 "$MCT_SIZE"
save up
check "growing keeps all records" newest full up "$RING_RECORDS"
check "the counts add up" counts_add_up
storm
check "recording continues in the larger rings" each_cpu_has "$ENTRIES" \
	$((RING_RECORDS + 1))
put 256 "$MCT_SIZE"
trace_clear
storm
work
save before
put "$RING_KB" "$MCT_SIZE"
save down
check "shrinking keeps the newest records" newest before down "$RING_RECORDS"
check "the smaller rings are full" as_many "$RING_RECORDS"
check "the counts add up after shrinking" counts_add_up
put 256 "$MCT_SIZE"
put "$RING_KB" "$MCT_SIZE"
save again
check "growing and shrinking changes no record" newest down again "$RING_RECORDS"

# With nooverwrite, which keeps the oldest records, growing must keep the newest, too.
put nooverwrite "$MCT_OPTIONS"
put 128 "$MCT_SIZE"
save kept
check "growing with nooverwrite keeps all records" newest down kept "$RING_RECORDS"
storm
check "the larger rings take as many records again" as_many $((2 * RING_RECORDS))
check "the counts add up with nooverwrite" counts_add_up
put overwrite "$MCT_OPTIONS"

# Try a size that exceeds the memory.
put "$RING_KB" "$MCT_SIZE"
storm
save before
cat "$MCT_STATS" > "$MCT_TMP/stats"
if [ $((nr_cpus * max_kb)) -gt "$available_kb" ]; then
	equal "a size that exceeds the memory is ENOMEM" "write ENOMEM" \
		"$(resize "$max_kb")"
	save after
	equal "the size stays after ENOMEM" "$RING_KB" "$(cat "$MCT_SIZE")"
	check "the counts stay after ENOMEM" cmp "$MCT_TMP/stats" "$MCT_STATS"
	check "the records stay after ENOMEM" newest before after "$RING_RECORDS"
else
	for name in "a size that exceeds the memory is ENOMEM" \
		"the size stays after ENOMEM" "the counts stay after ENOMEM" \
		"the records stay after ENOMEM"; do
		skip "$name" "there is memory for $max_kb KiB on each CPU"
	done
fi

# Resize under load.
light_load_start
trace_on
failed=0
for kb in 128 2048 64 1024; do
	put "$kb" "$MCT_SIZE" || failed=$((failed + 1))
	[ "$(cat "$MCT_SIZE")" -eq "$kb" ] || failed=$((failed + 1))
	wait_until 10 records_flow || failed=$((failed + 1))
done
equal "resizing while tracing succeeds and tracing continues" 0 $failed
equal "the tracer is still on" 1 "$(cat "$MCT_CTRL")"
at_least "calls during an exchange of the rings count as lost" 1 "$(stat_sum "$LOST")"
put 2048 "$MCT_SIZE"
put 0 "$MCT_DIR/tracing_on"	# soon, or the line is overwritten
at_least "the trace shows where calls were lost" 1 "$(grep -c '^# lost [1-9]' "$MCT_TRACE")"
put 1024 "$MCT_SIZE"
put 1 "$MCT_DIR/tracing_on"
wait_until 10 records_flow
trace_off
load_stop
check "the counts add up once tracing has stopped" counts_add_up
check "each CPU's trace has as many records as entries" entries_are_there
cat "$MCT_TRACE" > "$MCT_TMP/trace"
check "the trace is well-formed" examine "$MCT_TMP/trace"
at_least "the trace shows where recording was off" \
	1 "$(grep -c '^# recording was off$' "$MCT_TMP/trace")"

# Packets of marks, with the duration, at many places of a quarter.
put ksys_lseek "$MCT_DIR/filter"
if put 'vfs_read:slow 0ns:mark' "$MCT_DIR/triggers"; then
	put 256 "$MCT_SIZE"
	trace_clear
	trace_on
	dd if=/dev/zero of=/dev/null bs=1 count=20000 2> /dev/null
	trace_off
	marks=$(grep '^# mark' "$MCT_TRACE" | grep -c ' after ')
	at_least "marks have a duration" 300 "$marks"
	put 64 "$MCT_SIZE"
	equal "they have it after a resize, too" 0 \
		"$(grep '^# mark' "$MCT_TRACE" | grep -vc ' after ')"
	put "" "$MCT_DIR/triggers"
else
	skip "marks have a duration" "this kernel sees no returns"
	skip "they have it after a resize, too" "this kernel sees no returns"
fi
put "" "$MCT_DIR/filter"
finish
