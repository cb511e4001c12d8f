# SPDX-License-Identifier: GPL-2.0
# Test mctrace graph, slow and diff on recordings whose truth is known.
import collections
import os
import re

import recordings
from harness import Case, Wrong, compare, compare_lists, duration, json_lines, peak, plain, steps_of

ALL = "1000000"         # for --lines


class Call:
    """A recorded call, with the open calls around it. Calls that are not @shown do not count."""
    def __init__(self, above, caller, event, off, shown):
        self.task, self.depth, _, self.name, self.ns, self.cpu, _ = event
        self.caller = caller
        self.shown = shown
        self.names = (above.names if above else ()) + ((self.name,) if shown else ())
        self.first = above.first if above and above.first else self if shown else None  # the outermost
        self.below = 0          # ns of nested calls
        self.off, self.off_below = off, 0       # the task's ns off the CPU: before; in nested calls
        self.took = self.own = self.cpu = self.own_cpu = None
        mine = self.name in recordings.INTERRUPTS or caller in recordings.INTERRUPTS
        self.interrupt = (mine and shown) or (above is not None and above.interrupt)


def calls_of(case, chosen=None):
    """Return all calls in the order of their beginnings; or those whose numbers, from 0, are in @chosen."""
    calls, stacks = [], {}
    callers = iter(case.truth["callers"])
    for event, off in zip(case.truth["events"], case.truth["offs"]):
        task, depth, what, _, ns, _, took = event
        stack = stacks.setdefault(task, [])
        if what == "enter":
            del stack[depth:]
            stack.append(Call(stack[-1] if stack else None, next(callers), event, off,
                              chosen is None or len(calls) in chosen))
            calls.append(stack[-1])
        elif took is None:
            stack.clear()
        else:
            close(stack, depth, ns, off)
    return [call for call in calls if call.shown]


def close(stack, depth, ns, off):
    while len(stack) > depth + 1:
        gone = stack.pop()
        stack[-1].below += gone.below
        stack[-1].off_below += gone.off_below
    call = stack.pop()
    call.took = ns - call.ns
    call.own = call.took - call.below
    call.cpu = call.took - (off - call.off)
    call.own_cpu = call.own - (off - call.off - call.off_below)
    if stack:
        stack[-1].below += call.took if call.shown else call.below
        stack[-1].off_below += off - call.off if call.shown else call.off_below


def within(call, function):
    """Return the call path from the outermost call of @function on; () if there is none."""
    names = call.names
    return names[names.index(function):] if function in names else ()


def add_up(calls, way_of):
    """Return for each call path: calls, total ns, own ns; total and own ns on a CPU."""
    ways = {}
    for call in calls:
        way = way_of(call)
        if not way:
            continue
        one = ways.setdefault(way, [0, 0, 0, 0, 0])
        one[0] += 1
        if call.took is not None:
            one[1] += call.took
            one[2] += call.own
            one[3] += call.cpu
            one[4] += call.own_cpu
    return ways


def descending(what, values):
    """Return an error unless the greatest value is first."""
    values = list(values)
    return [] if values == sorted(values, reverse=True) else ["%s: not in order" % what]


def functions_to_ask(case):
    often = sorted(case.truth["functions"],
                   key=lambda name: (-case.truth["functions"][name]["completed"], name))
    return sorted(set(often[:2] + ["vfs_read", "sysvec_apic_timer_interrupt"]) & set(often))


def way_of(line):
    return ";".join(steps_of(line["path"]))


# --- graph ---

def callers_of(calls, function):
    """Return the call paths from the function upwards, with the numbers of add_up()."""
    return add_up(calls, lambda call: call.name == function and
                  (call.names[::-1] + (call.first.caller,)))


def sums(ways):
    """Return the calls of each path and of all paths that begin with it."""
    result = collections.Counter()
    for way, one in ways.items():
        for nr in range(1, len(way) + 1):
            result[way[:nr]] += one[0]
    return result


GRAPH_LINE = re.compile(
    r" *(?:([\d.]+ [num]?s) +([\d.]+ [num]?s))? *(\d+)  ( *)(\S+(?: \[\w+\])?)$")


