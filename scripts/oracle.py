#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""usage: scripts/oracle.py OUTPUT OUTPUT

Compares the traces of the same system calls by two kernels' tracers, as scripts/guest/oracle
printed them, and prints TAP: one result for each system call. Both kernels must have called the
same functions in the same order, each at the same depth.

A function that only one of the kernels can trace, because it is inlined or notrace in the other
one, is removed from both, and its calls move up a level. The calls of a system call may differ
from run to run with the contents of the kernel's caches. Both kernels must share at least one
sequence of calls, and more than a third of each kernel's runs must have a shared sequence.
"""

import difflib
import re
import sys
from collections import Counter


def read(path):
    """Return the traceable functions, and {system call: [(runs, [(depth, function)])]}."""
    traceable, calls, ended = set(), {}, False
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            words = line.split()
            if len(words) == 2 and words[0] == "traceable":
                traceable.add(words[1])
            elif len(words) == 3 and words[0] == "call":
                way = []
                calls.setdefault(words[1], []).append((int(words[2]), way))
            elif len(words) == 2 and re.fullmatch("[0-9]+", words[0]):
                way.append((int(words[0]), words[1]))
            elif words == ["MCT-EXIT", "0"]:
                ended = True
            else:
                sys.exit(f"{path}: {line.strip()}")
    if not ended:
        sys.exit(f"{path}: is not complete")
    return traceable, calls


def reduced(way, common):
    """Return way with only the functions in common; the depth counts the callers in common."""
    result, around = [], []
    for depth, function in way:
        del around[depth:]
        if len(around) < depth:
            sys.exit(f"nothing calls {function}")
        if function in common:
            result.append((sum(around), function))
        around.append(function in common)
    return tuple(result)


def runs(ways, common):
    """Return how many runs had each sequence of calls."""
    result = Counter()
    for times, way in ways:
        result[reduced(way, common)] += times
    return result


def judge(name, one, other):
    """Return (good, number of calls, text)."""
    shared = one.keys() & other.keys() - {()}
    if not shared:
        texts = [["  " * depth + function for depth, function in way]
                 for runs in (one, other) for way, _ in runs.most_common(1)]
        if len(texts) == 2:
            for line in difflib.unified_diff(*texts, lineterm="", n=5):
                print(f"# {line}")
        return False, 0, f"{name}: no run of one kernel has the same calls as a run of the other"
    way = max(shared, key=lambda way: (min(one[way], other[way]), one[way] + other[way], way))
    good, said = True, []
    for runs in (one, other):
        alike = sum(runs[way] for way in shared)
        good &= 3 * alike > runs.total()
        said.append(f"{alike} of {runs.total()}")
    return good, len(way), f"{name}: {len(way)} calls; runs with the same calls: {' and '.join(said)}"


def main(files):
    if len(files) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    (left, left_calls), (right, right_calls) = map(read, files)
    common = left & right
    names = sorted(left_calls.keys() | right_calls.keys())
    total = failed = 0
    print(f"TAP version 13\n1..{len(names) + 1}")
    print(f"# of {len(left)} and {len(right)} traceable functions {len(common)} are traceable on both")
    for n, name in enumerate(names, 1):
        good, calls, text = judge(name, *(runs(kernel.get(name, []), common)
                                          for kernel in (left_calls, right_calls)))
        print(f"{'ok' if good else 'not ok'} {n} - {text}")
        total += calls
        failed += not good
    enough = total >= 1000 and len(names) >= 30
    print(f"{'ok' if enough else 'not ok'} {len(names) + 1} - "
          f"{total} calls of {len(names)} system calls are the same")
    failed += not enough
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
