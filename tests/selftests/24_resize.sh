#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: The rings' size can be changed at any time and keeps the newest
# requires: root tracer hackbench helper:badwrite helper:tracecheck

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=rings.sh
. "$(dirname "$0")/rings.sh"

plan 25

# The largest, and more of it than there is memory: only 64-bit has that.
case $(uname -m) in
x86_64)	max_kb=1048576 ;;
*)	max_kb=4096 ;;
esac
available_kb=$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo)
nr_cpus=$(cpu_list possible | wc -l)

# resize SIZE: what badwrite says
resize()
{
	echo "$1" | "$MCT_BIN/badwrite" "$MCT_SIZE"
}

# refused: no bad size is taken or changes anything
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

# rounded: what is read is what is in force
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

# save NAME: the records of each CPU
save()
{
	local cpu
	for cpu in $(cpu_list online); do
		records_of "$(per_cpu "$cpu" trace)" > "$MCT_TMP/$1.$cpu"
	done
}

# newest NAME NAME N: are the second's, of each CPU, the first's last, and at least N?
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

# as_many N: does each CPU have so many entries, or more?
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
check "nor any count" cmp "$MCT_TMP/stats" "$MCT_STATS"
check "sizes are rounded up to powers of two, 64 at least" rounded

# At rest: up from full small rings, then down.
put "$RING_KB" "$MCT_SIZE"
trace_clear
storm
save full
put 1024 "$MCT_SIZE"
save up
check "growing keeps all records" newest full up "$RING_RECORDS"
check "the counts add up" counts_add_up
storm
check "they go on in the rings that have grown" each_cpu_has "$ENTRIES" \
	$((RING_RECORDS + 1))
put 256 "$MCT_SIZE"
trace_clear
storm
work
save before
put "$RING_KB" "$MCT_SIZE"
save down
check "shrinking keeps the newest" newest before down "$RING_RECORDS"
check "and is full of them" as_many "$RING_RECORDS"
check "the counts add up after it" counts_add_up
put 256 "$MCT_SIZE"
put "$RING_KB" "$MCT_SIZE"
save again
check "up and down changes nothing" newest down again "$RING_RECORDS"

# Once more with the oldest kept: that does not take away the newest either.
put nooverwrite "$MCT_OPTIONS"
put 128 "$MCT_SIZE"
save kept
check "growing with nooverwrite keeps all" newest down kept "$RING_RECORDS"
storm
check "there is room for as many more" as_many $((2 * RING_RECORDS))
check "the counts add up with nooverwrite" counts_add_up
put overwrite "$MCT_OPTIONS"

# More than there is.
put "$RING_KB" "$MCT_SIZE"
storm
save before
cat "$MCT_STATS" > "$MCT_TMP/stats"
if [ $((nr_cpus * max_kb)) -gt "$available_kb" ]; then
	equal "a size that there is no memory for is ENOMEM" "write ENOMEM" \
		"$(resize "$max_kb")"
	save after
	equal "the size stays" "$RING_KB" "$(cat "$MCT_SIZE")"
	check "so do the counts" cmp "$MCT_TMP/stats" "$MCT_STATS"
	check "and the records" newest before after "$RING_RECORDS"
else
	for name in "a size that there is no memory for is ENOMEM" \
		"the size stays" "so do the counts" "and the records"; do
		skip "$name" "there is memory for $max_kb KiB on each CPU"
	done
fi

# Under load.
light_load_start
trace_on
failed=0
for kb in 128 2048 64 1024; do
	put "$kb" "$MCT_SIZE" || failed=$((failed + 1))
	[ "$(cat "$MCT_SIZE")" -eq "$kb" ] || failed=$((failed + 1))
	wait_until 10 records_flow || failed=$((failed + 1))
done
equal "resizing while tracing works and tracing goes on" 0 $failed
equal "the tracer is still on" 1 "$(cat "$MCT_CTRL")"
at_least "calls that came while rings were exchanged count as lost" 1 "$(stat_sum "$LOST")"
put 2048 "$MCT_SIZE"
put 0 "$MCT_DIR/tracing_on"	# soon, or the place is overwritten
at_least "the trace says where" 1 "$(grep -c '^# lost [1-9]' "$MCT_TRACE")"
put 1024 "$MCT_SIZE"
put 1 "$MCT_DIR/tracing_on"
wait_until 10 records_flow
trace_off
load_stop
check "the counts add up at rest" counts_add_up
check "each CPU has as many records as entries" entries_are_there
cat "$MCT_TRACE" > "$MCT_TMP/trace"
check "the trace is well-formed" examine "$MCT_TMP/trace"
at_least "it says where recording was off" 1 "$(grep -c '^# recording was off$' "$MCT_TMP/trace")"
finish
