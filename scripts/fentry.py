#!/usr/bin/env python3
"""usage: scripts/fentry.py list BUILD > LIST
       scripts/fentry.py compare LIST-A LIST-B [--own PREFIX]...

list: the functions that call __fentry__, one "object function" a line, of every object file that is
linked into BUILD's vmlinux (as its vmlinux.a names them; of every *.o below BUILD if there is none).
A function is whatever symbol the call lies in. A call that lies in no function is listed as
"object section+offset".

compare: what is in one list and not in the other, attributed: "own" for objects whose path begins
with a PREFIX, "object" for objects that only one build has, else "DIFFERS". Functions are compared
object by object. gcc's suffixes (.isra.0, .constprop.0, .part.0, .cold...) are kept in the lists but
stripped where they alone make the difference, as they depend on what gcc inlined. Exits with 1 if
anything DIFFERS.
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
    """The names of the functions in this object file that have a relocation to __fentry__."""
    with open(path, "rb") as stream:
        data = stream.read()
    if data[:4] != b"\x7fELF":
        return []
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
    if symtab is None or b"__fentry__" not in data:
        return []
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
            if functions is None:
                functions = [s for s in symbols if s[1] == STT_FUNC and s[2] == target]
            inside = sorted(
                s[0] for s in functions if s[3] <= offset < s[3] + max(s[4], 1)
            )
            where = string(names, sections[target][0])
            found.add(inside[0] if inside else f"{where}+{offset:#x}")
    return found


def objects(build):
    """The object files of the kernel image, relative to the build tree."""
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
        for function in sorted(callers(os.path.join(build, name))):
            print(name, function)
        # An object with nothing instrumented is listed, too: that it exists matters.
        print(name, "-")


def read_list(path):
    table = {}
    with open(path, encoding="utf-8") as stream:
        for line in stream:
            name, function = line.split()
            table.setdefault(name, set())
            if function != "-":
                table[name].add(function)
    return table


def compare(path_a, path_b, own):
    a, b = read_list(path_a), read_list(path_b)
    differs = 0
    counts = [sum(map(len, t.values())) for t in (a, b)]
    for side, here, there in (("<", a, b), (">", b, a)):
        for name in sorted(here):
            stripped = {SUFFIX.sub("", f) for f in there.get(name, ())}
            for function in sorted(here[name] - there.get(name, set())):
                if name in there and SUFFIX.sub("", function) in stripped:
                    continue
                if any(name.startswith(prefix) for prefix in own):
                    why = "own"
                elif name not in there:
                    why = "object"
                else:
                    why = "DIFFERS"
                    differs += 1
                print(f"{side} {why:8}{name} {function}")
    print(f"{counts[0]} functions against {counts[1]}; {differs} differ that should not")
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
