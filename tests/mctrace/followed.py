#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Check the kernel's objects of calls against the arguments of all calls.

usage: followed.py ALL.text: all calls, with their arguments and objects
       followed.py FOLLOWED.text ALL.text: calls with objects only, recorded in a second run

The rules are those of scripts/guest/recorded. This script identifies objects by their addresses, in
the order of the calls. All calls are on one CPU."""

import re
import sys

CALL = re.compile(r"^\[~?[0-9.]+\] CPU \d+: .*?:\d+ (?P<function>[^ +]+)\+0x[0-9a-f]+/0x[0-9a-f]+(?: \[\w+\])?"
                  r"(?P<returns> returns(?: (?P<result>-?\w+))?)?(?: \((?P<args>[^)]*)\))?"
                  r"(?P<objects>(?: [-+]*#\d+(?::\w+)?)*)(?: after ~?\d+ ns)?(?: (?:<--|-->) .*)?(?:, called before)?$")
FOLLOW_ON = {"__copy_skb_header": (2, 1)}
ENDS = {"kfree_skbmem": 1, "napi_skb_cache_put": 1}
SOME = 4	# minimum number of objects


def calls_of(path):
    with open(path, encoding="ascii") as lines:
        for line in lines:
            if line.startswith(("#", "    -- ")):
                continue
            call = CALL.match(line.rstrip("\n"))
            if not call:
                sys.exit(f"line not understood: {line}")
            yield call, line


class Objects:
    """The followed objects, by address."""

    def __init__(self):
        self.numbers = {}
        self.last = None
        self.begun = 0

    def begin(self, address, role):
        """Follow a new object. Return what the kernel prints."""
        if self.last is None:
            sys.exit("the number of the first object is not known")
        self.last += 1
        self.begun += 1
        self.numbers[address] = self.last
        return f"+#{self.last}:{role}"

    def of_call(self, function, args):
        """Return the objects that the kernel must print for a call."""
        said = {}
        for place, address in enumerate(args, 1):
            if address in self.numbers:
                said.setdefault(self.numbers[address], f"#{self.numbers[address]}:{place}")
        said = list(said.values())[:3]
        if function in FOLLOW_ON:
            of, to = FOLLOW_ON[function]
            if args[of - 1] in self.numbers and args[to - 1] not in self.numbers:
                said.append(self.begin(args[to - 1], to))
        end = args[ENDS[function] - 1] if function in ENDS else None
        if end in self.numbers:
            ended = self.numbers.pop(end)
            said = [("-" if word.startswith(f"#{ended}:") else "") + word for word in said]
        return said


def judge_all(path):
    objects, concerned = Objects(), 0
    awaited = {}
    for call, line in calls_of(path):
        said = call["objects"].split()
        function = call["function"]
        if call["returns"]:
            address = int(call["result"], 16)
            if function == "__alloc_skb":
                if objects.last is None:
                    objects.last = int(said[0][2:].split(":")[0]) - 1
                expected = [objects.begin(address, "ret")]
            else:	# a clone: followed since the copy of its header
                expected = said
                awaited[function] = address
        elif call["args"] is None:
            sys.exit(f"a call without arguments: {line}")
        else:
            expected = objects.of_call(function, [int(arg, 16) for arg in call["args"].split(", ")])
        if said != expected:
            sys.exit(f"{' '.join(expected)} expected: {line}")
        concerned += bool(said)
    print(f"# {concerned} calls concern {objects.begun} objects")
    if objects.begun < SOME or concerned < 20 * SOME or awaited:
        sys.exit("too few calls or objects, or clones not followed before their return")


def concerned(path):
    """Yield (function, objects) of calls with objects, numbered in order of appearance.

    Only the first three arguments count: few functions have more, and the other registers hold
    values of earlier calls, which differ while all functions are traced."""
    numbers = {}

    def number(word):
        return numbers.setdefault(word, str(len(numbers) + 1))

    for call, _ in calls_of(path):
        objects = re.sub(r" #\d+:[456]", "", call["objects"])
        if objects:
            yield (call["function"], re.sub(r"#(\d+)", lambda n: "#" + number(n[1]), objects))


def judge_same(followed, everything):
    these, those = list(concerned(followed)), list(concerned(everything))
    for call, line in calls_of(followed):
        if not call["objects"]:
            sys.exit(f"a call without objects: {line}")
    # A few differences are normal: the two runs are not the same.
    missing = set(those) - set(these)
    more = set(these) - set(those)
    print(f"# {len(these)} calls; of all, {len(those)}; {len(missing)} missing, {len(more)} more")
    if len(these) < 20 * SOME or len(missing) + len(more) > len(those) / 20:
        sys.exit(f"too few calls, or too many differ: {sorted(missing)[:10]} {sorted(more)[:10]}")


if len(sys.argv) == 2:
    judge_all(sys.argv[1])
else:
    judge_same(*sys.argv[1:])
