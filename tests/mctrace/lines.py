# SPDX-License-Identifier: GPL-2.0
# Test mctrace report --json against the truth, and report's text against its JSON.
import collections
import re

import recordings
from harness import compare, compare_lists, json_lines
from ways import calls_of


def name_of(text):
    """Return the function's name in "vfs_read+0x5/0x270 [ext4]"."""
    return text.split("+")[0].replace(".cold", "")


# --- the text from the JSON ---

def result_of(value):
    value &= (1 << 64) - 1
    if value >> 32 and value < 0xffffffffff000000:
        return " %#x" % value
    return " %d" % ((value & 0xffffffff ^ 1 << 31) - (1 << 31))


def outcome_of(line):
    text = ""
    if "result" in line:
        text += result_of(line["result"])
    if "took_ns" in line:
        text += " after %s%d ns" % ("~" if line.get("estimated") else "", line["took_ns"])
    elif line["event"] == "return" and "result" not in line:
        text += ", called before"
    return text


def text_of(line):
    """Return the line as report prints it, without the context and the place that it returns to."""
    if line["event"] == "lost":
        return "# lost %d" % line["calls"]
    if line["event"] == "frame":
        return "    -- " + line["caller"]
    time = "[%d.%09d] " % divmod(line["ns"], 1000000000)
    who = "CPU %d: %s:%d %s" % (line["cpu"], line["comm"], line["pid"], line["function"])
    if line["event"] == "mark":
        return "# %s %s%s" % (line["mark"], time, who)
    if line["event"] == "call":
        return "%s%s <-- %s" % (time, who, line["caller"])
    return time + who + (" goes on" if line["tail"] else " returns") + outcome_of(line)


HEADER_LINE = re.compile(r"# (mode|entries|written|overwritten|lost): ")


def text_lines(text):
    for line in text.splitlines():
        if not HEADER_LINE.match(line):
            line = re.sub(r"^(\[~?\d+\.\d+\] )[-.d][-.npN][-.zZhHs][-.0-9a-f] ", r"\1", line)
            yield line.split(" --> ")[0]


# --- the truth ---

def said_of(line):
    """Return an event in the form of wanted_of(): of the truth without the depth; and the caller."""
    return [[line["comm"] + ":" + str(line["pid"]),
             "enter" if line["event"] == "call" else "leave", name_of(line["function"]),
             line["ns"], line["cpu"], line.get("took_ns")],
            name_of(line["caller"]) if line["event"] == "call" else None]


def wanted_of(case):
    callers = iter(case.truth["callers"])
    for event in case.truth["events"]:
        yield [[event[0], *event[2:]], next(callers) if event[2] == "enter" else None]


def of_task(lines, wanted):
    """Yield the lines of one task and lost calls. Frames belong to the task of the call before."""
    shown = False
    for line in lines:
        if line["event"] != "frame":
            shown = line["event"] == "lost" or wanted in (line["comm"], str(line["pid"]))
        if shown:
            yield line


def tasks_to_ask(case):
    """Return the name of the busiest task, which others may share; and the pid of the next one."""
    tasks = collections.Counter(event[0] for event in case.truth["events"])
    busy = [task.rsplit(":", 1) for task, _ in tasks.most_common(3)]
    return [busy[0][0]] + [pid for _, pid in busy[1:] if pid != "0"][:1]


def check_report_json(mctrace, case):
    lines = json_lines(mctrace.text("report", "--json", case.path))
    events = [line for line in lines if line["event"] in ("call", "return")]
    wrong = compare_lists("event", [said_of(line) for line in events], list(wanted_of(case)))
    wrong += ["no time is estimated: %s" % line for line in events
              if not line["exact"] or line.get("estimated")]
    wrong += compare_lists("line", list(text_lines(mctrace.text("report", case.path))),
                           [text_of(line) for line in lines])
    for task in tasks_to_ask(case):
        mine = list(of_task(lines, task))
        wrong += compare_lists("--task %s: event" % task, json_lines(
            mctrace.text("report", "--json", "--task", task, case.path)), mine)
        wrong += compare_lists("--task %s: line" % task, list(text_lines(
            mctrace.text("report", "--task", task, case.path))), [text_of(one) for one in mine])
    return wrong


