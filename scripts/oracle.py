#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""usage: scripts/oracle.py OUTPUT OUTPUT

Compares what two kernels' tracers show of the same system calls, as scripts/guest/oracle printed
it, and prints TAP: one result for each system call. The same functions must have been called in
the same order, each at the same depth.

A function that only one of the kernels can trace, since only there it was not inlined or is not
notrace, is taken out of both, and what it called moves up. A system call may go several ways, by
what the kernel's caches hold. There must be one that it went on both, and more than a third of
its runs on each must have gone a way that the other kernel has seen, too.
"""

import difflib
import re
import sys
from collections import Counter


def read(path):
    """Returns what can be traced, and by system call a list of (runs, [(depth, function)])."""
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
    """Only the functions of this set; the depth is how many of these are around one."""
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
    """How many runs went each way."""
    result = Counter()
    for times, way in ways:
        result[reduced(way, common)] += times
    return result


def judge(name, one, other):
    """Returns (good, how many calls, text)."""
    shared = one.keys() & other.keys() - {()}
    if not shared:
        texts = [["  " * depth + function for depth, function in way]
                 for runs in (one, other) for way, _ in runs.most_common(1)]
        if len(texts) == 2:
            for line in difflib.unified_diff(*texts, lineterm="", n=5):
                print(f"# {line}")
        return False, 0, f"{name}: no run of one went as one of the other"
    way = max(shared, key=lambda way: (min(one[way], other[way]), one[way] + other[way], way))
    good, said = True, []
    for runs in (one, other):
        alike = sum(runs[way] for way in shared)
        good &= 3 * alike > runs.total()
        said.append(f"{alike} of {runs.total()}")
    return good, len(way), f"{name}: {len(way)} calls; runs that went alike: {' and '.join(said)}"


def main(files):
    if len(files) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    (left, left_calls), (right, right_calls) = map(read, files)
    common = left & right
    names = sorted(left_calls.keys() | right_calls.keys())
    total = failed = 0
    print(f"TAP version 13\n1..{len(names) + 1}")
    print(f"# of {len(left)} and {len(right)} traceable functions {len(common)} are so on both")
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
