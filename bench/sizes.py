#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""usage: sizes.py BUILD

Print "size_text BYTES 0" and the same for data and bss of the kernel in the directory BUILD.
Text is the functions and the padding between them, without the padding to the next huge page.
The KUnit tests of mcount and mctracer do not count, because other kernels don't have them.
"""
import glob
import subprocess
import sys

PAGE = 4096


def lines(*command):
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    return [line.split() for line in result.stdout.splitlines()]


def text_size(vmlinux):
    symbols = lines("nm", "-S", vmlinux)
    edges = {words[-1]: int(words[0], 16) for words in symbols if words[-1] in ("_stext", "_etext")}
    start, end = edges["_stext"], edges["_etext"]
    functions = sorted((int(words[0], 16), int(words[1], 16))
                       for words in symbols if len(words) == 4 and start <= int(words[0], 16) < end)
    total, reached = 0, start
    for address, size in functions:
        padding = address - reached
        total += max(0, padding if padding < PAGE else 0)
        total += max(0, address + size - max(address, reached))
        reached = max(reached, address + size)
    return total


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build = sys.argv[1]
    vmlinux = build + "/vmlinux"
    sections = {words[0]: int(words[1]) for words in lines("size", "-A", vmlinux)
                if len(words) == 3 and words[0].startswith(".")}
    sizes = {
        "text": text_size(vmlinux),
        "data": sections[".data"] + sections[".data..percpu"],
        "bss": sections[".bss"],
    }
    tests = glob.glob(build + "/kernel/trace/mc*/tests/*_kunit.o")
    for words in lines("size", *tests)[1:] if tests else []:
        for name, size in zip(("text", "data", "bss"), words):
            sizes[name] -= int(size)
    for name, size in sizes.items():
        print(f"size_{name} {size} 0")


if __name__ == "__main__":
    main()