def parse_graph(lines):
    """Return times and calls for each path of a printed tree, and errors in its format."""
    ways, wrong, way = {}, [], []
    for line in lines:
        found = GRAPH_LINE.match(line)
        if not found or len(found[4]) > 2 * len(way):
            wrong.append("what is '%s'?" % line)
            continue
        del way[len(found[4]) // 2:]
        way.append(plain(found[5]))
        if tuple(way) in ways:
            wrong.append("%s is there twice" % way)
        ways[tuple(way)] = (found[1], found[2], int(found[3]))
    return ways, wrong


def check_order(what, ways, value):
    """Return errors unless siblings are sorted, the greatest first."""
    beside = {}
    for way, one in ways.items():
        beside.setdefault(way[:-1], []).append(one[value])
    return [line for above, values in beside.items()
            for line in descending("%s, below %s" % (what, above), values)]


def parts_of(text):
    """Return the headings, and the lines below each heading."""
    parts = {}
    for line in text.splitlines():
        if line.startswith("# "):
            mine = parts.setdefault(line, [])
        elif line:
            mine.append(line)
    return list(parts), list(parts.values())


def check_graph_text(mctrace, case, function, above, below):
    text = mctrace.text("graph", function, case.path)
    headings, (callers, callees) = parts_of(text)
    wrong = compare_lists("heading", headings, ["# called by: calls, and the call paths upwards",
                                                "# calls: time on a CPU, total time, calls"])
    got, complaints = parse_graph(callers)
    wrong += complaints + compare(function + " is called by", got,
                                  {way: (None, None, calls) for way, calls in sums(above).items()})
    wrong += check_order(function + " is called by", got, 2)
    got, complaints = parse_graph(callees)
    wrong += complaints + compare(function + " calls", got,
                                  {way: (duration(one[3]), duration(one[1]), one[0])
                                   for way, one in below.items()})
    shallow = [line for line in text.splitlines() if not re.search(r"\d      +\S+( \[\w+\])?$", line)]
    return wrong + compare_lists("-D 1: line", mctrace.text(
        "graph", "-D", "1", function, case.path).splitlines(), shallow)


def check_graph_of(mctrace, case, function, above, below, *options):
    got = {"calls": {}, "called by": {}}
    for line in json_lines(mctrace.text("graph", function, "--json", *options, case.path)):
        way = tuple(map(plain, steps_of(line["path"])))
        got[line["way"]][way[::-1] if line["way"] == "called by" else way] = [
            line["calls"], line.get("total_ns", 0), line.get("self_ns", 0),
            line.get("total_cpu_ns", 0), line.get("self_cpu_ns", 0)]
    who = " ".join([function, *options])
    return (compare(who + " calls", got["calls"], below) + check_order(who + " calls", got["calls"], 1) +
            compare(who + " is called by", got["called by"],
                    {way: one[:2] + [0, one[3], 0] for way, one in above.items()}))


def check_graph(mctrace, case):
    wrong, calls = [], calls_of(case)
    for function in functions_to_ask(case):
        above = callers_of(calls, function)
        below = add_up(calls, lambda call, function=function: within(call, function))
        wrong += check_graph_of(mctrace, case, function, above, below)
        wrong += check_graph_text(mctrace, case, function, above, below)
    return wrong


def check_selected_graph(mctrace, case, function, calls, options):
    return check_graph_of(mctrace, case, function, callers_of(calls, function),
                          add_up(calls, lambda call: within(call, function)), *options)


def order_recording():
    """A call with nested calls takes less time than its sibling without any."""
    rec = recordings.Recording(cpus=1, late=False)
    rec.run(0, rec.task(65, "cat"))
    rec.call(0, "vfs_read")
    for name in ("filemap_read", "touch_atime", "dput"):
        rec.call(0, name)
    rec.wait(300)
    for _ in range(3):
        rec.leave(0)
    rec.call(0, "kfree")
    rec.wait(500)
    rec.leave(0)
    rec.leave(0)
    return rec


def check_graph_order(mctrace, case):
    lines = json_lines(mctrace.text("graph", "vfs_read", "--json", case.path))
    return check_order("callees", {tuple(steps_of(line["path"])): [line["total_ns"]]
                                   for line in lines if line["way"] == "calls"}, 0)


def deep_callers(nr):
    """A function whose callers differ, each below the same deep stack."""
    rec = recordings.Recording(cpus=1, late=False)
    names = ["caller%d" % i for i in range(nr)]
    rec.functions.load("many", names, 0xffffffffc1000000)
    rec.run(0, rec.task(65, "cat"))
    for _ in range(900):
        rec.call(0, "vfs_read")
    for name in names:
        rec.call(0, name)
        rec.call(0, "kfree")
        rec.leave(0)
        rec.leave(0)
    return rec


def check_graph_memory(mctrace, folder):
    """The callers of a function take memory in proportion to the file, however deep the stacks are."""
    case, little = (Case(folder, "callers %d" % nr, deep_callers(nr)) for nr in (2000, 1))
    used = peak(mctrace, "graph", "kfree", case.path) - peak(mctrace, "graph", "kfree", little.path)
    size = os.path.getsize(case.path)
    wrong = [] if used < 64 * size else ["%d bytes for a file of %d" % (used, size)]
    got = json_lines(mctrace.text("graph", "kfree", "--json", "--lines", "3", case.path))
    return wrong + compare_lists("path", [steps_of(line["path"])[-3:] for line in got], [
        ["vfs_read", "caller%d [many]" % i, "kfree"] for i in range(3)] + [["kfree"]])


# --- slow ---

class Group:
    """Some outermost calls of a function, with their nested calls."""
    def __init__(self, outer, calls, function):
        self.took = [call.took for call in outer]
        self.cpu = [call.cpu for call in outer]
        mine = {id(call) for call in outer}
        chosen = []
        current = {}            # by task: is it in one of them now?
        for call in calls:
            if within(call, function) == (function,):
                current[call.task] = id(call) in mine
            if function in call.names and current.get(call.task):
                chosen.append(call)
        self.ways = add_up(chosen, lambda call: within(call, function))

    def each(self, total):
        return total // len(self.took) if self.took else 0

    def line(self, name):
        return {"kind": "group", "group": name, "calls": len(self.took),
                "least_ns": min(self.took, default=0),
                "most_ns": max(self.took, default=0), "avg_ns": self.each(sum(self.took)),
                "avg_cpu_ns": self.each(sum(self.cpu))}


def divide(calls, function, percent):
    """Return the slowest calls, at least one, and the calls in the middle without the slow ones."""
    outer = [call for call in calls if within(call, function) == (function,)]
    order = sorted((call for call in outer if call.took is not None), key=lambda call: call.took)
    nr = len(order)
    slow = order[nr - (nr * percent // 100 or 1):]
    usual = [call for call in order[nr * 2 // 5:nr * 3 // 5 + 1] if call not in slow]
    return Group(slow, calls, function), Group(usual, calls, function)


def differences_of(slow, usual):
    """Return by path: own ns in a slow and a usual call, calls in both, both own ns on a CPU."""
    result = {}
    for way in set(slow.ways) | set(usual.ways):
        mine, other = slow.ways.get(way, [0] * 5), usual.ways.get(way, [0] * 5)
        one = (slow.each(mine[2]), usual.each(other[2]), mine[0], other[0],
               slow.each(mine[4]), usual.each(other[4]))
        if one[0] != one[1]:
            result[";".join(way)] = one
    return result


def slow_text(lines):
    """Yield the expected lines of text, from the JSON."""
    counts = {}
    for line in lines[:2]:
        counts[line["group"]] = line["calls"]
        yield "# %s: %d calls, %s to %s, %s on average, %s of it on a CPU" % (
            line["group"], line["calls"], duration(line["least_ns"]), duration(line["most_ns"]),
            duration(line["avg_ns"]), duration(line["avg_cpu_ns"]))
    yield "#%11s%11s%11s%11s%11s %9s %9s  %s" % (
        "slow-usual", "slow", "on CPU", "usual", "on CPU", "calls", "calls", "own time per call")
    for line in lines[2:]:
        slow, usual = line["slow_self_ns"], line["usual_self_ns"]
        yield "%12s%11s%11s%11s%11s %9.2f %9.2f  %s" % (
            "-+"[slow > usual] + duration(abs(slow - usual)), duration(slow),
            duration(line["slow_self_cpu_ns"]), duration(usual),
            duration(line["usual_self_cpu_ns"]), line["slow_calls"] / counts["slow"],
            line["usual_calls"] / (counts["usual"] or 1), way_of(line))


def check_slow_of(mctrace, case, calls, function, percent, *more):
    groups = divide(calls, function, percent)
    options = ["slow", function, "--percent", str(percent), "--lines", ALL, *more, case.path]
    lines = json_lines(mctrace.text(*options, "--json"))
    got = {plain(way_of(line)): (line["slow_self_ns"], line["usual_self_ns"], line["slow_calls"],
                                 line["usual_calls"], line["slow_self_cpu_ns"],
                                 line["usual_self_cpu_ns"]) for line in lines[2:]}
    who = " ".join(["%s, %d %%" % (function, percent), *more])
    wrong = compare_lists(who, lines[:2], [groups[0].line("slow"), groups[1].line("usual")])
    wrong += compare(who, got, differences_of(*groups))
    wrong += descending(who, [abs(one[0] - one[1]) for one in got.values()])
    return wrong + compare_lists(who + ": line", mctrace.text(*options).splitlines(),
                                 list(slow_text(lines)))


def check_slow(mctrace, case):
    wrong, calls = [], calls_of(case)
    for function in functions_to_ask(case):
        if case.truth["functions"][function]["completed"]:
            for percent in (1, 20):
                wrong += check_slow_of(mctrace, case, calls, function, percent)
    return wrong


# --- diff ---

def functions_of(ways):
    """Return calls and ns of each function; of recursive calls only the outer one's ns."""
    result = {}
    for way, (calls, total, *_) in ways.items():
        one = result.setdefault(way[-1], [0, 0])
        one[0] += calls
        one[1] += 0 if way[-1] in way[:-1] else total
    return result


def only_in(who, mine, others):
    for way, calls in sums(mine).items():
        if way not in others and (len(way) == 1 or way[:-1] in others):
            yield (who, ";".join(way)), calls


def differing(mine, others, both):
    """Yield the functions of both recordings, or of only one, with calls and ns."""
    for name in set(mine) | set(others):
        a, b = mine.get(name, [0, 0]), others.get(name, [0, 0])
        if a != b and (a[0] > 0 and b[0] > 0) == both:
            yield name, (a[0], b[0], a[1], b[1])


def parse_diff(lines):
    """Return the paths, functions of one, and functions of both. Check that they are in this order."""
    ways, one, both, wrong = {}, {}, {}, []
    for line in lines:
        if "only_in" in line:
            ways[line["only_in"], plain(way_of(line))] = line["calls"]
            if one or both:
                wrong.append("%s is too late" % line)
            continue
        values = (line["calls_a"], line["calls_b"], line.get("total_a_ns", 0),
                  line.get("total_b_ns", 0))
        if not values[0] or not values[1]:
            one[plain(line["function"])] = values
            if both:
                wrong.append("%s is too late" % line)
        else:
            both[plain(line["function"])] = values
    for part in (one, both):
        wrong += descending("functions", [(abs(v[2] - v[3]), abs(v[0] - v[1]))
                                          for v in part.values()])
    return ways, one, both, wrong + descending("ways", ways.values())


DIFF_HEADINGS = ["# call paths that only A (-) or B (+) has: calls, and the path",
                 "# functions that only A (-) or B (+) has: calls",
                 "# functions of both: total time, B - A, A, B; calls, A, B"]


def diff_text(ways, one, both):
    """Yield the three parts of the text, from the JSON."""
    yield ["%s %10d  %s" % ("-" if who == "A" else "+", calls, way)
           for (who, way), calls in ways.items()]
    yield ["%s %10d  %s" % ("-" if v[0] else "+", v[0] + v[1], name) for name, v in one.items()]
    yield ["%11s%11s%11s %10d %10d  %s" % (
        "+-"[v[3] < v[2]] + duration(abs(v[3] - v[2])), duration(v[2]), duration(v[3]), *v[:2], name)
           for name, v in both.items()]


def check_diff(mctrace, first, second, *options, chosen=(None, None)):
    """Check the diff of two cases. @chosen: as in calls_of()."""
    both = []
    for case, mine in zip((first, second), chosen):
        both.append(add_up(calls_of(case, mine), lambda call: call.names
                           if "-I" in options or not call.interrupt else ()))
    a, b = both
    command = ["diff", *options, "--lines", ALL, first.path, second.path]
    *got, wrong = parse_diff(json_lines(mctrace.text(*command, "--json")))
    mine, others = functions_of(a), functions_of(b)
    wrong += compare("way", got[0], dict([*only_in("A", a, b), *only_in("B", b, a)]))
    wrong += compare("of one", got[1], dict(differing(mine, others, False)))
    wrong += compare("of both", got[2], dict(differing(mine, others, True)))
    headings, parts = parts_of(mctrace.text(*command))
    wrong += compare_lists("heading", headings, DIFF_HEADINGS)
    for part, wanted in zip(parts, diff_text(*got)):
        wrong += compare_lists("line", list(map(plain, part)), wanted)
    few = mctrace.text("diff", *options, "--lines", "2", first.path, second.path)
    left = [len(part) - 2 for part in got if len(part) > 2]
    return wrong + compare_lists("what --lines 2 leaves", [int(n) for n in re.findall(
        r"^# and (\d+) more: --lines$", few, re.M)], left)


def check_diff_without_returns(mctrace, first, second):
    """Without returns, diff compares only counts of calls."""
    lines = json_lines(mctrace.text("diff", "-I", "--lines", ALL, "--json", first.path, second.path))
    got = {plain(line["function"]): (line["calls_a"], line["calls_b"], 0, 0)
           for line in lines if "function" in line and line["calls_a"] + line["calls_b"]}
    if any("total_a_ns" in line for line in lines):
        raise Wrong("it has times")
    calls = [{name: [one["calls"], 0] for name, one in case.truth["functions"].items()}
             for case in (first, second)]
    return compare("function", got, dict([*differing(*calls, False), *differing(*calls, True)]))


def warm_recording(timer, opened):
    """Make equal recordings, except for a timer interrupt, and a file that is opened."""
    rec = recordings.Recording(cpus=1, late=False)
    rec.run(0, rec.task(65, "cat"))
    for i in range(4):
        rec.call(0, "ksys_read")
        rec.call(0, "vfs_read")
        if timer:
            rec.call(0, "sysvec_apic_timer_interrupt", irq=True)
            rec.call(0, "hrtimer_interrupt")
            rec.leave(0)
            rec.leave(0)
        if opened and i == 1:
            rec.call(0, "vfs_open")
            rec.call(0, "kfree")
            rec.leave(0)
            rec.leave(0)
        rec.wait(100 if timer else 108)         # as long as with the timer
        rec.leave(0)
        rec.leave(0)
    return rec


def check_timer(mctrace, quiet, busy, opened):
    """Interrupts come by chance: their calls are no difference, unless -I is given."""
    wrong = []
    text = mctrace.text("diff", quiet.path, busy.path)
    if [line for line in text.splitlines() if line and not line.startswith("# ")]:
        wrong += ["a timer is a difference:", text]
    lines = mctrace.text("diff", "-I", quiet.path, busy.path).splitlines()
    way = "ksys_read;vfs_read;sysvec_apic_timer_interrupt"
    wanted = ["+ %10d  %s" % (8, way), "+ %10d  %s" % (4, "sysvec_apic_timer_interrupt"),
              "+ %10d  %s" % (4, "hrtimer_interrupt")]
    wrong += compare_lists("-I: line", [line for line in lines if line and line[0] in "+-"], wanted)
    _, (gone, one, both) = parts_of(mctrace.text("diff", opened.path, quiet.path))
    wrong += compare_lists("way", gone, ["- %10d  %s" % (2, "ksys_read;vfs_read;vfs_open")])
    wrong += compare_lists("of one", one, ["- %10d  %s" % (1, "vfs_open"),
                                           "- %10d  %s" % (1, "kfree")])
    return wrong + compare_lists("of both", [line.split()[-1] for line in both],
                                 ["ksys_read", "vfs_read"])
