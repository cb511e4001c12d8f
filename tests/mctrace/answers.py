#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# Tests mctrace on simulated recordings: compares its output with the truth, which recordings.py
# computes. Prints TAP.
#
#     answers.py [--header H] [--sanitized MCTRACE_WITH_ASAN] [--seeds N] MCTRACE
import argparse
import collections
import ctypes
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import xml.dom.minidom

import arguments
import decoded
import decoder
import failing
import lines
import merging
import modules
import options
import packets
import perfetto
import recordings
import schema
import selection
import sources
import terminal
import times
import ways
from harness import (TIMEOUT, Case, Mctrace, Tap, Wrong, attempt, compare, compare_lists,
                     json_lines, plain)

# --- the recordings themselves ---

def check_decoder(_, case):
    """decoder.py decodes the recording to the truth, and matches returns to calls."""
    info, events = decoder.read(case.path)
    got = list(decoder.match(events, info["mode"] == "graph"))
    wanted = case.truth["events"]
    if case.truth["mode"] == "function":        # the recording does not have the depth
        got, wanted = [[e[0], *e[2:]] for e in got], [[e[0], *e[2:]] for e in wanted]
    return compare_lists("event", got, wanted)


def check_header(path):
    """recordings.py has the constants of include/uapi/linux/mctracer.h."""
    with open(path, encoding="utf-8") as file:
        values = dict(re.findall(r"^#define\s+MCTRACER_(\w+)\s+(\d+)\b", file.read(), re.M))
    names = ("TIME MORE TASK META CONTEXT VALUE DATA RETURN COUNT CLOCK GAP FRAME MARK TOOK "
             "OBJECT DATA_BITS META_SHIFT RETURN_TAIL MARK_MARK MARK_ON MARK_OFF MARK_OFF_SOON "
             "MARK_SNAPSHOT MARK_FOLLOW_FULL OBJECT_NESTED OBJECT_RETURNED OBJECT_ROLE_SHIFT "
             "DATA_SHIFT DATA_BYTES").split()
    return compare("MCTRACER_", {name: int(values.get(name, -1)) for name in names},
                   {name: getattr(recordings, name) for name in names})


def small_recording():
    """Return a recording. Its truth is worked out by hand below. A step takes 2 ns, plus waits."""
    rec = recordings.Recording(cpus=2, late=False, now=0)
    cat = rec.task(65, "cat", inside=["vfs_open"])
    rec.run(0, cat)
    rec.leave(0)                        # 2: called before the recording
    rec.call(0, "vfs_read")             # 4
    rec.call(0, "kfree")                # 6
    rec.wait(100)
    rec.call(0, "kfree")                # 108
    rec.leave(0)                        # 110: took 2
    rec.run(1, cat)
    rec.leave(1)                        # 112: took 106
    rec.run(0, cat)
    rec.call(0, "sysvec_apic_timer_interrupt", irq=True)        # 114
    frame = rec.call(0, "dput")         # 116
    rec.leave(0, tail=True)             # 118: took 2
    rec.call(0, "mntput", instead=frame)        # 120
    rec.leave(0)                        # 122: took 2
    rec.leave(0)                        # 124: took 10
    rec.leave(0)                        # 126: took 122
    rec.call(0, "do_exit")              # 128
    rec.call(0, "kfree")                # 130
    rec.leave(0)                        # 132: took 2
    return rec


SMALL = {       # calls, total, self, average, longest
    "vfs_read": (1, 122, 6, 122, 122),
    "kfree": (3, 108, 108, 36, 106),
    "sysvec_apic_timer_interrupt": (1, 10, 6, 10, 10),
    "dput": (1, 2, 2, 2, 2),
    "mntput": (1, 2, 2, 2, 2),
    "do_exit": (1, 0, 0, 0, 0),
}
SMALL_FOLDED = {
    "cat;vfs_read": 4,
    "cat;vfs_read;[off CPU]": 2,        # from 112 to 114
    "cat;vfs_read;kfree": 102,
    "cat;vfs_read;kfree;[off CPU]": 2,  # from 110 to 112
    "cat;vfs_read;kfree;kfree": 2,
    "cat;vfs_read;sysvec_apic_timer_interrupt": 6,
    "cat;vfs_read;sysvec_apic_timer_interrupt;dput": 2,
    "cat;vfs_read;sysvec_apic_timer_interrupt;mntput": 2,
    "cat;do_exit;kfree": 2,
}


def check_small(_, case):
    got = {name: (one["calls"], one["total_ns"], one["self_ns"], one["avg_ns"], one["max_ns"])
           for name, one in case.truth["functions"].items()}
    return (compare("function", got, SMALL) +
            compare("stack", case.truth["folded"], SMALL_FOLDED))


# --- report ---

REPORT_LINE = re.compile(
    r"\[~?(\d+)\.(\d{9})\] (?:[-.d][-.npN][-.zZhHs][-.0-9a-f] )?CPU (\d+): (.*):(\d+) "
    r"(\S+)\+0x[0-9a-f]+/0x[0-9a-f]+(?: \[\w+\])?( <-- | returns| goes on)(.*)$")


def parse_report(text):
    """Return events as in the truth, without the depth, and all other lines."""
    events, others = [], []
    for line in text.splitlines():
        found = REPORT_LINE.match(line)
        if not found:
            others.append(line)
            continue
        seconds, fraction, cpu, comm, pid, name, how, rest = found.groups()
        took = re.search(r" after (~?\d+) ns", rest)
        took = took and (took[1] if "~" in took[1] else int(took[1]))
        events.append([comm + ":" + pid, "enter" if "<--" in how else "leave",
                       name.replace(".cold", ""), int(seconds + fraction), int(cpu), took])
    return events, others


def check_report(mctrace, case):
    events, others = parse_report(mctrace.text("report", case.path))
    wanted = [[e[0], *e[2:]] for e in case.truth["events"]]
    counts = dict(re.findall(r"^# (\w+): (\d+)$", "\n".join(others), re.M))
    counts = {key: int(value) for key, value in counts.items()}
    lost = sum(int(n) for n in re.findall(r"^# lost (\d+)$", "\n".join(others), re.M))
    missing = case.truth["counts"]["lost"] + case.truth["counts"]["overwritten"]
    return (compare_lists("event", events, wanted) +
            compare("count", counts, case.truth["counts"]) +
            compare("missing calls", {"": lost}, {"": missing}))


# --- report --tree ---

TREE_LINE = re.compile(r"(.) *(?:(~?)(\d+)\.(\d{3}) us)?  \|  ( *)(.*)$")
MARKS = [(1000000000, "$"), (100000000, "@"), (10000000, "*"), (1000000, "#"), (100000, "!"),
         (10000, "+"), (-1, " ")]


class Tree:
    """Parses the text of report --tree, with or without --clock, and checks that it is well nested."""
    def __init__(self, text):
        self.events = {}        # task: [[depth, what, function, took], ...]
        self.times = {}         # task: the time of each of its events, ns; None without --clock
        self.ns = None          # time of the line
        self.stacks = {}        # task: names with a "{" and no "}" yet
        self.wrong = []
        self.task = None
        for self.nr, line in enumerate(text.splitlines(), 1):
            who = re.match(r"CPU \d+: (.*:\d+)$", line)
            if who:
                self.task = who[1]
            elif line.startswith("# lost"):
                self.stacks.clear()
            else:
                self.line(line)

    def complain(self, what):
        self.wrong.append("line %d: %s" % (self.nr, what))

    def line(self, line):
        timed = re.match(r"\[[ ~](\d+)\.(\d{9})\] ", line)
        self.ns = timed and int(timed[1] + timed[2])
        found = TREE_LINE.match(line[timed.end():] if timed else line)
        if not found or self.task is None:
            self.complain("unexpected line '%s'" % line)
            return
        mark, about, us, ns, indent, text = found.groups()
        took = int(us + ns) if us else None
        if us and mark != next(m for least, m in MARKS if took > least):
            self.complain("'%s' is the wrong mark for %d ns" % (mark, took))
        if about:
            self.complain("the time is shown as an estimate")
        if text.startswith(("/* traceoff ", "/* traceon ")):
            self.stacks.clear()         # calls may be missing
        if text.startswith("/*"):
            return
        stack = self.stacks.setdefault(self.task, [])
        depth = len(indent) // 2
        if text.startswith("} "):
            self.close(stack, depth, text, took)
        else:
            self.open(stack, depth, text, took)

    def add(self, depth, what, name, took):
        name = plain(name)
        self.events.setdefault(self.task, []).append([depth, what, name, took])
        self.times.setdefault(self.task, []).append(self.ns)

    def open(self, stack, depth, text, took):
        name = text.split("(")[0]
        if depth != len(stack):
            self.complain("'%s' is %d deep, not %d" % (text, depth, len(stack)))
        if not text.endswith("/* not traced */"):
            self.add(depth, "enter", name, None)
        if "() {" in text:
            stack.append(name)
        elif took is not None:
            self.ns = self.ns and self.ns + took
            self.add(depth, "leave", name, took)

    def close(self, stack, depth, text, took):
        name = text[2:].replace(" goes on", "").replace(", called before", "")
        before = text.endswith(", called before")
        if before and (stack or depth):
            self.complain("'%s' is nested in %s" % (text, stack))
        if not before and (not stack or stack.pop() != name or depth != len(stack)):
            self.complain("'%s', %d deep, closes another call" % (text, depth))
        if before or took is not None:
            self.add(depth, "leave", name, took)


