#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tests that recordings of a guest can be read here: by mctrace, which must print the same as the guest's kernel, and by
# other programs. Slow: boots the mctracer guest.
. "${0%/*}/../scripts/test-lib.sh"

tree=$("$REPO/scripts/kernel-tree") || exit 1
mkdir "$T/mctrace" "$T/recorded"

recorded()
{
	FILES="$T/recorded.tar.gz" "$REPO/scripts/boot" mctracer recorded &&
		tar -xvzf "$T/recorded.tar.gz" -C "$T/recorded"
}

# there PROGRAM: succeed if PROGRAM, a command or a library, is installed
there()
{
	case $1 in
	lib*)	python3 -c 'import ctypes, sys; ctypes.CDLL(sys.argv[1])' "$1" 2>/dev/null ;;
	*)	command -v "$1" >/dev/null ;;
	esac
}

# same NAME RECORDING WHAT [PROGRAM]: check that WHAT shows the same of RECORDING as the kernel's text
same()
{
	name="$2: $1" what=$3
	if [ -n "${4-}" ] && ! there "$4"; then
		skip "$name" "there is no $4: scripts/setup installs it"
	else
		check "$name" "$REPO/tests/mctrace/recorded.py" "$T/mctrace/mctrace" \
			"$T/recorded/$2.dat" "$T/recorded/$2.text" "$what"
	fi
}

plan 24
check "mctrace records in a guest, and reports the same as the kernel there" recorded
check "mctrace is built here" make -s -C "$tree/tools/tracing/mctrace" OUTPUT="$T/mctrace/"
for recording in function graph; do
	same "mctrace reports the same here, to the byte" $recording report
	same "calls are nested in the tree" $recording tree
	same "trace-cmd reads the same calls in the same order" $recording trace-cmd trace-cmd
	same "KernelShark's libkshark reads the same calls" $recording libkshark libkshark.so.2
	same "babeltrace2 reads the same calls and no others" $recording babeltrace2 babeltrace2
	same "the export to Perfetto has all calls, in fields that Perfetto has" $recording perfetto
	same "JSON has the same calls" $recording json
	same "folded stacks have the same calls" $recording folded
	check "$recording: a reader written from the uapi header alone finds the same events" \
		"$REPO/tests/mctrace/raw_text.py" "$T/recorded/$recording.text" "$T/recorded/names" \
		"$T/recorded/$recording.raw0" "$T/recorded/$recording.raw1"
done
judged() { "$REPO/tests/mctrace/followed.py" "$@"; }
check "the kernel finds the same followed objects as a search in all calls with arguments" \
	judged "$T/recorded/all.text"
check "the calls of followed objects can be recorded alone" \
	judged "$T/recorded/followed.text" "$T/recorded/all.text"
same "uftrace replays and reports the calls, and recognizes a system call" graph uftrace uftrace
same "speedscope's profiles are nested" graph speedscope
finish
