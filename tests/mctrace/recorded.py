#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# Compare a recording that a kernel made with that kernel's own text: mctrace's output, and what other
# programs read from its exports. Prints the differences.
#
#     recorded.py MCTRACE RECORDING TEXT CHECK
import collections
import os
import re
import sys

import answers
import decoder
import harness

CALLER = re.compile(r" <-- (\S+?)(?:\+0x\S+(?: \[\w+\])?)?$")
SYSCALL = "__x64_sys_openat"            # for uftrace graph: the command opens a file


class Recorded(answers.Case):
    """A recording, and its truth from the kernel's text, in the form of a simulated one's truth.
    Tasks are identified by pid, because a task changes its name in execve()."""
    def __init__(self, path, text):
        self.path = self.name = path
        with open(text, encoding="utf-8", errors="surrogateescape") as file:
            self.text = file.read()
        events, others = answers.parse_report(self.text)
        others = dict(re.fullmatch(r"# (\w+): (\w+)", line).groups() for line in others)
        self.callers = [found[1] for found in map(CALLER.search, self.text.splitlines()) if found]
        self.took = [event[-1] for event in events]
        self.truth = {
            "mode": others.pop("mode"),
            "counts": {key: int(value) for key, value in others.items()},
            "events": list(decoder.match(self.decoded(events))),
            "functions": {},
        }
        for _, _, what, name, _, _, took in self.truth["events"]:
            one = self.truth["functions"].setdefault(name, {"calls": 0, "durations": []})
            one["calls"] += what == "enter"
            if took is not None:
                one["durations"].append(took)
        for one in self.truth["functions"].values():
            one["completed"] = len(one["durations"])

    def decoded(self, events):
        """Yield the events of the text as decoder.py reads them from a recording."""
        callers = iter(self.callers)
        for task, what, name, ns, cpu, _ in events:
            event = decoder.Event(cpu, what)
            event.ns, event.task, event.name = ns, (int(task.rsplit(":", 1)[1]), 0, b"pid"), (name, decoder.KERNEL)
            event.caller = (next(callers), decoder.KERNEL) if what == "enter" else None
            yield event

    def entered(self):
        """Yield (cpu, ns, pid, function, caller) of each call."""
        calls = [event for event in self.truth["events"] if event[2] == "enter"]
        for (task, _, _, name, ns, cpu, _), caller in zip(calls, self.callers, strict=True):
            yield cpu, ns, int(task.split(":")[1]), name, caller


def check_text(mctrace, case):
    """The text is long enough and complete, its durations are right, and mctrace prints the same."""
    events = case.truth["events"]
    wrong = answers.compare("count", case.truth["counts"], {
        "entries": len(events), "written": len(events), "overwritten": 0, "lost": 0})
    if len(events) < 1000:
        wrong.append("there are %d events" % len(events))
    wrong += answers.compare_lists("event: took", case.took, [event[-1] for event in events])
    if case.text != mctrace.text("report", case.path):
        wrong += answers.compare_lists("line", mctrace.text("report", case.path).splitlines(),
                                       case.text.splitlines()) or ["ends of lines"]
    return wrong


def by_cpu(calls):
    cpus = {}
    for cpu, *call in calls:
        cpus.setdefault(cpu, []).append(call)
    return cpus


def compare_cpus(got, case):
    """Compare the calls on each CPU, in order; without the callers if there are returns."""
    wanted = list(case.entered())
    if case.truth["mode"] == "graph":
        wanted = [call[:-1] for call in wanted]
    got, wanted = by_cpu(got), by_cpu(wanted)
    wrong = []
    for cpu in sorted(set(got) | set(wanted)):
        wrong += answers.compare_lists("CPU %d: call" % cpu, got.get(cpu, []), wanted.get(cpu, []))
    return wrong


def names(text):
    """Return the names in "function <-- caller", or in "+ 15.223 us |  function();"."""
    return [re.split(r"[ (]", name)[0] for name in text.split("|")[-1].strip().split(" <-- ")]


