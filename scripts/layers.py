#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
# usage: scripts/layers.py FOLDER
"""Check who uses whom in FOLDER, a folder of C code with folders as its layers.

The layers are those that FOLDER/Makefile lists, one "obj-y += NAME/" line each: a file includes
headers, and uses functions and variables, of its own layer and of layers above it in that list.
No files use each other in a circle. Print each violation, and exit with 1 if there is one.

A name belongs to the .c file that defines it: at the beginning of a line, without static or
extern. DEFINE_x(type, name) defines a name, other macros do not. A .c file uses a name if the name
stands anywhere in its code. Calls that inline functions of headers make are not followed.
"""
import re
import sys
from pathlib import Path

# At the begin of a line: DEFINE_x(type, name), type name(...), type name = ..., type name, name[...];
DEFINED = re.compile(r"""^(?!(?:static|extern|typedef|return|else|goto)\b|(?:struct|enum|union)\ \w+\s*[{;])
	(?:DEFINE_\w+\((?:[\w ]+,\ )?(?P<macro>\w+)
	|[a-zA-Z_][\w *]*?\b(?P<function>\w+)\(
	|(?<=\*\n)(?P<second>\w+)\(
	|[a-zA-Z_][\w *]*?\(\*(?P<pointer>\w+)\)\(
	|[a-zA-Z_][\w ]*?[ *](?P<variables>\w+(?:\[[^\]]*\])*(?:,\ \*?\w+)*)(?:\ __\w+)*(?:\ =|;))""", re.M | re.X)
SKIPPED = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)


def code(path):
    """The text of a file without comments and strings."""
    return SKIPPED.sub(" ", path.read_text())


def circles(uses):
    """The strongly connected components of more than one file (Tarjan 1972)."""
    found, number, low, stack = [], {}, {}, []

    def visit(file):
        number[file] = low[file] = len(number)
        stack.append(file)
        for other in uses.get(file, ()):
            if other not in number:
                visit(other)
            if other in stack:
                low[file] = min(low[file], low[other])
        if low[file] == number[file]:
            component = stack[stack.index(file):]
            del stack[stack.index(file):]
            if len(component) > 1:
                found.append(sorted(component))

    for file in uses:
        if file not in number:
            visit(file)
    return found


def main(folder):
    layers = re.findall(r"^obj-y \+= (\w+)/$", (folder / "Makefile").read_text(), re.M)
    if not layers:
        sys.exit(f"{folder}/Makefile lists no folders")
    bad = [f"{path.parent.name}/: not in the Makefile's list" for path in folder.glob("*/Makefile")
           if path.parent.name not in layers]
    files = {f"{layer}/{path.name}": path for layer in layers
             for path in sorted((folder / layer).glob("*.[ch]"))}

    def layer(file):
        return layers.index(file.split("/")[0])

    for file, path in files.items():
        for name in re.findall(r'^#include "(.*)"$', path.read_text(), re.M):
            other = name[3:] if name.startswith("../") else f"{file.split('/')[0]}/{name}"
            if other not in files:
                bad.append(f'{file} includes "{name}", which is in none of the folders')
            elif layer(other) > layer(file):
                bad.append(f"{file} includes {other}, of a layer below it")

    sources = {file: code(path) for file, path in files.items() if file.endswith(".c")}
    definer = {}
    for file, text in sources.items():
        for match in DEFINED.finditer(text):
            names = next(filter(None, match.groups()))
            for name in re.findall(r"(?:^|, \*?)(\w+)", names):
                definer[name] = file
    uses = {}
    for file, text in sources.items():
        for name in sorted(set(re.findall(r"\w+", text)) & definer.keys()):
            other = definer[name]
            if other == file:
                continue
            uses.setdefault(file, {}).setdefault(other, []).append(name)
            if layer(other) > layer(file):
                bad.append(f"{file} uses {name} of {other}, of a layer below it")
    for circle in circles(uses):
        bad.append("these use each other in a circle: " + ", ".join(circle))
        bad += [f"    {a} uses {', '.join(uses[a][b])} of {b}"
                for a in circle for b in uses[a] if b in circle]
    for line in bad:
        print(line)
    print(f"{len(sources)} files, {len(definer)} names, {sum(len(u) for u in uses.values())} uses")
    return bool(bad)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: scripts/layers.py FOLDER")
    sys.exit(main(Path(sys.argv[1])))
