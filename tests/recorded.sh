#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# What mctrace recorded in a guest, read here: by mctrace, which says what the guest's kernel does, and by
# other programs. Boots the mctracer guest, so it is no test for who wants a quick answer.
. "${0%/*}/../scripts/test-lib.sh"

tree=$("$REPO/scripts/kernel-tree") || exit 1
mkdir "$T/mctrace" "$T/recorded"

recorded()
{
	FILES="$T/recorded.tar.gz" "$REPO/scripts/boot" mctracer recorded &&
		tar -xvzf "$T/recorded.tar.gz" -C "$T/recorded"
}

# there PROGRAM: is it installed, or a library?
there()
{
	case $1 in
	lib*)	python3 -c 'import ctypes, sys; ctypes.CDLL(sys.argv[1])' "$1" 2>/dev/null ;;
	*)	command -v "$1" >/dev/null ;;
	esac
}

# same NAME RECORDING WHAT [PROGRAM]: what it says of RECORDING is what the kernel does
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

plan 22
check "mctrace records in a guest, and reports there what the kernel does" recorded
check "mctrace is built here" make -s -C "$tree/tools/tracing/mctrace" OUTPUT="$T/mctrace/"
for recording in function graph; do
	same "it reports the same here, to the byte" $recording report
	same "calls are nested in the tree" $recording tree
	same "trace-cmd reads the same calls in the same order" $recording trace-cmd trace-cmd
	same "so does libkshark, KernelShark's" $recording libkshark libkshark.so.2
	same "and babeltrace2, and no others" $recording babeltrace2 babeltrace2
	same "for Perfetto there are fields that it has, and all calls" $recording perfetto
	same "and in JSON" $recording json
	same "stacks are folded" $recording folded
done
judged() { "$REPO/tests/mctrace/followed.py" "$@"; }
check "what is followed is found by hand in all calls with their arguments, too" judged "$T/recorded/all.text"
check "and recorded alone where nothing else is" judged "$T/recorded/followed.text" "$T/recorded/all.text"
same "uftrace replays and reports them, and knows a system call" graph uftrace uftrace
same "speedscope's profiles are nested" graph speedscope
finish