TRACE_CMD_LINE = re.compile(r".*-(\d+) +\[(\d+)\].* (\d+)\.(\d{9}): +(\w+): *(.*)$")


def check_trace_cmd(mctrace, case):
    out = answers.export(mctrace, case, "trace.dat", "trace.dat")
    lines = answers.read_by("trace-cmd", "report", "-t", "-O", "ftrace:parent",
                            "-O", "ftrace:indent=0", "-i", out).splitlines()
    found = [TRACE_CMD_LINE.match(line) for line in lines]
    wrong = answers.compare_lists("line that is no event", [
        line for line, this in zip(lines, found) if not this], ["cpus=2"])
    found = [this.groups() for this in found if this]
    return wrong + compare_cpus([
        (int(cpu), int(seconds + ns), int(pid), *names(info))
        for pid, cpu, seconds, ns, event, info in found if event != "funcgraph_exit"], case)


KSHARK_LINE = re.compile(r"(\d+) (\d+) (\d+) .* ftrace/(\w+) (.*)$")


def check_kshark(mctrace, case):
    out = answers.export(mctrace, case, "trace.dat", "trace.dat")
    helper = os.path.join(os.path.dirname(__file__), "kshark.py")
    found = [KSHARK_LINE.match(line) for line in answers.read_by(helper, out).splitlines()]
    if not all(found):
        return ["an event is not ftrace's"]
    return compare_cpus([
        (int(cpu), int(ns), int(pid), *names(info))
        for ns, cpu, pid, event, info in (this.groups() for this in found)
        if event != "funcgraph_exit"], case)


class ByPid:
    """A mctrace whose output identifies tasks by pid."""
    def __init__(self, mctrace):
        self.mctrace = mctrace

    def text(self, *arguments):
        return re.sub(r"(?m)^(CPU \d+: ).*:(\d+)$", r"\1pid:\2", self.mctrace.text(*arguments))


def check_tree(mctrace, case):
    """Each "{" has its "}", except for calls without a return in the kernel's text."""
    mctrace = ByPid(mctrace)
    if case.truth["mode"] == "function":
        return answers.check_function_tree(mctrace, case)
    wrong = answers.check_tree(mctrace, case)
    last = {}
    for task, depth, what, name, *_ in case.truth["events"]:
        stack = last.setdefault(task, [])
        stack[depth:] = [name] if what == "enter" else []
    tree = answers.Tree(mctrace.text("report", "--tree", case.path))
    return wrong + answers.compare("open in", tree.stacks, last)


def check_json(mctrace, case):
    """Without returns, each call is an instant event."""
    if case.truth["mode"] == "graph":
        return answers.check_chrome(mctrace, case)
    events = answers.load_json(answers.export(mctrace, case, "json", "json"))["traceEvents"]
    return answers.compare_lists(
        "call", [[event["tid"], event["name"], answers.to_ns(event["ts"]),
                  event["args"]["caller"].split("+")[0]] for event in events if event["ph"] == "i"],
        [[pid, name, ns, caller] for _, ns, pid, name, caller in case.entered()])


def own_times(spans):
    """Return (function, own ns) of each call that has returned: without nested calls."""
    own, stack = [], []
    for name, begin, end, cut in sorted(spans, key=lambda span: (span[1], -span[2])):
        while stack and own[stack[-1]][2] <= begin:
            stack.pop()
        if stack:
            own[stack[-1]][1] -= end - begin
        stack.append(len(own))
        own.append([name, end - begin, end, cut])
    return [(name, ns) for name, ns, _, cut in own if not cut]


