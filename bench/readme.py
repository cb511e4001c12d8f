#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""usage: readme.py README RESULT

Put the tables and the chart of a RESULT of the benchmark, bench/results/NAME.md, into README,
in the places of those that it shows.
"""
import os
import re
import sys


def tables(text, name):
    found = re.findall(rf"<!-- {name} -->\n.*?<!-- end -->\n", text, re.S)
    if len(found) != 1:
        sys.exit(f"readme.py: {len(found)} tables {name}, not 1")
    return found[0]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    readme_path, result_path = sys.argv[1:]
    with open(readme_path, encoding="utf-8") as f:
        readme = f.read()
    with open(result_path, encoding="utf-8") as f:
        result = f.read()
    for name in "promised", "summary":
        readme = readme.replace(tables(readme, name), tables(result, name))
    name = os.path.basename(result_path).removesuffix(".md")
    readme = re.sub(r"bench/results/[^)\s]*\.(md|svg)", rf"bench/results/{name}.\1", readme)
    with open(readme_path, "w", encoding="utf-8") as f:
        f.write(readme)


if __name__ == "__main__":
    main()
