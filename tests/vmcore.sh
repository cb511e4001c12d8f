#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# Tests extracting the rings from a kernel's memory that QEMU and kdump saved: they must be the same as in the tracer's
# files before. Slow: boots a guest and lets it panic.
. "${0%/*}/../scripts/test-lib.sh"

tree=$("$REPO/scripts/kernel-tree") || exit 1
vmlinux=$CACHE/build/$(basename -- "$tree")-mctracer-objects/vmlinux
crash=$tree/tools/tracing/mctrace/crash
output=$LOGS/boot-vmcore.output
mkdir "$T/mctrace" "$T/saved"
export PYTHONDONTWRITEBYTECODE=1

# feed: when the guest is ready, let QEMU save its memory; then let the guest continue.
feed()
{
	until grep -q '^ready' "$output"; do sleep 0.3; done
	/usr/bin/python3 "$REPO/tests/mctrace/dump.py" "$T/qmp" "$T/qemu" >&2
	echo go
}

dumped()
{
	truncate -s 1G "$T/disk" && /sbin/mkfs.ext4 -q "$T/disk" || return
	: >"$output"
	feed | INTERACTIVE=1 CARGO=1 MEM=768M DIES='sysrq triggered crash' LOG=vmcore APPEND='crashkernel=256M' \
		timeout 400 "$REPO/scripts/boot" mctracer-objects vmcore -- -device vmcoreinfo \
		-qmp "unix:$T/qmp,server,nowait" -drive "if=virtio,format=raw,file=$T/disk" &&
		/sbin/debugfs -R "rdump / $T/saved" "$T/disk" && [ -s "$T/saved/elf" ] && [ -s "$T/saved/compressed" ]
}

# as_shown FILE: succeed if the text of the recording is the same as the guest's file "trace", to the byte
as_shown() { "$T/mctrace/mctrace" report "$1" >"$T/text" && cmp "$T/text" "$T/saved/trace"; }
alone() { /usr/bin/python3 "$crash/extract.py" "$1" "$T/alone.dat" && as_shown "$T/alone.dat"; }
with_drgn()
{
	core=$1
	shift
	drgn -q -c "$core" "$@" "$crash/extract-drgn.py" "$T/drgn.dat" && as_shown "$T/drgn.dat"
}
with_gdb()
{
	gdb -nx -batch -x "$crash/extract-gdb.py" -ex "mctrace-extract $T/gdb.dat" "$vmlinux" "$1" &&
		as_shown "$T/gdb.dat"
}
raw() { "$REPO/tests/mctrace/raw.py" "$T/alone.dat" "$T/saved/raw0" "$T/saved/raw1"; }
tree_of() { "$T/mctrace/mctrace" report --tree "$T/alone.dat" >"$T/tree" && grep -q '() {' "$T/tree"; }
picture() { "$T/mctrace/mctrace" flame -o "$T/flame.svg" "$T/alone.dat" && grep -q '<svg' "$T/flame.svg"; }
module() { grep -q ' mct_target_branch+.* \[mct_target\] <--' "$T/text"; }

plan 12
check "QEMU saves a guest's memory, and kdump saves it at a panic" dumped
check "mctrace is built here" make -s -C "$tree/tools/tracing/mctrace" OUTPUT="$T/mctrace/"
check "QEMU's dump has the same text as trace, to the byte" alone "$T/qemu"
check "makedumpfile's ELF dump has the same text" alone "$T/saved/elf"
check "the recording has the same words as raw" raw
check "a module's functions have names" module
check "drgn extracts the recording from a compressed dump" with_drgn "$T/saved/compressed" -s "$vmlinux"
check "drgn extracts the recording without vmlinux" with_drgn "$T/saved/compressed"
check "gdb extracts the recording" with_gdb "$T/saved/elf"
check "the recording has a tree of calls" tree_of
check "a flame graph can be drawn of the recording" picture
cut() { head -c 1000000 "$T/saved/elf" >"$T/cut" && alone "$T/cut"; }
check "a truncated dump is refused" fails_saying 'not in the dump' cut
finish