def by_task(case):
    tasks = {}
    for task, depth, what, name, _, _, took in case.truth["events"]:
        tasks.setdefault(task, []).append([depth, what, name, took])
    return tasks


def check_tree(mctrace, case):
    tree = Tree(mctrace.text("report", "--tree", case.path))
    differences = list(tree.wrong)
    wanted = by_task(case)
    for task in sorted(set(wanted) | set(tree.events)):
        differences += compare_lists(task + ": event", tree.events.get(task, []),
                                     wanted.get(task, []))
    return differences


def check_tree_times(mctrace, case):
    """With --clock each line of a call has its time, and is otherwise the same. Long blocks may be split elsewhere."""
    def lines_of(text):
        return sorted(line for line in text.splitlines() if not line.startswith("CPU "))

    timed = mctrace.text("report", "--tree", "--clock", case.path)
    differences = compare_lists("line", lines_of(re.sub(r"^\[[ ~]\d+\.\d{9}\] ", "", timed, flags=re.M)),
                                lines_of(mctrace.text("report", "--tree", case.path)))
    tree, wanted = Tree(timed), {}
    for event in case.truth["events"]:
        wanted.setdefault(event[0], []).append(event[4])
    for task in sorted(set(wanted) | set(tree.times)):
        differences += compare_lists(task + ": time", tree.times.get(task, []), wanted.get(task, []))
    return differences + tree.wrong


def check_tree_lines(mctrace, case):
    """--lines prints the first calls of the tree, also if the next one is nested in them."""
    differences, wanted = [], by_task(case)
    for n in (1, 2, 3, 5, 9):
        tree = Tree(mctrace.text("report", "--tree", "--lines", str(n), case.path))
        calls = {task: [e[2] for e in events if e[1] == "enter"] for task, events in tree.events.items()}
        if not 1 <= sum(len(names) for names in calls.values()) <= n:
            differences.append("--lines %d prints %s" % (n, calls))
        for task, names in calls.items():
            differences += compare_lists("--lines %d: %s" % (n, task), names, [
                e[2] for e in wanted.get(task, []) if e[1] == "enter"][:len(names)])
    return differences


def check_function_tree(mctrace, case):
    """Without returns, each call is shown once, in the order of its task."""
    tree = Tree(mctrace.text("report", "--tree", case.path))
    differences = list(tree.wrong)
    got = {task: [e[2] for e in events if e[1] == "enter"]
           for task, events in tree.events.items()}
    wanted = {task: [e[2] for e in events] for task, events in by_task(case).items()}
    for task in sorted(set(wanted) | set(got)):
        differences += compare_lists(task + ": call", got.get(task, []), wanted.get(task, []))
    return differences


# --- profile, latency ---

PROFILE = ["function", "total_ns", "self_ns", "avg_ns", "max_ns", "calls", "total_cpu_ns",
           "self_cpu_ns"]


def check_profile(mctrace, case):
    keys = PROFILE if case.truth["mode"] == "graph" else ["function", "calls"]
    differences, got = [], {}
    for line in json_lines(mctrace.text("profile", "--json", case.path)):
        if set(line) - {"name", "module"} != set(keys):
            differences.append("%s has other keys than %s" % (line, keys))
            continue
        line["function"] = plain(line["function"])
        if line["function"] in got:
            differences.append("%s appears twice" % line["function"])
        got[line["function"]] = [line[key] for key in keys]
    wanted = {name: [name] + [one[key] for key in keys[1:]]
              for name, one in case.truth["functions"].items()}
    return differences + compare("profile", got, wanted)


def latency_functions(case):
    """Return some functions that are called often, and the slowest."""
    functions = case.truth["functions"]
    names = [name for name in functions if functions[name]["completed"]]
    often = sorted(names, key=lambda name: -functions[name]["completed"])
    slow = sorted(names, key=lambda name: -functions[name]["max_ns"])
    return sorted(set(often[:3] + slow[:2]))


def check_buckets(name, lines, durations, cpu_durations):
    differences, left = [], list(durations)
    end = 0
    for line in lines:
        begin, to, count = line["from_ns"], line["to_ns"], line["count"]
        behind = to if not to & (to - 1) else to + 1    # accept an inclusive or an exclusive to_ns
        if begin & (begin - 1) or behind & (behind - 1) or behind < 2 * begin or begin < end:
            differences.append("%s: %s is no bucket after %d" % (name, line, end))
        inside = [ns for ns in left if begin <= ns < behind]
        on_cpu = [ns for ns in cpu_durations if begin <= ns < behind]
        if line["count_cpu"] != len(on_cpu):
            differences.append("%s: %s, not %d on a CPU" % (name, line, len(on_cpu)))
        if len(inside) != count:
            differences.append("%s: %s, not %d" % (name, line, len(inside)))
        left = [ns for ns in left if not begin <= ns < behind]
        end = behind
    if left:
        differences.append("%s: in no bucket: %s" % (name, left[:5]))
    return differences


def check_latency(mctrace, case):
    differences = []
    for name in latency_functions(case):
        one = case.truth["functions"][name]
        durations = one["durations"]
        lines = json_lines(mctrace.text("latency", name, "--json", case.path))
        last = lines.pop()
        differences += check_buckets(name, lines, durations, one["cpu_durations"])
        wanted = {"kind": "summary", "open": one["calls"] - one["completed"],
                  "estimated": False,
                  "function": name, "min_ns": min(durations), "max_ns": max(durations),
                  "avg_ns": one["avg_ns"], "max_cpu_ns": max(one["cpu_durations"]),
                  "avg_cpu_ns": sum(one["cpu_durations"]) // len(durations),
                  "total_cpu_ns": sum(one["cpu_durations"])}
        # "calls" may be only the calls with a duration. The total may count recursive calls once.
        if last.get("calls") in (one["calls"], one["completed"]):
            wanted["calls"] = last["calls"]
        else:
            wanted["calls"] = one["completed"]
        wanted["total_ns"] = sum(durations)
        if last.get("total_ns") == one["total_ns"]:
            wanted["total_ns"] = one["total_ns"]
        differences += compare(name, last, wanted)
    return differences


# --- export ---

def check_folded(mctrace, case):
    got, differences = {}, []
    for line in mctrace.text("export", "--to", "folded", case.path).splitlines():
        stack, ns = plain(line).rsplit(" ", 1)
        if stack in got or ns == "0":
            differences.append("'%s' is superfluous" % line)
        got[stack] = int(ns)
    wanted = {stack: ns for stack, ns in case.truth["folded"].items() if ns}
    differences += compare("sum", {"": sum(got.values())}, {"": sum(wanted.values())})
    return differences + compare("stack", got, wanted)


def export(mctrace, case, to, name, *options):
    """Export to a file or folder beside the recording, and return its path."""
    out = case.path + "." + name
    if os.path.isdir(out):
        shutil.rmtree(out)
    mctrace.text("export", "--to", to, "-o", out, *options, case.path)
    return out


def wanted_durations(case):
    return collections.Counter((name, ns) for name, one in case.truth["functions"].items()
                               for ns in one["durations"])


def to_ns(us):
    return round(us * 1000)


def check_nested(spans):
    """Check that the spans [begin, end] of one thread are nested."""
    stack = []
    for begin, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        while stack and stack[-1] <= begin:
            stack.pop()
        if stack and end > stack[-1]:
            return ["%d to %d is not nested in the span that ends at %d" % (begin, end, stack[-1])]
        stack.append(end)
    return []