def check_folded(mctrace, case):
    """Without returns, numbers are calls; with returns, own times, as in the spans of the JSON."""
    got = collections.Counter()
    for line in mctrace.text("export", "--to", "folded", case.path).splitlines():
        stack, number = line.rsplit(" ", 1)
        names = stack.split(";")
        if names[-1] == "[off CPU]":        # belongs to the call above
            names.pop()
        got[names[-1]] += int(number)
    if case.truth["mode"] == "function":
        return answers.compare("calls of", got, {
            name: one["calls"] for name, one in case.truth["functions"].items()})
    events = answers.load_json(answers.export(mctrace, case, "json", "json"))["traceEvents"]
    wanted = collections.Counter()
    for spans in answers.chrome_calls(events)[0].values():
        for name, ns in own_times(spans):
            wanted[name] += ns
    return answers.compare("time of", got, +wanted)


def compare_tasks(got, case):
    """Compare the calls of each pid in @got, lists of (enters, ns, function): order, times, durations.
    The caller has checked which call an end belongs to; calls without a return end somewhere, too."""
    wanted, wrong, took = {}, [], collections.Counter()
    for _, ns, pid, name, _ in case.entered():
        wanted.setdefault(pid, []).append([ns, name])
    for pid in sorted(set(got) | set(wanted)):
        events, stack = got.get(pid, []), []
        for enters, ns, name in events:
            if enters:
                stack.append(ns)
            else:
                took[name, ns - stack.pop()] += 1
        wrong += answers.compare_lists("pid %d: call" % pid, [
            [ns, name] for enters, ns, name in events if enters], wanted.get(pid, []))
    return wrong + ["there is no call that took %s" % (call,)
                    for call in answers.wanted_durations(case) - took]


UFTRACE_DUMP = re.compile(r"(?m)^(\d+)\.(\d{9}) +(\d+): \[(entry|exit )\] (\S+)\(")


def check_uftrace(mctrace, case):
    """Besides counts, check all times, and that uftrace graph finds a system call and its callees."""
    wrong = answers.check_uftrace(mctrace, case)
    out = case.path + ".uftrace"
    got = {}
    for seconds, ns, pid, what, name in UFTRACE_DUMP.findall(
            answers.read_by("uftrace", "dump", "--no-pager", "-d", out)):
        got.setdefault(int(pid), []).append((what == "entry", int(seconds + ns), name))
    graph = answers.read_by("uftrace", "graph", "--no-pager", "-d", out, SYSCALL)
    found = re.findall(r"\(\d+\) (\S+)$", graph, re.M)
    called = {name for *_, name, caller in case.entered() if caller == SYSCALL}
    return wrong + compare_tasks(got, case) + [
        "%s is not in the graph of %s" % (name, SYSCALL)
        for name in [SYSCALL, *called] if name not in found or not called]


def check_speedscope(mctrace, case):
    """Several frames may have the same name, because functions of the kernel do."""
    wrong = [what for what in answers.check_speedscope(mctrace, case)
             if not what.startswith("frame ")]
    scope = answers.load_json(case.path + ".speedscope.json")
    frames = [frame["name"] for frame in scope["shared"]["frames"]]
    return wrong + compare_tasks({int(profile["name"].rsplit(" ", 1)[1]): [
        (event["type"] == "O", event["at"], frames[event["frame"]])
        for event in profile["events"]] for profile in scope["profiles"]}, case)


CHECKS = {
    "report": check_text,
    "tree": check_tree,
    "trace-cmd": check_trace_cmd,
    "libkshark": check_kshark,
    "uftrace": check_uftrace,
    "babeltrace2": answers.check_ctf,
    "perfetto": answers.check_perfetto,
    "json": check_json,
    "folded": check_folded,
    "speedscope": check_speedscope,
}


def main():
    if len(sys.argv) != 5 or sys.argv[4] not in CHECKS:
        sys.exit("usage: recorded.py MCTRACE RECORDING TEXT " + "|".join(CHECKS))
    program, recording, text, check = sys.argv[1:]
    try:
        differences = CHECKS[check](answers.Mctrace(program, None), Recorded(recording, text))
    except (answers.Wrong, OSError, ValueError, KeyError, IndexError) as error:
        differences = ["%s: %s" % (type(error).__name__, error)]
    for line in differences[:harness.SHOWN]:
        print(line)
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
