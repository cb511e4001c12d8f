#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Is what the kernel says of objects what follows from the arguments of all calls?

usage: followed.py ALL.text: each call has its arguments, and the objects that it concerns
       followed.py FOLLOWED.text ALL.text: the same calls, to the same functions, without the others

The rules are those of scripts/guest/recorded. Objects are told by their addresses here, in the order in
which the calls were made: all on one CPU."""

import re
import sys

CALL = re.compile(r"^\[[0-9.]+\] CPU \d+: .*?:\d+ (?P<function>[^ +]+)\+0x[0-9a-f]+/0x[0-9a-f]+(?: \[\w+\])?"
                  r"(?P<returns> returns(?: (?P<result>-?\w+))?)?(?: \((?P<args>[^)]*)\))?"
                  r"(?P<objects>(?: [-+]*#\d+(?::\w+)?)*)(?: after ~?\d+ ns)?(?: (?:<--|-->) .*)?(?:, called before)?$")
FOLLOW_ON = {"__copy_skb_header": (2, 1)}
ENDS = {"kfree_skbmem": 1, "napi_skb_cache_put": 1}
SOME = 4	# objects that there are at least


def calls_of(path):
    with open(path, encoding="ascii") as lines:
        for line in lines:
            if line.startswith(("#", "    -- ")):
                continue
            call = CALL.match(line.rstrip("\n"))
            if not call:
                sys.exit(f"not understood: {line}")
            yield call, line


class Objects:
    """Those that are followed: by their addresses."""

    def __init__(self):
        self.numbers = {}
        self.last = None
        self.begun = 0

    def begin(self, address, role):
        """The next one: what the kernel says of it."""
        if self.last is None:
            sys.exit("the first number is not known")
        self.last += 1
        self.begun += 1
        self.numbers[address] = self.last
        return f"+#{self.last}:{role}"

    def of_call(self, function, args):
        """What the kernel is to say of a call."""
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
            else:	# of a clone: its header was copied before, and so it was followed already
                expected = said
                awaited[function] = address
        elif call["args"] is None:
            sys.exit(f"without arguments: {line}")
        else:
            expected = objects.of_call(function, [int(arg, 16) for arg in call["args"].split(", ")])
        if said != expected:
            sys.exit(f"{' '.join(expected)} expected: {line}")
        concerned += bool(said)
    print(f"# {concerned} calls concern {objects.begun} objects")
    if objects.begun < SOME or concerned < 20 * SOME or awaited:
        sys.exit("too few, or clones that were not followed before they were returned")


def concerned(path):
    """What concerns objects, which are numbered as they come.

    As one of the first arguments: few functions have more than three, and the others' registers hold what was
    passed before. By whom, is not the same while all are traced."""
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
            sys.exit(f"it concerns nothing: {line}")
    # Also of those a few.
    missing = set(those) - set(these)
    more = set(these) - set(those)
    print(f"# {len(these)} calls; of all, {len(those)}; {len(missing)} and {len(more)} are different")
    if len(these) < 20 * SOME or len(missing) + len(more) > len(those) / 20:
        sys.exit(f"others: {sorted(missing)[:10]} {sorted(more)[:10]}")


if len(sys.argv) == 2:
    judge_all(sys.argv[1])
else:
    judge_same(*sys.argv[1:])
