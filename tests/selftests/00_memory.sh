#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: The rings take no memory before the tracer is first switched on
# requires: root tracer

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

# An earlier test of this boot has switched the tracer on.
if dmesg | grep -F "$kmsg_prefix" | grep -Fqv "$kmsg_marker" ||
   [ "$(stat_sum "$WRITTEN")" -ne 0 ]; then
	skip_all "the tracer was used since the machine was booted"
fi

meminfo()
{
	awk -v key="$1:" '$1 == key { print $2 }' /proc/meminfo
}

# VmallocUsed is steady, but rings need not come from vmalloc memory. MemFree counts all memory,
# but other activity changes it, too.
look()
{
	sync
	sleep 0.5
	mapped=$(meminfo VmallocUsed)
	free=$(meminfo MemFree)
}

# took MAPPED FREE: set $took_mapped and $took_all to the growth since these figures, in KiB
took()
{
	look
	took_mapped=$((mapped - $1))
	took_all=$(($2 - free))
	diag "VmallocUsed grew by $took_mapped KiB," \
	     "MemFree shrank by $took_all KiB"
}

cpus=$(cpu_list possible | wc -l)
rings=$((cpus * 1024))
little=256
rings_are_mapped=

# Succeed if the measured memory is less than one ring. If rings are known to count in VmallocUsed,
# only VmallocUsed decides: a kernel with checkers allocates memory all the time.
no_ring()
{
	[ "$took_mapped" -lt "$little" ] || return 1
	[ -n "$rings_are_mapped" ] || [ "$took_all" -lt $((rings / 2)) ]
}

# With MemFree alone half of the rings' size is enough: MemFree varies by hundreds of KiB by
# itself. 05_both_cpus checks that each CPU has a ring.
all_rings()
{
	[ "$took_mapped" -ge $((rings - little)) ] ||
		[ "$took_all" -gt $((rings / 2)) ]
}

plan 6

diag "$cpus CPUs, so $rings KiB of rings"
echo 3 > /proc/sys/vm/drop_caches
look

look
check "an empty trace can be read" cat "$MCT_TRACE" "$MCT_STATS"
trace_clear
put 1 "$MCT_SYSCTL"
put 0 "$MCT_SYSCTL"
put 0 "$MCT_CTRL"
took "$mapped" "$free"
check "neither the files nor the sysctl allocate rings" no_ring

put 1 "$MCT_CTRL"
took "$mapped" "$free"
check "the first 1 in ctrl allocates a ring for each CPU" all_rings
[ "$took_mapped" -lt $((rings - little)) ] || rings_are_mapped=yes
check "the first 1 in ctrl allocates little more than the rings" \
	test "$took_mapped" -lt $((rings + 512))

put 0 "$MCT_CTRL"
put 1 "$MCT_CTRL"
took "$mapped" "$free"
check "switching off and on again allocates nothing" no_ring

put 1 "$MCT_SYSCTL"
check "records are written to the rings" wait_until 10 records_flow
finish
