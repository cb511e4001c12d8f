#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""usage: changed-files.py DIR SERIES

Print docs/changed-files.md: the kernel's files that the patches in DIR change (not the files that they add), and the
patches that change each file. SERIES lists the patches in order.
"""
import os
import re
import sys

HEAD = """<!-- SPDX-License-Identifier: GPL-2.0 -->
# Files of the kernel that the series changes

Written by `scripts/export`. The table shows the patches by posting and number, and their added and removed
lines in total.

| file | lines | patches |
|---|---:|---|
"""


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[2], encoding="utf-8") as series:
        names = [line.strip() for line in series if line.strip() and not line.startswith("#")]
    ours, files = set(), {}
    for name in names:
        number = re.match(r"(.*/)?\d+", name)[0]
        with open(os.path.join(sys.argv[1], name), encoding="utf-8") as patch:
            for diff in re.split(r"^diff --git ", patch.read(), flags=re.M)[1:]:
                file = re.match(r"a/(\S+) ", diff)[1]
                head, _, body = diff.partition("\n@@")
                if "\nnew file mode" in head:
                    ours.add(file)
                if file in ours:
                    continue
                lines = body.split("\n")
                row = files.setdefault(file, [0, 0, []])
                row[0] += sum(line.startswith("+") for line in lines)
                row[1] += sum(line.startswith("-") and line != "-- " for line in lines)
                row[2].append(number)
    rows = ["| %s | +%d -%d | %s |\n" % (file, row[0], row[1], ", ".join(row[2]))
            for file, row in sorted(files.items())]
    total = "\n%d files: %d lines added, %d removed.\n" % (
        len(files), *(sum(row[i] for row in files.values()) for i in (0, 1)))
    sys.stdout.write(HEAD + "".join(rows) + total)


if __name__ == "__main__":
    main()