def chrome_calls(events):
    """Return (name, begin, end, cut) of the calls of each thread, and complaints. The end event of
    a cut call has arguments: its return was not recorded."""
    calls, stacks, wrong = {}, {}, []
    last = {}
    for event in [event for event in events if event["ph"] in "BE"]:
        event.update({"name": plain(event["name"])} if "name" in event else {})
        thread = (event["pid"], event["tid"])
        if event["ts"] < last.get(thread, event["ts"]):
            wrong.append("%s is before %s" % (event, last[thread]))
        last[thread] = event["ts"]
    for event in sorted([e for e in events if e["ph"] in "BEX"], key=lambda e: e["ts"]):
        thread = (event["pid"], event["tid"])
        stack = stacks.setdefault(thread, [])
        mine = calls.setdefault(thread, [])
        if event["ph"] == "X":
            begin = to_ns(event["ts"])
            mine.append((event["name"], begin, begin + to_ns(event["dur"]), False))
        elif event["ph"] == "B":
            stack.append(event)
        elif not stack or event.get("name", stack[-1]["name"]) != stack[-1]["name"]:
            wrong.append("%s ends a call that has not begun" % event)
        else:
            begun = stack.pop()
            mine.append((begun["name"], to_ns(begun["ts"]), to_ns(event["ts"]),
                         "args" in event))
    wrong += ["%s: %s have no end" % (thread, [e["name"] for e in stack])
              for thread, stack in stacks.items() if stack]
    return calls, wrong


def load_json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def check_chrome(mctrace, case):
    events = load_json(export(mctrace, case, "json", "json"))["traceEvents"]
    calls, wrong = chrome_calls(events)
    for thread, mine in calls.items():
        wrong += ["%s: %s" % (thread, w) for w in check_nested([call[1:3] for call in mine])]
    whole = [call for mine in calls.values() for call in mine if not call[3]]
    if len(whole) != case.completed():
        wrong.append("%d calls, not %d" % (len(whole), case.completed()))
    got = collections.Counter((name, end - begin) for name, begin, end, _ in whole)
    return wrong + compare("calls that took", got, wanted_durations(case))


def check_profile_of(profile, frames):
    """Return what is wrong with one of speedscope's profiles."""
    if profile.get("type") != "evented":
        return ["a profile of type %s" % profile.get("type")]
    wrong, stack, last = [], [], profile["startValue"]
    for event in profile["events"]:
        if event["at"] < last:
            wrong.append("%s is before %s" % (event, last))
        last = event["at"]
        if not 0 <= event["frame"] < len(frames):
            wrong.append("%s: no such frame" % event)
        if event["type"] == "O":
            stack.append(event["frame"])
        elif event["type"] != "C" or not stack or stack.pop() != event["frame"]:
            wrong.append("%s closes another frame" % event)
    if stack:
        wrong.append("%d frames are not closed" % len(stack))
    if last > profile["endValue"]:
        wrong.append("%s is after the end" % last)
    return ["%s: %s" % (profile.get("name"), what) for what in wrong]


def check_speedscope(mctrace, case):
    scope = load_json(export(mctrace, case, "speedscope", "speedscope.json"))
    wrong = [] if "speedscope.app/file-format-schema" in scope.get("$schema", "") else ["$schema"]
    frames = scope["shared"]["frames"]
    names = collections.Counter(frame["name"] for frame in frames)
    wrong += ["frame %s appears %d times" % item for item in names.items() if item[1] > 1]
    opened = 0
    for profile in scope["profiles"]:
        wrong += check_profile_of(profile, frames)
        opened += sum(event["type"] == "O" for event in profile["events"])
    if opened < case.completed():
        wrong.append("%d calls, but %d were completed" % (opened, case.completed()))
    return wrong


