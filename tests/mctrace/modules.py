# SPDX-License-Identifier: GPL-2.0
# Names of modules that come and go while it is recorded: there are several tables of symbols then.
import collections

import recordings
from harness import compare, compare_lists, json_lines

OLD = ["old_open", "old_read"]
NEW = ["new_open", "new_read"]
BETWEEN = ["between_open", "between_read"]
GONE = ["gone_open"]


def call_each(rec, names):
    for name in names:
        rec.call(0, name)
        rec.call(0, "kfree")
        rec.wait(100)
        rec.leave(0)
        rec.leave(0)


def changed_recording():
    """Where the module old was there is new then, with functions of the same sizes. Between comes
    before it is looked again, and stays. Gone is called once more behind that."""
    rec = recordings.Recording(cpus=1, late=False)
    functions, rng = rec.functions, rec.rng
    begin, state = recordings.MODULES_BEGIN + (1 << 20), rng.getstate()
    end = functions.load("gone", GONE, functions.load("old", OLD, begin))
    rec.run(0, rec.task(65, "cat"))
    rec.look()
    rec.call(0, "vfs_read")
    call_each(rec, OLD + GONE)
    functions.load("between", BETWEEN, end)
    call_each(rec, BETWEEN)
    functions.unload("old")
    functions.unload("gone")
    rng.setstate(state)
    functions.load("new", NEW, begin)
    rec.look()
    call_each(rec, BETWEEN + NEW + GONE)
    rec.leave(0)
    return rec


def check_modules(mctrace, case):
    """Each call with its module."""
    lines = json_lines(mctrace.text("report", "--json", case.path))
    wanted = []
    for names in (OLD + GONE + BETWEEN, BETWEEN + NEW + GONE):
        for name in names:
            wanted += [("call", name), ("return", name)]
    got = [(line["event"], line["function"].split("+")[0], line["function"].rsplit(" ")[-1])
           for line in lines if line["function"].endswith("]")]
    wrong = compare_lists("event", got, [(what, name, "[%s]" % name.split("_")[0])
                                         for what, name in wanted])
    callers = [line["caller"].split("+")[0] for line in lines
               if line["event"] == "call" and line["function"].startswith("kfree+")]
    wrong += compare_lists("caller", callers, [name for what, name in wanted if what == "call"])
    profile = collections.Counter()
    for line in json_lines(mctrace.text("profile", "--json", case.path)):
        profile[line["function"]] += line["calls"]
    return wrong + compare("calls", profile, collections.Counter(case.calls()))
