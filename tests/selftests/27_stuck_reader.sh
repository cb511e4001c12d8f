#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# description: A reader that is stuck in a page fault does not block other tasks
# requires: root tracer helper:pipecheck helper:rawreader helper:stuckreader

# shellcheck disable=SC2317 # functions that check() runs
# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=rings.sh
. "$(dirname "$0")/rings.sh"

"$MCT_BIN/stuckreader" || skip_all "no userfaultfd in this kernel"

plan 12

reader=

at_end()
{
	[ -z "$reader" ] || kill -KILL "$reader"
	rings_restore
}

reading()
{
	grep -qs reading "$MCT_TMP/said"
}

# Succeed if the reader sleeps in the kernel. In state D it can only be killed.
stuck()
{
	kill -0 "$reader" && grep -q '^State:	[DS]' "/proc/$reader/status"
}

# Use other files of the tracer; all of these take a lock of the tracer.
others()
{
	timeout 20 sh -c "cat $MCT_STATS && cat $MCT_TRACE && echo 1 > $MCT_CTRL &&
		echo 0 > $MCT_CTRL && echo 128 > $MCT_SIZE && echo $RING_KB > $MCT_SIZE" \
		> /dev/null
}

for file in "$MCT_PIPE" "$(per_cpu 0 raw)"; do
	name=${file##*/}
	storm
	written=$(stat_sum "$WRITTEN")
	"$MCT_BIN/stuckreader" "$file" > "$MCT_TMP/said" &
	reader=$!
	check "$name: a reader reads into memory whose page fault is never served" \
		wait_until 10 reading
	sleep 1
	check "$name: the reader is stuck" stuck
	check "$name: other tasks continue" others
	equal "$name: the reader has read nothing" 0 "$(stat_sum "$READ")"
	kill -TERM "$reader"
	wait "$reader" 2>/dev/null
	equal "$name: a signal ends the reader" 143 $?
	reader=
	rm -f "$MCT_TMP/said"
	at_least "$name: no record is lost" "$written" "$(stat_sum "$WRITTEN")"
	trace_clear
done
finish
