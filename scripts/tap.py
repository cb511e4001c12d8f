#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""usage: scripts/tap.py FILE...

Counts the results in TAP and KTAP files, each FILE the output of one run of tests. Only leaf
results count: a result that sums up indented results counts only if it failed although none of them
failed. Missing results are failures, too: a plan that is not fulfilled, a level of results without
a plan, no result at all, "Bail out!". Lines may have the kernel log's time stamps.

Prints every failure (with the output that came before it) and every skip, then the line
"N passed, N failed[, N skipped]". Exits with 1 on any failure and when nothing passed.
"""

import re
import sys

STAMP = re.compile(r"^\[ *\d+\.\d+\](\[ *[CT]\d+\])? ?")
RESULT = re.compile(r"^( *)(ok|not ok) +(\d+)\b(?: *-)? *(.*)$")
PLAN = re.compile(r"^( *)1\.\.(\d+)\s*(?:# *(.*))?$")
SKIP = re.compile(r"(?:^|\s)# *SKIP\b:? *(.*)$", re.IGNORECASE)
TODO = re.compile(r"(?:^|\s)# *TODO\b", re.IGNORECASE)
VERSION = re.compile(r"^( *)K?TAP version \d+")
SUBTEST = re.compile(r"^( *)# Subtest: *(.*)$")


class Level:
    """The results of one indentation, until the result that sums them up."""

    def __init__(self, indent):
        self.indent = indent
        self.plan = None
        self.plan_skip = None
        self.results = 0
        self.failed = False
        self.name = ""


class Counter:
    def __init__(self):
        self.passed = 0
        self.failures = []  # (file, name, reason, lines before)
        self.skips = []  # (file, name, reason)

    def parse(self, file, lines):
        levels = []  # open levels, outermost first
        recent = []  # output since the last result
        seen = False

        def fail(name, reason):
            self.failures.append((file, name, reason, recent[-15:]))

        def path(name):
            return " / ".join([lv.name for lv in levels if lv.name] + [name])

        def close():
            level = levels.pop()
            name = path(level.name) if level.name else path("").rstrip(" /") or file
            if level.plan is None and level.results:
                fail(name, "no plan (1..N): cannot know whether all tests reported")
                level.failed = True
            elif level.plan is not None and level.plan != level.results:
                fail(name, f"planned {level.plan} tests, {level.results} reported")
                level.failed = True
            return level

        def at(indent):
            """Return the level of this indentation; deeper levels end without a result of their own."""
            while levels and levels[-1].indent > indent:
                close()
            if not levels or levels[-1].indent < indent:
                levels.append(Level(indent))
            return levels[-1]

        for line in lines:
            line = STAMP.sub("", line.rstrip("\r\n"))
            if line.lstrip().startswith("Bail out!"):
                fail(path("Bail out!"), line.strip())
                continue
            if VERSION.match(line):
                continue
            match = SUBTEST.match(line)
            if match:
                at(len(match[1])).name = match[2]
                continue
            match = PLAN.match(line)
            if match:
                level = at(len(match[1]))
                seen = True
                if level.plan is not None:
                    fail(path("plan"), "a second plan")
                level.plan = int(match[2])
                if level.plan == 0:
                    level.plan_skip = SKIP.sub(r"\1", "# " + (match[3] or "")).strip(" #")
                continue
            match = RESULT.match(line)
            if not match:
                if line.strip():
                    recent.append(line)
                continue

            seen = True
            indent, good, name = len(match[1]), match[2] == "ok", match[4]
            # This result sums up all deeper levels.
            leaves, failed_below, empty = 0, False, None
            while levels and levels[-1].indent > indent:
                levels[-1].name = levels[-1].name or name
                inner = close()
                leaves += inner.results
                failed_below |= inner.failed
                if inner.plan == 0:
                    empty = inner.plan_skip or "nothing to test"
            level = at(indent)
            level.results += 1
            skip, todo = SKIP.search(name), TODO.search(name)
            label = path(SKIP.sub("", name).strip() or f"test {match[3]}")
            if leaves:
                if not good and not failed_below and not todo:
                    fail(label, "failed although all its results passed")
                level.failed |= failed_below or not (good or todo)
            elif skip or (good and empty):
                self.skips.append((file, label, empty or skip[1]))
            elif good:
                self.passed += 1
            elif todo:
                self.skips.append((file, label, "known to fail: " + name))
            else:
                fail(label, "not ok")
                level.failed = True
            recent.clear()

        while levels:
            close()
        if not seen:
            fail(file, "no results at all")

    def report(self, out):
        for file, name, reason, before in self.failures:
            print(f"FAILED  {name}: {reason}", file=out)
            for line in before:
                print(f"        | {line}", file=out)
            print(f"        in {file}", file=out)
        for _, name, reason in self.skips:
            print(f"skipped {name}: {reason or 'no reason given'}", file=out)
        line = f"{self.passed} passed, {len(self.failures)} failed"
        if self.skips:
            line += f", {len(self.skips)} skipped"
        print(line, file=out)
        return 1 if self.failures or not self.passed else 0


def main(files):
    if not files or files[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    counter = Counter()
    for file in files:
        with open(file, encoding="utf-8", errors="replace") as stream:
            counter.parse(file, stream)
    return counter.report(sys.stdout)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