def read_by(program, *arguments):
    """Return the output of a program that reads an export."""
    ran = subprocess.run([program, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         stdin=subprocess.DEVNULL, timeout=60, check=False)
    if ran.returncode:
        raise Wrong("%s %s: status %d, %s" % (program, " ".join(arguments), ran.returncode,
                                              ran.stderr.decode(errors="replace")))
    return ran.stdout.decode(errors="replace")


TRACE_CMD_LINE = re.compile(r".*-\d+ +\[\d+\].* (\d+\.\d+): +(\w+): *(.*)$")


def check_trace_cmd(mctrace, case):
    out = export(mctrace, case, "trace.dat", "trace.dat")
    got = []
    for line in read_by("trace-cmd", "report", "-t", "-i", out).splitlines():
        found = TRACE_CMD_LINE.match(line)
        if found and "exit" not in found[2]:
            text = found[3].split("|")[-1].strip()
            got.append((float(found[1]), re.split(r"[ (+]", text)[0]))
    # trace-cmd prints a call too late if it returns on another CPU.
    got.sort(key=lambda call: call[0])
    return compare_lists("function", [name for _, name in got], case.calls())


KSHARK_LINE = re.compile(r"(\d+) (\d+) \d+ .* ftrace/(\w+) (.*)$")


def check_kshark(mctrace, case):
    out = export(mctrace, case, "trace.dat", "trace.dat")
    got = []
    for line in read_by(os.path.join(os.path.dirname(__file__), "kshark.py"), out).splitlines():
        found = KSHARK_LINE.match(line)
        if found and "exit" not in found[3]:
            text = found[4].split("|")[-1].strip()
            got.append((int(found[1]), re.split(r"[ (+]", text)[0]))
    got.sort(key=lambda call: call[0])
    return compare_lists("function", [name for _, name in got], case.calls())


def between(got, case):
    """Check how often each function appears. Calls that did not return may be left out."""
    wrong = []
    for name in sorted(set(got) | set(case.truth["functions"])):
        one = case.truth["functions"].get(name, {"calls": 0, "completed": 0})
        if not one["completed"] <= got.get(name, 0) <= one["calls"]:
            wrong.append("%s: %d, not %d, or the %d completed" %
                         (name, got.get(name, 0), one["calls"], one["completed"]))
    return wrong


def check_uftrace(mctrace, case):
    out = export(mctrace, case, "uftrace", "uftrace")
    calls = {}
    for line in read_by("uftrace", "report", "--no-pager", "-d", out).splitlines():
        fields = plain(line).split()
        if len(fields) >= 4 and fields[-2].isdigit() and not fields[-1].startswith("linux:"):
            calls[fields[-1]] = int(fields[-2])
    replayed = collections.Counter()
    for line in read_by("uftrace", "replay", "--no-pager", "-d", out).splitlines():
        found = re.search(r"\| +(\S+)\(\)(;| \{)", plain(line))
        if found:
            replayed[found[1]] += 1
    return between(calls, case) + between(replayed, case)


def check_perfetto(mctrace, case):
    trace = perfetto.read(export(mctrace, case, "perfetto", "perfetto"))
    if not case.truth["functions"] or trace.instants:
        return trace.wrong + compare_lists("function", list(map(plain, trace.instants)),
                                           case.calls())
    calls = collections.Counter((plain(name), ns) for name, ns in trace.calls)
    missing = wanted_durations(case) - calls
    return trace.wrong + ["no call took %s" % (call,) for call in missing] + \
        between(collections.Counter(plain(name) for name, _ in trace.calls), case)


def check_ctf(mctrace, case):
    out = export(mctrace, case, "ctf", "ctf")
    lines = read_by("babeltrace2", out).splitlines()
    events = case.truth["events"]
    wrong = compare("events", {"": len(lines)}, {"": len(events)})
    for line, event in zip(lines, events):
        if event[3] not in line:
            wrong.append("'%s' is not of %s" % (line, event))
            break
    return wrong


# --- damaged files ---

READERS = [("report",), ("report", "--tree"), ("profile", "--json"),
           ("latency", "vfs_read", "--json"), ("graph", "vfs_read"), ("slow", "vfs_read"),
           ("flame", "-o", "/dev/null"), ("export", "--to", "folded"),
           ("export", "--to", "json", "-o", "/dev/null"),
           ("export", "--to", "speedscope", "-o", "/dev/null"),
           ("export", "--to", "trace.dat", "-o", "/dev/null")]
# Only for --sanitized, if it is given. GOOD and OUT: see with_file().
MORE_READERS = [("report", "--json"), ("report", "--tree", "--json"), ("diff", "-I", "GOOD"),
                ("why", "--from"), ("export", "--to", "perfetto", "-o", "/dev/null"),
                ("export", "--to", "ctf", "-o", "OUT"), ("export", "--to", "uftrace", "-o", "OUT")]


def readers(mctrace, more=True):
    return [arguments for arguments in READERS + (MORE_READERS if more else [])
            if mctrace.has(*arguments)]


def with_file(arguments, path):
    """Return the arguments, with @path. GOOD becomes a good file, OUT the name of a new folder."""
    folder = os.path.dirname(path)
    out = os.path.join(folder, "out")
    if "OUT" in arguments:
        shutil.rmtree(out, ignore_errors=True)
    names = {"GOOD": os.path.join(folder, "bad.dat"), "OUT": out}
    return [names.get(argument, argument) for argument in arguments] + [path]


def outcome(mctrace, arguments, path, sanitized, says):
    """Run a command. Return what is wrong with its end, or None. @says: the error it must print."""
    try:
        ran = mctrace.run(*with_file(arguments, path), sanitized=sanitized)
    except subprocess.TimeoutExpired:
        return "it takes more than %d s" % TIMEOUT
    error = ran.stderr.decode(errors="replace")
    if "runtime error" in error or "AddressSanitizer" in error:
        first = re.search(r".*(runtime error|AddressSanitizer: ).*", error)[0]
        return re.sub(r"==\d+==|0x[0-9a-f]+", "", first)
    if ran.returncode not in (0, 1):
        return "status %d, %s" % (ran.returncode, error.strip()[:200])
    if says and (ran.returncode != 1 or says not in error):
        return "status %d, and it prints '%s'" % (ran.returncode, error.strip())
    return None


# Try each sparse-th cut or flipped bit.
sparse = 1


class Complaints:
    """Collects complaints, equal ones once."""
    def __init__(self, mctrace):
        self.mctrace = mctrace
        self.found = {}

    def file(self, path, what, says=None):
        """Run all commands on @path: they must not crash, and must print @says, if it is given."""
        for sanitized in [False, True] if self.mctrace.sanitized else [False]:
            for arguments in readers(self.mctrace, sanitized or not self.mctrace.sanitized):
                wrong = outcome(self.mctrace, arguments, path, sanitized, says)
                if wrong:
                    who = " ".join(arguments) + (" (sanitized)" if sanitized else "")
                    self.found.setdefault((who, wrong), []).append(what)

    def lines(self):
        return ["%s, %d times, first with %s: %s" % (who, len(files), files[0], wrong)
                for (who, wrong), files in self.found.items()]


def bad_case(folder):
    rec = recordings.simulate(700, 5, notes=8192, gaps=True, marks=True, extras=True, context=True)
    return Case(folder, "bad", rec)


def write_file(path, data):
    with open(path, "wb") as file:
        file.write(data)


def check_good(mctrace, cases):
    complaints = Complaints(mctrace)
    for case in cases:
        complaints.file(case.path, case.name)
    return complaints.lines()


def check_cuts(mctrace, folder, data):
    rng = random.Random(1)
    cuts = set(range(18)) | {len(data) - 1, len(data) - 8, len(data) - 41}
    for at, _ in list(recordings.chunks_of(data))[:4] + list(recordings.chunks_of(data))[-3:]:
        cuts |= {at - 1, at, at + 1, at + 39, at + 40, at + 41, at + 48}
    cuts |= {rng.randrange(len(data)) for _ in range(30)}
    complaints = Complaints(mctrace)
    path = os.path.join(folder, "cut.dat")
    for cut in sorted(cut for cut in cuts if 0 <= cut < len(data))[::sparse]:
        write_file(path, data[:cut])
        complaints.file(path, "cut at %d" % cut, "offset" if cut else "is empty")
    return complaints.lines()


def before_cut(data, cut):
    """Return a complete recording of the part before @cut, and the offset to be reported."""
    result, offset = data[:16], cut
    for at, _ in recordings.chunks_of(data):
        if at < cut < at + recordings.CHUNK.size:
            offset = at
        left = (cut - at - recordings.CHUNK.size) & ~7
        if left >= 0:
            mark, kind, size, *rest = recordings.CHUNK.unpack_from(data, at)
            size = min(size, left)
            begin = at + recordings.CHUNK.size
            result += recordings.CHUNK.pack(mark, kind, size, *rest) + data[begin:begin + size]
    return result, offset


def check_up_to_cut(mctrace, folder):
    """A full disk has cut a file: mctrace shows the events before, and reports the offset."""
    rec = recordings.Recording(cpus=2, late=False, notes=1024)
    recordings.Simulation(rec).steps(600)
    path = os.path.join(folder, "whole.dat")
    rec.write(path, largest=60)
    with open(path, "rb") as file:
        data = file.read()
    chunks = [at for at, kind in recordings.chunks_of(data) if kind != recordings.INFO]
    cuts = {at + more for at in chunks[1::5] + chunks[-1:] for more in (0, 1, 20, 40, 48, 203)}
    wrong = []
    for cut in sorted(cut for cut in cuts if cut < len(data)):
        before, offset = before_cut(data, cut)
        write_file(path, before)
        wanted = [[task, what, name, ns, cpu] for ns, cpu, task, what, name, _
                  in decoder.decode(path)]
        write_file(path, data[:cut])
        ran = mctrace.run("report", path)
        got = [event[:5] for event in parse_report(ran.stdout.decode())[0]]
        wrong += compare_lists("cut at %d: event" % cut, got, wanted)
        says = ran.stderr.decode()
        if ran.returncode != 1 or not re.match(
                r"mctrace: \S+ is damaged at offset %d: .*; the part before that was shown\n$" % offset,
                says):
            wrong.append("cut at %d: status %d, and it says '%s'" % (cut, ran.returncode, says))
    return wrong


def flip(data, at, bit):
    changed = bytearray(data)
    changed[at] ^= 1 << bit
    return changed


def check_flips(mctrace, folder, data, places, says=None):
    """Flip a bit in each byte of @places, one at a time."""
    rng = random.Random(2)
    complaints = Complaints(mctrace)
    path = os.path.join(folder, "flipped.dat")
    for at in list(places)[::sparse]:
        bit = rng.randrange(8)
        write_file(path, flip(data, at, bit))
        complaints.file(path, "bit %d of byte %d" % (bit, at), says)
    return complaints.lines()


def check_garbage(mctrace, folder, case):
    """Words that no kernel writes."""
    complaints = Complaints(mctrace)
    path = os.path.join(folder, "garbage.dat")
    with open(case.path, "rb") as file:
        data = file.read()
    first = next(at for at, kind in recordings.chunks_of(data) if kind == recordings.WORDS)
    for seed in range(12):
        rng = random.Random(seed)
        words = []
        for _ in range(400):
            kind = rng.choice([0, 0, 1, 2, 3, 3, 4, 5, 6, 7, 7])
            word = recordings.make_word(kind, rng.getrandbits(rng.choice([3, 30, 59])))
            call = recordings.call_word(0x81000100 + rng.randrange(20000), rng.getrandbits(31))
            words.append(rng.choice([word, word, call, rng.getrandbits(64), 0]))
        chunk = recordings.CHUNK.pack(recordings.CHUNK_MARK, recordings.WORDS, 8 * len(words),
                                      rng.choice([0, 1, 100]), 8192, rng.getrandbits(60) & ~7,
                                      rng.getrandbits(64))
        chunk += struct.pack("<%dQ" % len(words), *words)
        write_file(path, data[:first] + 3 * chunk + data[first:])
        complaints.file(path, "garbage %d" % seed)
    return complaints.lines()


def check_future(mctrace, folder, data):
    complaints = Complaints(mctrace)
    path = os.path.join(folder, "future.dat")
    write_file(path, data[:8] + struct.pack("<I", 3) + data[12:])
    complaints.file(path, "version 3", "version 3")
    return complaints.lines()


def with_cpu(data, cpu):
    """Set the CPU of the last chunk of words."""
    at = [at for at, kind in recordings.chunks_of(data) if kind == recordings.WORDS][-1]
    changed = bytearray(data)
    struct.pack_into("<I", changed, at + 16, cpu)
    return changed


def check_odd(mctrace, folder, data):
    """Unusual recordings must not crash a command."""
    complaints = Complaints(mctrace)
    path = os.path.join(folder, "odd.dat")
    offsets = [at for at, _ in recordings.chunks_of(data)] + [len(data)]
    for kind in (recordings.INFO, recordings.SYMBOLS, recordings.WORDS):
        parts = [data[:16]]
        for (at, its), end in zip(recordings.chunks_of(data), offsets[1:]):
            if its != kind:
                parts.append(data[at:end])
        write_file(path, b"".join(parts))
        complaints.file(path, "without chunks of type %d" % kind)
    for cpu in (100, 4095, 65535):
        write_file(path, with_cpu(data, cpu))
        complaints.file(path, "CPU %d" % cpu)
    write_file(path, with_cpu(data, 65536))
    complaints.file(path, "CPU 65536", "offset")
    return complaints.lines()


def answer(mctrace, arguments, path):
    """Return status, output and errors of a command. It may fail, such as `why` without marks."""
    ran = mctrace.run(*with_file(arguments, path))
    if ran.returncode not in (0, 1):
        raise Wrong("%s: status %d" % (" ".join(arguments), ran.returncode))
    return ran.returncode, ran.stdout, ran.stderr.replace(path.encode(), b"FILE")


def check_unknown(mctrace, folder):
    """Unknown chunks, words and lines change nothing."""
    wrong = []
    paths = []
    for new in (False, True):
        rec = recordings.simulate(50, 3, cpus=1)
        if new:
            rec.info = "something new\n"
        sim = recordings.Simulation(rec, tasks=2)
        for i in range(20):
            sim.step()
            if new:
                rec.filler(0, recordings.other_word(60, i))
                rec.filler(0, recordings.make_word(recordings.MORE, i))
                rec.filler(0, recordings.other_word(20 + i, i))
                rec.filler(0, recordings.make_word(recordings.MORE, i))
        case = Case(folder, "unknown %d" % new, rec)
        paths.append(case.path)
        wrong += check_report(mctrace, case) if new else []
    with open(paths[1], "ab") as file:
        recordings.write_text(file, 77, "what is this?")
    for arguments in readers(mctrace):
        old, new = [answer(mctrace, arguments, path) for path in paths]
        if old != new:
            wrong.append(" ".join(arguments) + " prints something different")
    return wrong


def check_compressed(mctrace, folder, data, packed):
    """All commands print the same for a compressed recording."""
    paths = [os.path.join(folder, name) for name in ("plain.dat", "compressed.dat")]
    for path, content in zip(paths, (data, packed)):
        write_file(path, content)
    return [" ".join(arguments) + " prints something different" for arguments in readers(mctrace)
            if answer(mctrace, arguments, paths[0]) != answer(mctrace, arguments, paths[1])]


def has_zstd(mctrace):
    return shutil.which("zstd") and "without zstd" not in mctrace.text("--version")


def test_compressed(tap, mctrace, folder):
    def test(name, check, *arguments):
        attempt(tap, "compressed: " + name, None, check, mctrace, *arguments)

    if not has_zstd(mctrace):
        tap.skip("compressed", "no zstd, or mctrace was built without it")
        return
    with open(bad_case(folder).path, "rb") as file:
        data = file.read()
    packed = recordings.compressed(data)
    rng = random.Random(8)
    inside = [at + 40 + rng.randrange(60) for at, kind in recordings.chunks_of(packed)
              if kind & recordings.COMPRESSED]
    test("commands print the same", check_compressed, folder, data, packed)
    test("the offset of a cut is reported", check_cuts, folder, packed)
    test("flipped bits of compressed data", check_flips, folder, packed, rng.choices(inside, k=60))


def test_bad_files(tap, mctrace, folder):
    case = bad_case(folder)
    with open(case.path, "rb") as file:
        data = file.read()
    rng = random.Random(7)
    chunks = list(recordings.chunks_of(data))
    heads = [at for at, _ in rng.sample(chunks, min(12, len(chunks)))]
    words = [at for at, kind in chunks if kind == recordings.WORDS]
    within = [rng.choice(words) + 40 + rng.randrange(400) for _ in range(60)]

    def test(name, check, *arguments):
        attempt(tap, name, None, check, mctrace, *arguments)

    test("bad files: the offset of a cut is reported", check_cuts, folder, data)
    test("bad files: the part before a cut is shown", check_up_to_cut, folder)
    test("bad files: flipped bits of the header", check_flips, folder, data, range(16), "offset")
    test("bad files: flipped bits of chunk marks", check_flips, folder, data,
         [at + i % 4 for i, at in enumerate(heads)], "offset")
    test("bad files: flipped bits of chunk headers", check_flips, folder, data,
         [at + rng.randrange(4, 40) for at in heads for _ in range(5)])
    test("bad files: flipped bits of words", check_flips, folder, data,
         [at for at in within if at < len(data)])
    test("bad files: flipped bits anywhere", check_flips, folder, data,
         [rng.randrange(len(data)) for _ in range(60)])
    test("bad files: a future version", check_future, folder, data)
    test("bad files: invalid words", check_garbage, folder, case)
    test("bad files: missing chunks, and unusual CPUs", check_odd, folder, data)
    test("unknown chunks, words and lines are skipped", check_unknown, folder)


# --- names of tasks that need quoting ---

def check_names(mctrace, folder):
    rec = recordings.simulate(200, 4, cpus=1, before=False)
    for pid, comm in enumerate(['a"b\\c', "tab\there", "\udcff\udcfe", "<b>&amp;", "{}[],:", ""]):
        rec.run(0, rec.task(5000 + pid, comm))
        for name in ("vfs_read", "vfs_write"):
            rec.call(0, name)
            rec.wait(100)
            rec.leave(0)
    case = Case(folder, "names", rec)
    wrong = []
    for to in ("json", "speedscope"):
        load_json(export(mctrace, case, to, to))
    json_lines(mctrace.text("profile", "--json", case.path))
    wrong += check_chrome(mctrace, case) + check_speedscope(mctrace, case)
    return wrong


def check_picture_of_names(mctrace, folder):
    """The picture is XML even if a name ends within a character, where the kernel cuts names."""
    rec = recordings.Recording(cpus=1, late=False)
    for pid, comm in enumerate(["\u00e9" * 7 + "\udcc3", "\udced\udca0\udc80", "<&>"]):
        rec.run(0, rec.task(65 + pid, comm))
        rec.call(0, "vfs_read")
        rec.wait(1000)
        rec.leave(0)
    case = Case(folder, "pictured", rec)
    xml.dom.minidom.parseString(mctrace.run("flame", "-o", "-", case.path).stdout)
    json_lines(mctrace.text("profile", "--by-task", "--json", case.path))
    return []


NAMES = {   # a task's name, and its form in formats that need valid text
    "two words": "two words", " blank": " blank", "   ": "<...>", "": "<...>",
    "new\nline": "new?line", "a\tb": "a?b", "\udcff\udcfe": "??", "a;b": "a;b",
    "\u00e9" * 7 + "\udcc3": "\u00e9" * 7 + "?", "\uffff!": "???!", "%s %n": "%s %n",
}


def check_names_everywhere(mctrace, folder):
    """All formats are valid, and contain the names as valid text."""
    rec = recordings.Recording(cpus=1, late=False)
    for pid, comm in enumerate(NAMES, 65):
        rec.run(0, rec.task(pid, comm))
        rec.call(0, "vfs_read")
        rec.wait(1000)
        rec.leave(0)
    case = Case(folder, "names everywhere", rec)
    texts = {pid: text for pid, text in enumerate(NAMES.values(), 65)}
    wrong = []
    for command in (["report"], ["report", "--tree"], ["report", "--json"], ["profile"],
                    ["profile", "--by-task", "--json"], ["export", "--to", "folded"],
                    ["graph", "vfs_read"], ["why", "--from"]):
        got = mctrace.run(*command, case.path).stdout
        if command[0] == "report" and "--json" not in command:
            continue            # text has the kernel's bytes
        try:
            got.decode("utf-8")
        except UnicodeDecodeError as error:
            wrong.append("%s: %s" % (" ".join(command), error))
    for command in (["report"], ["report", "--tree"]):
        wrong += compare(" ".join(command) + " --json", {
            line["pid"]: line["comm"] for line in json_lines(mctrace.text(*command, "--json", case.path))}, texts)
    wrong += compare("profile", dict.fromkeys(line["task"] for line in json_lines(
        mctrace.text("profile", "--by-task", "--json", case.path))), dict.fromkeys(texts.values()))
    lines = mctrace.text("export", "--to", "folded", case.path).splitlines()
    wrong += compare("folded", {line.rsplit(";", 1)[0]: line.rsplit(" ")[-1] for line in lines},
                     {text.replace(";", ":"): "1002" if text != "<...>" else "2004"
                      for text in texts.values()})
    events = load_json(export(mctrace, case, "json", "json"))["traceEvents"]
    wrong += compare("json", {event["tid"]: event["args"]["name"] for event in events
                              if event["ph"] == "M"}, texts)
    scope = load_json(export(mctrace, case, "speedscope", "speedscope.json"))
    wrong += compare_lists("speedscope", [profile["name"] for profile in scope["profiles"]],
                           ["%s %d" % (text, pid) for pid, text in texts.items()])
    with open(export(mctrace, case, "perfetto", "perfetto"), "rb") as file:
        data = file.read()
    wrong += ["perfetto: no '%s'" % text for text in texts.values()
              if bytes([len(text.encode())]) + text.encode() not in data]
    with open(export(mctrace, case, "trace.dat", "trace.dat"), "rb") as file:
        data = file.read()
    wrong += ["trace.dat: no '%s'" % text for pid, text in texts.items()
              if b"\n%d %s\n" % (pid, text.encode()) not in b"\n" + data and pid != 65]
    if is_there("trace-cmd"):
        got = read_by("trace-cmd", "report", "-i", case.path + ".trace.dat").splitlines()
        named = {int(found[2]): found[1] for found in
                 (re.match(r" *(.*)-(\d+) +\[\d+\]", line) for line in got) if found}
        wrong += compare("trace-cmd", named, {pid: text.strip() for pid, text in texts.items()})
    out = export(mctrace, case, "ctf", "ctf")
    if is_there("babeltrace2"):
        lines = read_by("babeltrace2", out).splitlines()
        wrong += compare("ctf", {"": len(lines)}, {"": 2 * len(texts)})
    return wrong


# --- a task that changes its name during a call, as exec() does ---

def check_renamed(mctrace, folder):
    rec = recordings.Recording(cpus=1, late=False)
    task = rec.task(65, "mctrace")
    rec.run(0, task)
    rec.call(0, "path_openat")
    rec.wait(100)
    rec.call(0, "vfs_open")
    task.comm = "ls"
    rec.rings[0].task = None
    for _ in range(2):
        rec.wait(100)
        rec.leave(0)
    rec.call(0, "kfree")
    rec.wait(50)
    rec.leave(0)
    case = Case(folder, "renamed", rec)
    wrong = []
    for name in ("mctrace", "ls"):
        events = load_json(export(mctrace, case, "json", "json", "--task", name))["traceEvents"]
        phases = [event["ph"] for event in events]
        if phases.count("B") != phases.count("E") or not phases.count("B"):
            wrong.append("--task %s: %s" % (name, phases))
    names = [event["args"]["name"] for event in load_json(export(
        mctrace, case, "json", "json"))["traceEvents"] if event.get("name") == "thread_name"]
    if names[-1] != "ls":
        wrong.append("the name at the end is %s" % names[-1])
    # The call is open when the name changes, so it belongs to both names.
    text = mctrace.text("latency", "--task", "ls", "vfs_open", case.path)
    if "1844674407" in text or "# 1 calls" not in text:
        wrong.append("latency: %s" % text)
    text = mctrace.text("latency", "--task", "mctrace", "vfs_open", case.path)
    if "1844674407" in text or "# 1 calls" not in text:
        wrong.append("latency: %s" % text)
    return wrong


# --- a few returns, by triggers, in a recording without returns ---

def check_trampoline(mctrace, folder):
    """The address at which a return probe's trampoline begins has its name, though no call precedes it."""
    rec = recordings.Recording(seed=8)
    names = rec.functions.by_name
    last = max(names[name].address + names[name].size for name in recordings.CORE if names[name].address < 0xffffffff81c00000)
    rec.functions.add("arch_rethook_trampoline", last + 0x100000, "")
    rec.functions.add("before_trampoline", last + 0xff000, "")
    trampoline = names["arch_rethook_trampoline"]
    trampoline.sites = [trampoline.address]
    rec.run(0, rec.task(9, "cat", inside=["arch_rethook_trampoline"]))
    rec.call(0, "vfs_read")
    rec.leave(0)
    path = os.path.join(folder, "trampoline.dat")
    rec.write(path)
    lines = [line for line in mctrace.text("report", path).splitlines() if " <-- " in line]
    return [] if " <-- arch_rethook_trampoline+0x0/" in lines[-1] else lines


def check_lossy(mctrace, folder):
    """Calls that are missing are no failure, but a line on standard error; report has them in its header."""
    rec = recordings.simulate(1500, 5, 2, "graph")
    rec.overwritten, rec.lost, rec.seen = 700, 30, rec.entries
    ip = rec.functions.by_name["vfs_read"].exits[0] & 0xffffffff
    rec.put(0, recordings.value_words(-2) + [recordings.other_word(recordings.MARK, ip)], 0)    # for why
    case = Case(folder, "lossy", rec)
    out = os.path.join(folder, "lossy.out")
    said = ("mctrace: of %d calls and returns 700 were overwritten and 30 lost: try --buffer-size\n" %
            (rec.entries + 730)).encode()
    wrong = []
    for command in (["report", "--tree"], ["report", "--json"], ["profile"], ["graph", "vfs_read"],
                    ["latency", "vfs_read"], ["slow", "vfs_read"], ["why", "--from"], ["flame", "-o", out],
                    *(["export", "--to", to, "-o", out] for to in
                      ("folded", "json", "perfetto", "trace.dat", "pprof", "speedscope"))):
        ran = mctrace.run(*command, case.path)
        wrong += compare_lists(" ".join(command), [ran.returncode, ran.stderr], [0, said])
    ran = mctrace.run("diff", case.path, case.path)
    wrong += compare_lists("diff", [ran.returncode, ran.stderr], [0, 2 * said])
    ran = mctrace.run("report", case.path)
    wrong += compare_lists("report", [ran.returncode, ran.stderr], [0, b""])
    if b"\n# overwritten: 700\n# lost: 30\n" not in ran.stdout:
        wrong.append("report's header: %s" % ran.stdout[:300])
    return wrong


def check_few_returns(mctrace, folder):
    wrong = []
    texts = []
    for few in (False, True):
        rec = recordings.Recording(cpus=1, mode="function", late=False)
        task = rec.task(65, "cat")
        rec.run(0, task)
        for i in range(300):
            rec.call(0, "vfs_read")
            for name in ("kfree", "dput", "mntput"):
                rec.call(0, name)
                rec.wait(40)
                task.stack.pop()
            if few and i == 1:
                ip = rec.functions.by_name["mntput"].exits[0]
                rec.put(0, [recordings.return_word(ip, 0)], 1)
            task.stack.pop()
        case = Case(folder, "few %d" % few, rec)
        texts.append([mctrace.text("report", "--tree", case.path),
                      mctrace.text("graph", "vfs_read", case.path)])
        calls = {line["function"]: line["calls"]
                 for line in json_lines(mctrace.text("profile", "--json", case.path))}
        if calls != dict.fromkeys(("vfs_read", "kfree", "dput", "mntput"), 300):
            wrong.append("profile: %s" % calls)
    trees = [len(tree.splitlines()) for tree, _ in texts]
    if abs(trees[0] - trees[1]) > 3:
        wrong.append("a tree of %d lines has %d with one return" % tuple(trees))
    if texts[0][1] != texts[1][1]:
        wrong.append("graph prints something different")
    return wrong


# --- small special cases ---

def away_and_back():
    """A task leaves CPU 0 and returns. CPU 0 records nothing meanwhile, so no word shows it."""
    rec = recordings.Recording(cpus=2, late=False)
    task = rec.task(65, "cat")
    rec.run(0, task)
    rec.call(0, "vfs_read")
    rec.run(1, task)
    rec.run(0, None)
    rec.call(1, "kfree")
    rec.wait(500)
    rec.run(1, None)
    rec.run(0, task)
    rec.call(0, "dput")
    rec.wait(100)
    rec.leave(0)
    rec.leave(0)
    rec.leave(0)
    return rec


def returns_elsewhere():
    """A call without nested calls returns on another CPU."""
    rec = recordings.Recording(cpus=2, late=False)
    task = rec.task(65, "cat")
    rec.run(0, task)
    rec.call(0, "vfs_read")
    rec.call(0, "kfree")
    rec.run(0, None)
    rec.run(1, task)
    rec.leave(1)
    rec.leave(1)
    return rec


def never_returned_before():
    """A call that never returns ends when its caller, called before the recording, returns."""
    rec = recordings.Recording(cpus=1, late=False)
    task = rec.task(65, "cat", inside=["ksys_read", "vfs_read"])
    rec.run(0, task)
    rec.call(0, "kfree")
    rec.call(0, "dput")
    rec.leave(0, frame=task.stack[1])
    rec.call(0, "vfs_write")
    rec.wait(100)
    rec.leave(0)
    return rec


def gap_elsewhere():
    """CPU 1 loses calls while the calls of a task continue on CPU 0."""
    rec = recordings.Recording(cpus=2, late=False)
    rec.run(0, rec.task(65, "cat"))
    rec.run(1, rec.task(66, "dog"))
    rec.call(0, "vfs_read")
    rec.call(0, "kfree")
    rec.call(1, "vfs_write")
    rec.lose(1)
    rec.call(1, "dput")
    rec.leave(1)
    rec.found(1, False)
    rec.call(1, "mntput")
    rec.leave(1)
    rec.leave(0)
    rec.call(0, "dput")
    rec.leave(0)
    rec.leave(0)
    return rec


def long_together():
    """The calls of a task on CPU 0 take many lines, while tasks switch on CPU 1."""
    rec = recordings.Recording(cpus=2, late=False)
    rec.run(0, rec.task(65, "cat"))
    others = [rec.task(66, "dog"), rec.task(67, "cow")]
    rec.call(0, "vfs_read")
    for i in range(5000):
        rec.call(0, "kfree")
        rec.leave(0)
        if i % 500 == 0:
            rec.run(1, others[i // 500 % 2])
            rec.call(1, "dput")
            rec.call(1, "mntput")
            rec.leave(1)
            rec.leave(1)
    rec.leave(0)
    return rec


def off_and_on():
    """Calls between traceoff and traceon are missing, so calls open before are not known after."""
    rec = recordings.Recording(cpus=1, late=False)
    rec.run(0, rec.task(65, "cat"))
    rec.call(0, "vfs_read")
    rec.call(0, "kfree")
    rec.mark(0, "kfree", recordings.MARK_OFF)
    rec.wait(1000)
    rec.mark(0, "kfree", recordings.MARK_ON)
    rec.leave(0)
    rec.call(0, "dput")
    rec.leave(0)
    rec.leave(0)
    return rec


def off_soon_elsewhere():
    """As off_and_on(), but a task on another CPU does it, and with a delay. In a tree its mark
    precedes earlier calls of the other CPU, because a task's calls are kept together."""
    rec = recordings.Recording(cpus=2, late=False)
    rec.run(0, rec.task(65, "cat"))
    rec.run(1, rec.task(66, "dog"))
    for cpu in (0, 1):
        rec.call(cpu, "vfs_read")
        rec.call(cpu, "kfree")
    rec.leave(1)
    rec.mark(0, "kfree", recordings.MARK_OFF_SOON)
    rec.leave(1)
    rec.call(1, "dput")
    rec.leave(1)
    rec.mark(1, "dput", recordings.MARK_ON)
    for _ in range(2):
        rec.leave(0)
    rec.call(0, "mntput")
    rec.leave(0)
    return rec


def cold_behind_lost():
    """The cold part of a caller returns, while its last call is open. It is not the last call's."""
    rec = recordings.Recording(cpus=1, late=False)
    task = rec.task(65, "cat")
    rec.run(0, task)
    frame = rec.call(0, "vfs_read")
    rec.call(0, "dput")
    rec.wait(100)
    rec.leave(0, frame=frame, cold=True)
    return rec


def deep():
    """As many nested calls as the kernel remembers, 128."""
    rec = recordings.Recording(cpus=1, late=False)
    rec.run(0, rec.task(65, "cat"))
    for i in range(128):
        rec.call(0, recordings.CORE[i % len(recordings.CORE)])
    for i in range(128):
        rec.wait(10)
        rec.leave(0)
    return rec


def zero_time():
    """Calls that took no time by the clock."""
    rec = recordings.Recording(cpus=1, late=False)
    rec.run(0, rec.task(65, "cat"))
    rec.call(0, "vfs_read")
    rec.call(0, "dput")
    rec.now -= 2
    rec.leave(0)
    rec.now -= 2
    rec.leave(0)
    rec.now -= 2
    rec.call(0, "vfs_read")
    rec.now -= 2
    rec.leave(0)
    return rec


def slow_recursion():
    """Only the slowest call of a function calls itself, by several call paths."""
    rec = recordings.Recording(cpus=1, late=False)
    rec.run(0, rec.task(65, "cat"))
    for i in range(20):
        rec.call(0, "vfs_read")
        for name in recordings.CORE[20:40]:
            rec.call(0, name)
            rec.wait(10)
            rec.leave(0)
        for name in recordings.CORE[2:12] if i == 10 else []:
            rec.call(0, name)
            rec.call(0, "vfs_read")
            rec.wait(10000)
            rec.leave(0)
            rec.leave(0)
        rec.leave(0)
    return rec


SMALL_CASES = [away_and_back, returns_elsewhere, never_returned_before, gap_elsewhere,
               long_together, off_and_on, cold_behind_lost, deep, zero_time, slow_recursion]


# --- the recordings of each check ---

def simulated(folder, seeds):
    """Return plain recordings, recordings with all features, and recordings without returns."""
    plain, full, function = [], [], []
    for seed in range(1, seeds + 1):
        plain.append(Case(folder, "calm %d" % seed, recordings.simulate(
            2000, 300 + seed, cpus=1 + seed % 4, away=False, exits=False)))
        plain.append(Case(folder, "plain %d" % seed,
                          recordings.simulate(3000, seed, cpus=1 + seed % 4)))
        full.append(Case(folder, "full %d" % seed, recordings.simulate(
            3000, 100 + seed, cpus=1 + seed % 4, notes=[65536, 8192][seed % 2], gaps=True,
            marks=True, extras=True, context=seed % 3 == 0, hidden=seed % 5,
            first=[0, (1 << 54) - 2 * 65536][seed % 2],
            clock_offset=[0, 1234567890, -500000][seed % 3])))
        function.append(Case(folder, "function %d" % seed, recordings.simulate(
            2000, 200 + seed, mode="function", context=seed % 2 == 0, gaps=seed % 2 == 0)))
    return plain, full, function


# The command, the name of the test, the check, the sets of recordings, and the program it needs.
CHECKS = [
    ("report", "report", check_report, "plain full function small", None),
    ("report", "report --tree", check_tree, "plain full small", None),
    ("report", "report --tree --clock", check_tree_times, "plain full small", None),
    ("report", "report --tree --lines", check_tree_lines, "plain", None),
    ("report", "report --tree without returns", check_function_tree, "function", None),
    ("report", "report --json", lines.check_report_json, "plain full function small", None),
    ("report", "selected parts", selection.check_selection, "plain", None),
    ("graph", "selected parts of graph, latency, slow and folded", selection.check_commands, "plain", None),
    ("report", "report --tree --json", lines.check_tree_json, "plain full small", None),
    ("profile", "profile", check_profile, "plain full function small", None),
    ("latency", "latency", check_latency, "plain full", None),
    ("graph", "graph", ways.check_graph, "plain full small", None),
    ("slow", "slow", ways.check_slow, "plain full small", None),
    ("export", "export --to folded", check_folded, "plain full small", None),
    ("export", "export --to json", check_chrome, "plain full small", None),
    ("export", "export --to speedscope", check_speedscope, "plain full small", None),
    ("export", "export --to trace.dat", check_trace_cmd, "plain function", "trace-cmd"),
    ("export", "export --to trace.dat, libkshark", check_kshark, "plain function", "libkshark.so.2"),
    ("export", "export --to perfetto", check_perfetto, "plain full function small", None),
    ("export", "export --to uftrace", check_uftrace, "plain", "uftrace"),
    ("export", "export --to ctf", check_ctf, "plain function", "babeltrace2"),
]


TODO = {
    "cold behind lost": "a cold part is taken for the last call's, as in the kernel",
}


def is_there(program):
    """Return something true if this machine has a program, or a library."""
    if ".so." not in program:
        return shutil.which(program)
    try:
        return ctypes.CDLL(program)
    except OSError:
        return None


def run_check(tap, mctrace, name, check, case):
    attempt(tap, "%s: %s" % (name, case.name), TODO.get(case.name), check, mctrace, case)


def test_truth(tap, mctrace, folder, cases):
    run_check(tap, mctrace, "the truth agrees with the one worked out by hand", check_small,
              Case(folder, "by hand", small_recording()))
    for case in cases:
        run_check(tap, mctrace, "another decoder finds the truth", check_decoder, case)


def test_commands(tap, mctrace, sets):
    for command, name, check, which, program in CHECKS:
        for case in [case for one in which.split() for case in sets[one]]:
            if not mctrace.has(command):
                tap.skip("%s: %s" % (name, case.name), "no command '%s'" % command)
            elif program and not is_there(program):
                tap.skip("%s: %s" % (name, case.name), "no " + program)
            else:
                run_check(tap, mctrace, name, check, case)


def test_diff(tap, mctrace, folder, plain, full, function):
    for first, second in ((plain[0], plain[2]), (plain[1], plain[3]), (full[0], full[1])):
        for options in ([], ["-I"]):
            attempt(tap, "diff %s: %s, %s" % (" ".join(options), first.name, second.name), None,
                    ways.check_diff, mctrace, first, second, *options)
    attempt(tap, "diff of selected parts", None, selection.check_selected_diff, mctrace, plain[0], plain[1])
    attempt(tap, "diff -I: without returns", None, ways.check_diff_without_returns, mctrace,
            *function[:2])
    attempt(tap, "diff: a timer is no difference", None, ways.check_timer, mctrace,
            Case(folder, "quiet", ways.warm_recording(False, False)),
            Case(folder, "timer", ways.warm_recording(True, False)),
            Case(folder, "opened", ways.warm_recording(False, True)))


def test_changed(tap, mctrace, folder):
    """Estimated times, arguments, calls that are lost, names of functions that change."""
    attempt(tap, "report: estimated times", None, lines.check_estimated, mctrace,
            Case(folder, "estimated", lines.estimated_recording()))
    attempt(tap, "graph: the longest is first", None, ways.check_graph_order, mctrace,
            Case(folder, "order", ways.order_recording()))
    attempt(tap, "graph: memory by the size of the file", None, ways.check_graph_memory, mctrace, folder)
    case = Case(folder, "arguments", arguments.recording())
    for name, check in (("report", arguments.check_text), ("report --json", arguments.check_json),
                        ("report --btf", arguments.check_names)):
        attempt(tap, "%s: arguments" % name, None, check, mctrace, case)
    attempt(tap, "report: strings that arguments point to", None, arguments.check_strings, mctrace,
            folder)
    case = Case(folder, "off soon elsewhere", off_soon_elsewhere())
    for name, check in (("report", check_report), ("report --json", lines.check_report_json),
                        ("report --tree --json", lines.check_tree_json),
                        ("profile", check_profile), ("graph", ways.check_graph),
                        ("export --to folded", check_folded)):
        run_check(tap, mctrace, name, check, case)
    attempt(tap, "functions of one name in two modules", None, modules.check_twins, mctrace,
            Case(folder, "twins", modules.twins_recording()))
    attempt(tap, "functions of one name in two modules: text, other programs", None, modules.check_twins_text, mctrace,
            folder)
    attempt(tap, "exports have the latest names of addresses", None, modules.check_latest, mctrace, folder)
    attempt(tap, "many symbol tables", None, modules.check_many_tables, mctrace, folder)
    attempt(tap, "names: time by the number of addresses", None, modules.check_look_ups, mctrace, folder)
    attempt(tap, "functions without a name", None, modules.check_nameless, mctrace,
            Case(folder, "nameless", modules.nameless_recording(["lost_a", "lost_b", "lost_c"])))
    attempt(tap, "modules between two symbol tables", None, modules.check_counted, mctrace,
            Case(folder, "counted", modules.counted_recording()))
    case = Case(folder, "modules that change", modules.changed_recording())
    for name, check in (("report, profile", modules.check_modules), ("report", check_report),
                        ("report --json", lines.check_report_json),
                        ("report --tree", check_tree), ("profile", check_profile),
                        ("latency", check_latency), ("graph", ways.check_graph),
                        ("slow", ways.check_slow), ("export --to folded", check_folded),
                        ("export --to json", check_chrome),
                        ("export --to speedscope", check_speedscope),
                        ("export --to perfetto", check_perfetto)):
        run_check(tap, mctrace, name, check, case)


def test_packets(tap, mctrace, folder, growing):
    name = "packet: a growing recording"
    if growing:
        attempt(tap, name, None, packets.check_growing, mctrace, folder, os.path.abspath(growing))
        attempt(tap, "packet: the disk that a growing recording takes", None, packets.check_dropped, mctrace, folder,
                os.path.abspath(growing))
    else:
        tap.skip(name, "no --growing")
    libraries = [line.split()[0] for line in mctrace.text("--version").splitlines()]
    for name, check, missing in packets.tests(libraries):
        if missing:
            tap.skip(name, missing)
        else:
            attempt(tap, name, None, check, mctrace, folder)


def test_people(tap, mctrace, folder):
    def test(name, check):
        attempt(tap, name, None, check, mctrace, folder)

    test("missing calls are reported", terminal.check_missing)
    test("missed returns are reported", terminal.check_missed)
    test("missing calls are reported: each kind of gap", terminal.check_gaps)
    test("missing calls are reported: counts that differ", terminal.check_counts_that_differ)
    test("typing errors", terminal.check_slips)
    test("a pager and colours only on a terminal", terminal.check_terminal)
    test("colours", terminal.check_colours)
    test("mctrace waits for its pager", terminal.check_pager_waited_for)
    test("man pages have the options of --help", options.check_pages)
    test("man pages have the usage of --help", options.check_synopsis)
    test("the man page of triggers has what the kernel parses", options.check_triggers)
    test("a letter means the same in all commands", options.check_letters)
    test("old and foreign options name the option to use", options.check_instead)
    test("options may stand anywhere", options.check_order)
    test("wrong options and arguments", options.check_wrong)
    test("--lines prints the first lines", options.check_first)
    test("lines are as wide as the terminal", options.check_width)
    test("--lines of graph", selection.check_lines_of_graph)
    test("selections that match nothing", selection.check_missing)
    test("long and numeric names of tasks", selection.check_names_of_tasks)
    test("many names of tasks", selection.check_many_names)
    test("a selected depth includes the time of deeper calls", selection.check_depth_of_stacks)
    test("diff with a selection that only one recording has", selection.check_diff)


def test_all(tap, mctrace, folder, seeds, growing):
    plain, full, function = simulated(folder, seeds)
    small = [Case(folder, make.__name__.replace("_", " "), make())
             for make in [small_recording] + SMALL_CASES]
    test_truth(tap, mctrace, folder, plain + full + function)
    test_commands(tap, mctrace,
                  {"plain": plain, "full": full, "function": function, "small": small})
    test_diff(tap, mctrace, folder, plain, full, function)
    test_changed(tap, mctrace, folder)
    test_packets(tap, mctrace, folder, growing)
    test_people(tap, mctrace, folder)
    if mctrace.has("export") and mctrace.has("profile"):
        attempt(tap, "names that need quoting", None, check_names, mctrace, folder)
        attempt(tap, "names that are not valid text", None, check_picture_of_names, mctrace, folder)
        attempt(tap, "a name that changes during a call", None, check_renamed, mctrace, folder)
        attempt(tap, "time on and off a CPU", None, times.check_sleeping, mctrace, folder)
        attempt(tap, "exec() changes the name of a task", None, times.check_exec, mctrace,
                folder)
        attempt(tap, "a pid is reused", None, times.check_reused, mctrace, folder)
        attempt(tap, "a task sleeps while it ends", None, times.check_still_ending, mctrace, folder)
        attempt(tap, "names in all formats", None, check_names_everywhere, mctrace, folder)
        attempt(tap, "a return address that a return probe replaced", None, check_trampoline, mctrace, folder)
        attempt(tap, "a recording with missing calls", None, check_lossy, mctrace, folder)
        attempt(tap, "a recording with only one return", None, check_few_returns, mctrace, folder)
        for name, check in failing.tests():
            attempt(tap, "why: " + name, None, check, mctrace, folder)
    else:
        tap.skip("names that need quoting", "no command 'export'")
    bad_case(folder)            # a good file, for diff
    attempt(tap, "good files: no command crashes", None, check_good, mctrace,
            plain + full + function + small)
    test_bad_files(tap, mctrace, folder)
    test_compressed(tap, mctrace, folder)
    sources.test(tap, attempt, mctrace, folder, has_zstd(mctrace))
    decoded.test(tap, attempt, mctrace, folder, has_zstd(mctrace))
    merging.test(tap, attempt, mctrace, folder)
    schema.test(tap, attempt, mctrace.schema)


def main():
    parser = argparse.ArgumentParser(description="Test mctrace on simulated recordings.")
    parser.add_argument("--sanitized", help="an mctrace built with -fsanitize=address,undefined")
    parser.add_argument("--growing", help="an mctrace linked with growing.c")
    parser.add_argument("--header", help="include/uapi/linux/mctracer.h, to compare constants")
    parser.add_argument("--errors", help="include/linux/errno.h, to compare names of errors")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--sparse", type=int, default=1, help="try each SPARSE-th cut or bit")
    parser.add_argument("--keep", help="write the recordings to this folder, and keep them")
    parser.add_argument("mctrace")
    args = parser.parse_args()
    global sparse
    sparse = args.sparse
    mctrace = Mctrace(args.mctrace, args.sanitized)
    tap = Tap()
    if args.header:
        attempt(tap, "constants of words match the header", None, check_header, args.header)
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.keep or temporary
        os.makedirs(folder, exist_ok=True)
        if args.errors:
            attempt(tap, "names of errors match the header", None, failing.check_header, mctrace, folder, args.errors)
        test_all(tap, mctrace, folder, args.seeds, args.growing)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())
