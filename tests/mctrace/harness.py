# SPDX-License-Identifier: GPL-2.0
# Shared by the tests of mctrace: the program, a recording and its truth, comparisons, and TAP output.
import json
import os
import random
import re
import resource
import subprocess
import sys

import schema
from schema import Wrong

TIMEOUT = 60            # seconds for one run
SHOWN = 8               # differences that are printed for one test


class Tap:
    def __init__(self):
        self.nr = self.failed = 0

    def ok(self, name, differences, todo=None):
        """Print ok if there are no @differences. @todo: why differences are expected."""
        self.nr += 1
        self.failed += bool(differences) and not todo
        print("%s %d - %s%s" % ("not ok" if differences else "ok", self.nr, name,
                                " # TODO " + todo if todo else ""))
        for line in differences[:SHOWN]:
            print("# " + str(line).replace("\n", "\n# "))
        if len(differences) > SHOWN:
            print("# and %d more" % (len(differences) - SHOWN))
        sys.stdout.flush()

    def skip(self, name, why):
        self.nr += 1
        print("ok %d - %s # SKIP %s" % (self.nr, name, why))

    def done(self):
        print("1..%d" % self.nr)
        return 1 if self.failed else 0


class Mctrace:
    def __init__(self, path, sanitized):
        self.path = os.path.abspath(path)
        self.sanitized = sanitized and os.path.abspath(sanitized)
        self.schema = schema.Schema()
        self.commands = re.findall(r"^  (\w+) ", self.run("--help").stdout.decode(), re.M)

    def has(self, *arguments):
        return arguments[0] in self.commands

    def run(self, *arguments, sanitized=False, **more):
        environment = dict(os.environ, LC_ALL="C", ASAN_OPTIONS="exitcode=99:detect_leaks=0",
                           UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1", **more)
        path = self.sanitized if sanitized else self.path
        ran = subprocess.run([path, *arguments], stdout=subprocess.PIPE, env=environment,
                             stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=TIMEOUT,
                             check=False)
        if "--json" in arguments and not ran.returncode:
            self.schema.check(arguments, ran.stdout.decode())
        return ran

    def text(self, *arguments, **more):
        """Return its output. Its status must be 0, and stderr empty."""
        ran = self.run(*arguments, **more)
        if ran.returncode or ran.stderr:
            raise Wrong("%s: status %d, %s" % (" ".join(arguments), ran.returncode,
                                               ran.stderr.decode(errors="replace")))
        return ran.stdout.decode("utf-8", "surrogateescape")


def cpu_seconds(mctrace, *arguments):
    """Return the time that mctrace takes in user space, on its CPU."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    mctrace.text(*arguments)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def peak(mctrace, *arguments):
    """Return the most memory that mctrace takes, in bytes."""
    program = [sys.executable, "-c", "import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout="
               "subprocess.DEVNULL); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"]
    ran = subprocess.run([*program, mctrace.path, *arguments], stdout=subprocess.PIPE, timeout=TIMEOUT, check=True)
    return int(ran.stdout) * 1024


def growth(mctrace, case_of, *arguments, sizes=(2000, 20000)):
    """
    Return a difference if the time that mctrace takes is quadratic in the size: a recording that is ten times as large
    would take a hundred times as long. @case_of: makes the recording of a size; its path is the last argument.
    """
    took = []
    for size in sizes:
        path = case_of(size).path
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        ran = subprocess.run([mctrace.path, *arguments, path], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                             timeout=TIMEOUT, check=False)
        if ran.returncode:
            return ["%s: status %d, %s" % (path, ran.returncode, ran.stderr.decode())]
        took.append(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
    if took[1] < 30 * max(took[0], 0.02):
        return []
    return ["%s: %.2f s for %d, %.2f s for %d" % (path, took[0], sizes[0], took[1], sizes[1])]


class Case:
    """A recording in a file, and its truth."""
    def __init__(self, folder, name, rec):
        self.name = name
        self.path = os.path.join(folder, name.replace(" ", "-") + ".dat")
        self.truth = rec.truth()
        rec.write(self.path, largest=random.Random(name).choice([32768, 1000, 60]))

    def calls(self):
        """Return the names of the called functions, in time order."""
        return [event[3] for event in self.truth["events"] if event[2] == "enter"]

    def completed(self):
        return sum(one["completed"] for one in self.truth["functions"].values())


def compare(what, got, wanted):
    """Return the differences of two dictionaries."""
    differences = []
    for key in sorted(set(got) | set(wanted), key=str):
        if got.get(key) != wanted.get(key):
            differences.append("%s %s: %s, not %s" % (what, key, got.get(key), wanted.get(key)))
    return differences


def compare_lists(what, got, wanted):
    for i, (one, other) in enumerate(zip(got, wanted)):
        if one != other:
            return ["%s %d: %s, not %s" % (what, i, one, other)]
    if len(got) != len(wanted):
        return ["%s: %d, not %d" % (what, len(got), len(wanted))]
    return []


def plain(text):
    """Remove the modules of functions."""
    return re.sub(r" \[\w+\]", "", text)


def duration(ns):
    """Return a duration as in mctrace's tables: four digits and a unit."""
    for unit, size in (("ns", 1), ("us", 1000), ("ms", 1000000)):
        if ns / size < 999.95:
            break
    else:
        unit, size = "s", 1000000000
    value = ns / size
    digits = [d for least, d in ((999.95, 0), (99.995, 1), (9.9995, 2), (0, 3)) if value >= least]
    return "%.*f %s" % (0 if unit == "ns" else digits[0], value, unit)


def steps_of(path):
    """Return the functions of a "path", the outermost first."""
    return [step["function"] for step in path]


def json_lines(text):
    return [json.loads(line) for line in text.splitlines()]


def attempt(tap, name, todo, check, *arguments):
    try:
        differences = check(*arguments)
    except (Wrong, ValueError, KeyError, IndexError, TypeError, AssertionError, OSError,
            subprocess.TimeoutExpired) as error:
        differences = ["%s: %s" % (type(error).__name__, error)]
    tap.ok(name, differences, todo)
