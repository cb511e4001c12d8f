#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""usage: kernels.py DOCUMENT <ROW

Put ROW into DOCUMENT's table of kernels. ROW replaces the row with the same first four columns (kernel, architecture,
compiler, option), if there is one; rows are sorted by these columns. Releases of a kernel count as the same kernel:
7.3.4 replaces 7.3.0-rc7.
"""
import re
import sys

TABLE = re.compile(r"(<!-- kernels -->\n(?:\|.*\n){2})((?:\|.*\n)*)(<!-- end -->\n)")


def cells(row):
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def key(row):
    """Return what identifies a row; the table has one row for each key."""
    return re.match(r"\d+\.\d+", cells(row)[0])[0], cells(row)[1:4]


def order(row):
    """Return the sort key of a row: the newest kernel comes first."""
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
