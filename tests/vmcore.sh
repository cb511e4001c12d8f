#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The rings out of a kernel's memory, as QEMU and kdump save it, are what the tracer's files showed before. Boots
# a guest and lets it panic, so it is no test for who wants a quick answer.
. "${0%/*}/../scripts/test-lib.sh"

tree=$("$REPO/scripts/kernel-tree") || exit 1
vmlinux=$CACHE/build/$(basename -- "$tree")-mctracer-objects/vmlinux
crash=$tree/tools/tracing/mctrace/crash
output=$LOGS/boot-vmcore.output
mkdir "$T/mctrace" "$T/saved"
export PYTHONDONTWRITEBYTECODE=1

# When the guest is ready QEMU saves its memory; then it is told to go on.
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

# as_shown FILE: a recording of which the text is what the guest's file "trace" was, to the byte
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
check "a guest's memory is saved by QEMU, and by kdump when it panics" dumped
check "mctrace is built here" make -s -C "$tree/tools/tracing/mctrace" OUTPUT="$T/mctrace/"
check "QEMU's dump has what trace showed, to the byte" alone "$T/qemu"
check "makedumpfile's has it, as ELF" alone "$T/saved/elf"
check "what raw gave are its words" raw
check "a module's functions have names" module
check "drgn gets it out of a compressed dump" with_drgn "$T/saved/compressed" -s "$vmlinux"
check "also without vmlinux" with_drgn "$T/saved/compressed"
check "gdb gets it" with_gdb "$T/saved/elf"
check "there is a tree of calls" tree_of
check "and a picture" picture
cut() { head -c 1000000 "$T/saved/elf" >"$T/cut" && alone "$T/cut"; }
check "a dump that was cut is no recording" fails_saying 'not in the dump' cut
finish
