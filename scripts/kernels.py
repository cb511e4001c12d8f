#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""usage: kernels.py DOCUMENT <ROW

Put ROW, a line of the table of kernels, into the one that DOCUMENT has, in the place of that for the same kernel,
architecture, compiler and option, if there is one: the first four columns, in whose order the lines are. The same
kernel is any release of it: 7.3.4 takes the place of 7.3.0-rc7.
"""
import re
import sys

TABLE = re.compile(r"(<!-- kernels -->\n(?:\|.*\n){2})((?:\|.*\n)*)(<!-- end -->\n)")


def cells(row):
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def key(row):
    """What a row is about: there is one of each."""
    return re.match(r"\d+\.\d+", cells(row)[0])[0], cells(row)[1:4]


def order(row):
    """The newest kernel first."""
    version = [int(n) for n in re.findall(r"\d+", cells(row)[0])]
    return [-n for n in version], cells(row)[1:4]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    row = sys.stdin.read().strip() + "\n"
    with open(sys.argv[1], encoding="utf-8") as f:
        readme = f.read()
    found = TABLE.findall(readme)
    if len(found) != 1:
        sys.exit(f"kernels.py: {len(found)} tables of kernels in {sys.argv[1]}, not 1")
    head, rows, _ = found[0]
    if len(cells(row)) != len(cells(head.splitlines()[1])):
        sys.exit(f"kernels.py: not as many columns as the table has: {row}")
    rows = [r for r in rows.splitlines(keepends=True) if key(r) != key(row)]
    rows = "".join(sorted(rows + [row], key=order))
    with open(sys.argv[1], "w", encoding="utf-8") as f:
        f.write(TABLE.sub(lambda m: m[1] + rows + m[3], readme))


if __name__ == "__main__":
    main()
