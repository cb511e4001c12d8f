#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Write small files that a fuzzer begins with: for each kind of file that mctrace reads, a folder.

usage: seeds.py DIRECTORY"""

import os
import subprocess
import sys

import arguments
import failing
import packets
import recordings
import sources


def recordings_of_all_kinds():
    yield "graph", recordings.simulate(60, 1, cpus=2)
    yield "calls", recordings.simulate(80, 2, cpus=1, mode="function", context=True)
    yield "holes", recordings.simulate(80, 3, cpus=2, context=True, gaps=True, marks=True, extras=True)
    yield "packets", packets.cloned()
    yield "lists", packets.in_lists()
    yield "failures", failing.elsewhere().rec
    yield "arguments", arguments.recording()


def read(path):
    with open(path, "rb") as file:
        return file.read()


def nameless(data):
    """Return a recording without its symbols."""
    starts = list(recordings.chunks_of(data)) + [(len(data), None)]
    return data[:16] + b"".join(data[at:end] for (at, kind), (end, _) in zip(starts, starts[1:])
                                if kind != recordings.SYMBOLS)


def compiled(folder, options, source):
    """Compile a program. Return the content of the file."""
    path = sources.put(folder, "source.c", source.encode())
    to = os.path.join(folder, "compiled")
    subprocess.run(["gcc", *options, "-o", to, path], check=True)
    data = read(to)
    os.unlink(path)
    os.unlink(to)
    return data


KERNEL = """
void _stext(void) { }
int vfs_read(void) { __asm__(".skip 1024, 0x90"); return 1; }
void last(void) { }
"""


def kernel(folder, rec):
    """Return an ELF file with two functions of a recorded kernel at their addresses, and their source lines."""
    sections = ""
    for name in ("_stext", "vfs_read"):
        address = next(line.split()[0] for line in rec.functions.lines if line.split()[2:] == [name])
        sections += "\t.text.%s 0x%s : { *(.text.%s) }\n" % (name, address, name)
    script = sources.put(folder, "sections", ("SECTIONS {\n%s\t.text : { *(.text*) }\n}\n" % sections).encode())
    data = compiled(folder, ["-g", "-fno-pie", "-mcmodel=kernel", "-ffunction-sections", "-nostdlib", "-static",
                             "-no-pie", "-Wl,-T," + script, "-Wl,-e,0"], KERNEL)
    os.unlink(script)
    return data


def main():
    folder = sys.argv[1]
    for name, rec in recordings_of_all_kinds():
        if name == "graph":
            sources.put(folder, "vmlinux/vmlinux", kernel(folder, rec))
        path = sources.put(folder, "recordings/" + name, b"")
        rec.write(path, 64)
    data = read(os.path.join(folder, "recordings/graph"))
    sources.put(folder, "recordings/compressed", recordings.compressed(data))
    sources.put(folder, "recordings/nameless", nameless(data))
    rec = sources.short()
    for name, data in (("raw/rings", sources.image_of(rec)), ("kallsyms/kallsyms", rec.functions.kallsyms().encode()),
                       ("kallsyms/vmlinux", kernel(folder, rec)),
                       ("types/types", compiled(folder, ["-gbtf", "-c"], arguments.SOURCE)),
                       ("functions/functions", b"__alloc_skb\nkfree_skbmem\nskb_clone\nvfs_read [a_module]\n")):
        sources.put(folder, name, data)


main()
