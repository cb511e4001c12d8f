#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: The trace can be read while the tracer records
# requires: root tracer hackbench taskset timeout helper:tracecheck

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

plan 13

load_start
trace_on
before=$(stat_sum "$WRITTEN")

for i in 1 2; do
	timeout "$MCT_PATIENCE" cat "$MCT_TRACE" > "$MCT_TMP/trace$i" &
	eval "reader$i=\$!"
done
for i in 1 2; do
	eval "wait \$reader$i"
	equal "reader $i reaches the end" 0 $?
done
for i in 1 2; do
	check "reader $i saw no malformed line" examine "$MCT_TMP/trace$i"
	at_least "reader $i saw records" 1000 "$(found records)"
	diag "$(found records) records, lapped $(found lapped) times"
done
at_least "tracing continues while the trace is read" $((before + 10000)) \
	"$(stat_sum "$WRITTEN")"

# A reader opens the file, reads a little, and continues later.
timeout "$MCT_PATIENCE" sh -c '
	dd bs=4096 count=1 2>/dev/null
	sleep 1
	cat' < "$MCT_TRACE" > "$MCT_TMP/slow"
equal "a slow reader reaches the end" 0 $?
check "a slow reader saw no malformed line" examine "$MCT_TMP/slow"

# In a kernel where cond_resched() is traced, a reader must not call it for each record.
taskset 2 cat "$MCT_TRACE" > "$MCT_TMP/alone" 2>/dev/null || cat "$MCT_TRACE" > "$MCT_TMP/alone"
check "a reader on a CPU of its own saw no malformed line" examine "$MCT_TMP/alone"
own=$(grep -c ': *cat:[0-9]* __cond_resched+' "$MCT_TMP/alone")
diag "$own of $(found records) records are its own cond_resched()"
check "few records are calls of the reader itself" test "$own" -lt 1000

# Read a few bytes at a time: a line must not change between two reads.
dd if="$MCT_TRACE" of="$MCT_TMP/small" bs=7 count=2000 2>/dev/null
sed '$d' "$MCT_TMP/small" > "$MCT_TMP/small.whole"
check "a reader of few bytes at a time saw no malformed line" \
	examine "$MCT_TMP/small.whole"
check "the tracer still records" wait_until 10 records_flow
finish