# --- trees ---

def call_said(line):
    return (line["comm"] + ":" + str(line["pid"]), line["depth"], line["ns"],
            name_of(line["function"]), name_of(line["caller"]), line.get("took_ns"),
            line.get("self_ns"))


def check_tree_json(mctrace, case):
    """The tree has each call once, when it has ended."""
    calls = collections.Counter(
        (call.task, call.depth, call.ns, call.name, call.caller, call.took, call.own)
        for call in calls_of(case))
    wrong = []
    for task in [None] + tasks_to_ask(case):
        options = ["--task", task] if task else []
        lines = json_lines(mctrace.text("report", "--tree", "--json", *options, case.path))
        wrong += ["no time is estimated: %s" % line for line in lines if line.get("estimated")]
        wrong += compare("call", collections.Counter(call_said(line) for line in lines), {
            call: nr for call, nr in calls.items()
            if task is None or task in call[0].rsplit(":", 1)})
    return wrong


# --- times that were not recorded ---

def estimated_recording():
    """Calls without a time word are spaced evenly, by 100 ns here. A time word gives the exact time
    of the next call only if the call before has one, too; else that time is estimated."""
    rec = recordings.Recording(cpus=1, late=False, now=0)
    ring = rec.rings[0]
    rec.run(0, rec.task(65, "cat"))
    for name, timed in (("vfs_read", True), ("kfree", False), (None, False), (None, True),
                        ("dput", True), (None, True), ("vfs_open", False), ("mntput", True),
                        (None, True), (None, True)):
        ring.times = timed
        if name:
            rec.call(0, name)
        else:
            rec.leave(0)
        rec.wait(98)
    return rec


ESTIMATED = [   # event, function, exact, duration, estimated
    ("call", "vfs_read", True, None, None), ("call", "kfree", False, None, None),
    ("return", "kfree", False, 100, True), ("return", "vfs_read", False, 300, True),
    ("call", "dput", True, None, None), ("return", "dput", True, 100, False),
    ("call", "vfs_open", False, None, None), ("call", "mntput", False, None, None),
    ("return", "mntput", True, 100, True), ("return", "vfs_open", True, 300, True),
]


def check_estimated(mctrace, case):
    lines = json_lines(mctrace.text("report", "--json", case.path))
    got = [(line["event"], name_of(line["function"]), line["exact"], line.get("took_ns"),
            line.get("estimated")) for line in lines]
    wrong = compare_lists("event", got, ESTIMATED)
    wrong += compare_lists("line", list(text_lines(mctrace.text("report", case.path))),
                           [text_of(line) for line in lines])
    tree = json_lines(mctrace.text("report", "--tree", "--json", case.path))
    wrong += compare_lists("call", [(name_of(line["function"]), line["took_ns"],
                                     line["estimated"]) for line in tree],
                           [(one[1], *one[3:]) for one in ESTIMATED if one[0] == "return"])
    timed = re.findall(r"^\[(.)(\d+)\.(\d{9})\] .*\|  (?! *(?:/\*|kfree|dput|mntput))", mctrace.text(
        "report", "--tree", "--clock", case.path), re.M)
    wrong += compare_lists("time", [(mark == " ", int(s + ns)) for mark, s, ns in timed],
                           [(line["exact"], line["ns"]) for line in lines
                            if name_of(line["function"]) not in ("kfree", "dput", "mntput")])
    text = mctrace.text("report", "--tree", case.path)
    return wrong + compare_lists("duration", re.findall(r"(~?0\.[13]00 us .*)$", text, re.M), [
        "~0.100 us  |    kfree();", "~0.300 us  |  } vfs_read", "0.100 us  |  dput();",
        "~0.100 us  |    mntput();", "~0.300 us  |  } vfs_open"])
