#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""usage: scripts/fentry.py list BUILD > LIST
       scripts/fentry.py compare LIST-A LIST-B [--own PREFIX]...

list: Print the functions of every object file that is linked into BUILD's vmlinux (the files that
vmlinux.a names; every *.o below BUILD if there is no vmlinux.a), one "object function +" a line,
with "-" in place of "+" for a function that does not call __fentry__. A call that lies in no
function is printed as "object section+offset +".

compare: Print the functions that call __fentry__ in one list only, each with the reason: "own" if
the object's path begins with a PREFIX, "object" if the other build has no such object, "absent" if
it has the object but no such function, else "DIFFERS". Functions are compared object by object. The
lists keep gcc's suffixes (.isra.0, .constprop.0, .part.0, .cold...); compare ignores a difference in
suffixes alone, because they depend on what gcc inlined. Exits with 1 if anything DIFFERS.
"""

import os
import re
import struct
import subprocess
import sys

SUFFIX = re.compile(r"(\.(isra|constprop|part|cold|localalias|lto_priv|llvm)(\.\d+)*)+$")
SHT_SYMTAB, SHT_RELA, SHT_REL, STT_FUNC = 2, 4, 9, 2


def string(table, offset):
    return table[offset : table.index(b"\0", offset)].decode()


def callers(path):
    """Return the functions in this object file: those that call __fentry__, and the others."""
    with open(path, "rb") as stream:
        data = stream.read()
    if data[:4] != b"\x7fELF":
        return set(), set()
    wide = data[4] == 2
    shoff = struct.unpack_from("<Q", data, 40)[0] if wide else struct.unpack_from("<I", data, 32)[0]
    shentsize, shnum, shstrndx = struct.unpack_from("<3H", data, 58 if wide else 46)
    sections = []
    for i in range(shnum):
        form = "<IIQQQQIIQQ" if wide else "<10I"
        sections.append(struct.unpack_from(form, data, shoff + i * shentsize))
    # Of each section: name, type, flags, address, offset, size, link, info, align, entry size

    def content(section):
        return data[section[4] : section[4] + section[5]]

    names = content(sections[shstrndx])
    symtab = next((s for s in sections if s[1] == SHT_SYMTAB), None)
    if symtab is None:
        return set(), set()
    strings = content(sections[symtab[6]])
    symbols = []  # (name, type, section, value, size)
    for raw in struct.iter_unpack("<IBBHQQ" if wide else "<IIIBBH", content(symtab)):
        if wide:
            name, info, _, shndx, value, size = raw
        else:
            name, value, size, info, _, shndx = raw
        symbols.append((string(strings, name), info & 15, shndx, value, size))
    fentry = {i for i, s in enumerate(symbols) if s[0] == "__fentry__"}

    found = set()
    for section in sections:
        if section[1] not in (SHT_RELA, SHT_REL):
            continue
        target = section[7]
        if not sections[target][2] & 4:  # not executable: __mcount_loc and the like
            continue
        functions = None
        form = {SHT_RELA: "<QQq", SHT_REL: "<QQ"} if wide else {SHT_RELA: "<IIi", SHT_REL: "<II"}
        for raw in struct.iter_unpack(form[section[1]], content(section)):
            offset, info = raw[0], raw[1]
            if (info >> 32 if wide else info >> 8) not in fentry:
                continue
            if data[sections[target][4] + offset - 1] != 0xE8:  # takes the address, is no call
                continue
            if functions is None:
                functions = [s for s in symbols if s[1] == STT_FUNC and s[2] == target]
            inside = sorted(
                s[0] for s in functions if s[3] <= offset < s[3] + max(s[4], 1)
            )
            where = string(names, sections[target][0])
            found.add(inside[0] if inside else f"{where}+{offset:#x}")
    every = {s[0] for s in symbols if s[1] == STT_FUNC and s[2]}
    return found, every - found


def objects(build):
    """Return the object files of the kernel image, relative to the build tree."""
    archive = os.path.join(build, "vmlinux.a")
    if os.path.exists(archive):
        out = subprocess.run(
            ["ar", "t", "vmlinux.a"], cwd=build, check=True, capture_output=True, text=True
        )
        return sorted({os.path.normpath(line) for line in out.stdout.split()})
    found = []
    for folder, _, files in os.walk(build):
        found += [os.path.relpath(os.path.join(folder, f), build) for f in files if f.endswith(".o")]
    return sorted(found)


def list_build(build):
    for name in objects(build):
        called, others = callers(os.path.join(build, name))
        for function in sorted(called):
            print(name, function, "+")
        for function in sorted(others):
            print(name, function, "-")


def read_list(path):
    """Return {object: (functions that call __fentry__, all functions)}."""
    table = {}
    with open(path, encoding="utf-8") as stream:
        for line in stream:
            name, function, calls = line.split()
            called, every = table.setdefault(name, (set(), set()))
            every.add(function)
            if calls == "+":
                called.add(function)
    return table


def plain(functions):
    return functions | {SUFFIX.sub("", f) for f in functions}


def compare(path_a, path_b, own):
    a, b = read_list(path_a), read_list(path_b)
    differs = 0
    counts = [sum(len(t[0]) for t in table.values()) for table in (a, b)]
    for side, here, there in (("<", a, b), (">", b, a)):
        for name in sorted(here):
            called, every = (plain(functions) for functions in there.get(name, (set(), set())))
            for function in sorted(here[name][0]):
                bare = SUFFIX.sub("", function)
                if function in called or bare in called:
                    continue
                if any(name.startswith(prefix) for prefix in own):
                    why = "own    "
                elif name not in there:
                    why = "object "
                elif function not in every and bare not in every:
                    why = "absent "
                else:
                    why = "DIFFERS"
                    differs += 1
                print(side, why, name, function)
    print(f"{counts[0]} and {counts[1]} functions call __fentry__, {differs} differences")
    return 1 if differs else 0


def main(args):
    if len(args) == 2 and args[0] == "list":
        list_build(args[1])
        return 0
    if len(args) >= 3 and args[0] == "compare":
        if any(flag != "--own" for flag in args[3::2]) or len(args) % 2 == 0:
            print(__doc__, file=sys.stderr)
            return 2
        return compare(args[1], args[2], args[4::2])
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
