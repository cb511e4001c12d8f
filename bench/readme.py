#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""usage: readme.py RESULT DOCUMENT...

Replace the tables in each DOCUMENT by those of RESULT, a result of a benchmark (bench/results/NAME.md), and its links
to results of that benchmark by links to RESULT: scripts/bench has the tables "promised" and "summary", and
scripts/bench-peers, whose NAME ends with -peers, the table "peers".
"""
import os
import re
import sys


def tables(text, name):
    return re.findall(rf"<!-- {name} -->\n.*?<!-- end -->\n", text, re.S)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as f:
        result = f.read()
    peers = "-peers" if sys.argv[1].endswith("-peers.md") else ""
    new = {name: tables(result, name) for name in (("peers",) if peers else ("promised", "summary"))}
    for name, found in new.items():
        if len(found) != 1:
            sys.exit(f"readme.py: {len(found)} tables {name} in {sys.argv[1]}, not 1")
    link = os.path.basename(sys.argv[1]).removesuffix(".md")
    shown = 0
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8") as f:
            text = f.read()
        for name, found in new.items():
            for table in tables(text, name):
                text = text.replace(table, found[0])
                shown += 1
        text = re.sub(rf"bench/results/[0-9.-]*{peers}\.(md|svg)", rf"bench/results/{link}.\1", text)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
    if shown != len(new):
        sys.exit(f"readme.py: {shown} tables in the documents, not {len(new)}")


if __name__ == "__main__":
    main()
