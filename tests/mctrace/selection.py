# SPDX-License-Identifier: GPL-2.0
# Test that mctrace shows the selected part of a recording, by comparing with the recording's truth.
import collections
import fnmatch
import re

import recordings
import ways
from harness import Case, compare, compare_lists, cpu_seconds, json_lines, plain

NAMES = ["vfs_*", "kfree,vfs_read", "*[a-f]", "vfs_read"]


class Call:
    def __init__(self, event, caller, parent):
        label, self.depth, _, self.name, self.ns, self.cpu, _ = event
        self.comm, pid = label.rsplit(":", 1)
        self.pid = int(pid)
        self.caller, self.parent = caller, parent
        self.took = None

    def within(self):
        """Return the calls around this one and itself, the outermost first."""
        return (self.parent.within() if self.parent else []) + [self]


def calls_of(truth):
    """Return all calls in the order of their beginnings."""
    calls, stacks, callers = [], collections.defaultdict(list), iter(truth["callers"])
    for event in truth["events"]:
        stack = stacks[event[0]]
        if event[2] == "enter":
            del stack[event[1]:]
            call = Call(event, next(callers), stack[-1] if stack else None)
            stack.append(call)
            calls.append(call)
        elif event[2] == "leave":
            if event[6] is not None:
                stack[event[1]].took = event[6]
            del stack[event[1]:]
    return calls


def matches(names, name):
    return any(fnmatch.fnmatchcase(name, one) for one in names.split(","))


def depth_in(call, names):
    """Return the depth of @call in the outermost call of @names; 0: in none."""
    way = call.within()
    for i, outer in enumerate(way):
        if matches(names, outer.name):
            return len(way) - i
    return 0


def selections(calls):
    """Return options, and a function for the calls that they select."""
    middle, end = calls[len(calls) // 3].ns, calls[len(calls) // 2].ns
    one = calls[len(calls) // 2]
    names = sorted({call.name for call in calls})
    busy = collections.Counter(call.name for call in calls).most_common(3)
    few = ",".join(name for name, _ in busy)
    took = sorted(call.took for call in calls if call.took is not None)[len(calls) // 3]
    seconds = "%d.%09d..%d.%09d" % (middle // 10**9, middle % 10**9, end // 10**9, end % 10**9)
    return [
        (["--func", few], lambda c: matches(few, c.name)),
        (["-l", names[0][:2] + "*", "-l", busy[0][0]],
         lambda c: matches(names[0][:2] + "*," + busy[0][0], c.name)),
        (["--notrace", few], lambda c: not matches(few, c.name)),
        (["--cpu", "0"], lambda c: c.cpu == 0),
        (["--task", one.comm], lambda c: c.comm == one.comm),
        (["--comm", one.comm[:2] + "*"], lambda c: c.comm.startswith(one.comm[:2])),
        (["--task", str(one.pid)], lambda c: c.pid == one.pid),
        (["--tid=%d" % one.pid], lambda c: c.pid == one.pid),
        (["--time", seconds], lambda c: middle <= c.ns < end),
        (["--time", "%dns.." % middle], lambda c: c.ns >= middle),
        (["--time", ",%.3fus" % (middle / 1000)], lambda c: c.ns < middle),
        (["--depth", "2"], lambda c: c.depth < 2),
        (["--within", few], lambda c: depth_in(c, few)),
        (["--within", few, "-D", "2"], lambda c: 0 < depth_in(c, few) <= 2),
        (["--called-by", few], lambda c: matches(few, c.caller)),
        (["--min-duration", "%dns" % took], lambda c: c.took is not None and c.took >= took),
        (["--min-duration", "%dns" % took, "--func", few, "--cpu", "0-1", "--depth", "9"],
         lambda c: c.took is not None and c.took >= took and matches(few, c.name) and c.depth < 9
         and c.cpu < 2),
    ]


def tree_of(mctrace, case, *options):
    """Return by (pid, ns, function) of each call: duration, own time, depth."""
    return {(line["pid"], line["ns"], re.split(r"[+.]", line["function"])[0]):
            (line.get("took_ns"), line.get("self_ns"), line["depth"])
            for line in json_lines(mctrace.text("report", "--tree", "--json", *options, case.path))}


def numbers_of(calls, wants):
    return {nr for nr, call in enumerate(calls) if wants(call)}


def check_latency(mctrace, case, calls, function, options):
    mine = [call.took for call in calls if call.name == function]
    took = [one for one in mine if one is not None]
    last = json_lines(mctrace.text("latency", function, "--json", *options, case.path))[-1]
    return compare("latency %s %s" % (function, " ".join(options)),
                   {key: last[key] for key in ("calls", "open", "total_ns", "min_ns", "max_ns")},
                   {"calls": len(took), "open": len(mine) - len(took), "total_ns": sum(took), "min_ns": min(took),
                    "max_ns": max(took)})


def check_folded(mctrace, case, calls, options):
    """Own times are without nested calls that are shown: the time of others counts as their caller's."""
    wanted = collections.Counter()
    for call in calls:
        stack = ";".join([call.task.rsplit(":", 1)[0], *call.names])
        if call.took is not None:
            wanted[stack] += call.own_cpu
            wanted[stack + ";[off CPU]"] += call.own - call.own_cpu
    lines = plain(mctrace.text("export", "--to", "folded", *options, case.path)).splitlines()
    got = {stack: int(ns) for stack, ns in (line.rsplit(" ", 1) for line in lines)}
    return compare("folded " + " ".join(options), got, dict(+wanted))


def check_commands(mctrace, case):
    """Graph, latency, slow and folded stacks have the selected calls; graph and slow all calls of their function."""
    all_calls, wrong = calls_of(case.truth), []
    for options, wants in selections(all_calls):
        chosen = numbers_of(all_calls, wants)
        wrong += check_folded(mctrace, case, ways.calls_of(case, chosen), options)
        if "-D" in options or "--depth" in options:
            continue
        names = collections.Counter(all_calls[nr].name for nr in chosen if all_calls[nr].took is not None)
        function = min(names, key=lambda name: (-names[name], name))
        by_name = {"--func", "-l", "--notrace"} & set(options)
        if by_name:
            function = min(set(call.name for call in all_calls if call.took is not None) - set(names))
            chosen |= numbers_of(all_calls, lambda call, function=function: call.name == function)
        shown = ways.calls_of(case, chosen)
        wrong += ways.check_selected_graph(mctrace, case, function, shown, options)
        wrong += ways.check_slow_of(mctrace, case, shown, function, 10, *options)
        if not by_name:
            wrong += check_latency(mctrace, case, shown, function, options)
    return wrong


def check_selected_diff(mctrace, first, second):
    """diff compares the selected calls of both recordings."""
    wrong, calls = [], [calls_of(case.truth) for case in (first, second)]
    for options, wants in selections(calls[0]):
        chosen = [numbers_of(mine, wants) for mine in calls]
        for more in ([], ["-I"]):
            wrong += ways.check_diff(mctrace, first, second, *options, *more, chosen=chosen)
    return wrong


def check_selection(mctrace, case):
    calls = calls_of(case.truth)
    everything = tree_of(mctrace, case)
    wrong = []
    for options, wants in selections(calls):
        if "--cpu" in options and len({call.cpu for call in calls}) == 1 and "0-1" in options:
            continue
        chosen = [call for call in calls if wants(call)]
        depths = {call: sum(outer in set(chosen) for outer in call.within()[:-1])
                  for call in chosen}
        wanted = {}
        for call in chosen:
            key = (call.pid, call.ns, call.name)
            wanted[key] = (*everything[key][:2], depths[call])
        name = " ".join(options)
        wrong += compare(name, tree_of(mctrace, case, *options), wanted)
        got = [line for line in json_lines(mctrace.text("report", "--json", *options, case.path))
               if line["event"] == "call"]
        wrong += compare_lists("event of " + name, sorted((line["pid"], line["ns"]) for line in got),
                               sorted((call.pid, call.ns) for call in chosen))
        counts = collections.Counter(call.name for call in chosen)
        profile = {line["function"].split()[0].split(".")[0]: line
                   for line in json_lines(mctrace.text("profile", "--json", *options, case.path))}
        wrong += compare("profile " + name, {n: line["calls"] for n, line in profile.items()},
                         dict(counts))
        for function, line in profile.items():
            own = sum(everything[call.pid, call.ns, call.name][1] or 0 for call in chosen
                      if call.name == function and call.took is not None)
            if line["self_ns"] != own:
                wrong.append("profile %s: %s: self %d, not %d" % (name, function, line["self_ns"], own))
    return wrong


def small():
    rec = recordings.Recording(cpus=2, late=False)
    rec.run(0, rec.task(65, "cat"))
    rec.run(1, rec.task(66, "kworker/1:1-wri"))
    for cpu in (0, 1, 0):
        rec.call(cpu, "vfs_read")
        rec.call(cpu, "kfree")
        rec.wait(10000)
        rec.leave(cpu)
        rec.leave(cpu)
    return rec


MISSING = [     # options, status, message
    (["--task", "cta"], 1, "no task in FILE is called cta"),
    (["--comm", "kworker/1:1-wry"], 1,
     "no task in FILE is called kworker/1:1-wry: did you mean kworker/1:1-wri"),
    (["--task", "cat,dog*"], 1, "no task in FILE is called dog*"),
    (["--task", "67"], 1, "no task in FILE has the pid 67; if that is a name: =NAME"),
    (["--pid", "67"], 1, "no task in FILE has the pid 67"),
    (["--task", "=65"], 1, "no task in FILE is called 65"),
    (["--pid", "cat"], 2, "--pid wants numbers, not 'cat'"),
    (["--task", "cat,"], 2, "--task: a name is empty"),
    (["--cpu", "2"], 1, "there is no CPU 2 in FILE: 0 to 1"),
    (["--cpu", "1-0"], 2, "--cpu wants CPUs, like 0-3,5, not '1-0'"),
    (["--cpu", "all"], 2, "--cpu wants CPUs, like 0-3,5, not 'all'"),
    (["--time", "5"], 2, "--time wants FROM..TO, like 12.5..12.75, not '5'"),
    (["--time", "5..4"], 2, "--time wants FROM..TO, like 12.5..12.75, not '5..4'"),
    (["--time", "5min.."], 2, "--time wants FROM..TO, like 12.5..12.75, not '5min..'"),
    (["--time", "99999.."], 1, "no call in FILE is selected by all of these options"),
    (["--task", "cat", "--cpu", "1"], 1, "no call in FILE is selected by all of these options"),
]
CALLS = [
    (["--within", "vfs_raed"], 1, "vfs_raed was not called in FILE: did you mean vfs_read"),
    (["--called-by", "xyzzy_*"], 1, "no function that was called in FILE matches xyzzy_*"),
    (["--min-duration", "10"], 2, "--min-duration wants a time with its unit, like 10us, not '10'"),
    (["--min-duration", "1s"], 1, "no call in FILE is selected by all of these options"),
]
FUNCTIONS = [
    (["--func", "vfs_raed"], 1, "vfs_raed was not called in FILE: did you mean vfs_read"),
    (["--func", "vfs_read,vfs_wr*"], 1, "no function that was called in FILE matches vfs_wr*"),
    (["--notrace", "20"], 2, "--notrace wants functions, not '20': or --lines 20?"),
]


def check_missing(mctrace, folder):
    """Each command names what the recording lacks, and fails."""
    case = Case(folder, "selected", small())
    wrong = []
    for command, lists in (
            (["report"], [MISSING, CALLS, FUNCTIONS]), (["report", "--tree"], [MISSING, CALLS, FUNCTIONS]),
            (["profile"], [MISSING, CALLS, FUNCTIONS]), (["flame", "-o", "-"], [MISSING]),
            (["latency", "vfs_read"], [MISSING, CALLS]), (["graph", "vfs_read"], [MISSING, CALLS]),
            (["slow", "vfs_read"], [MISSING]), (["export", "--to", "folded"], [MISSING, FUNCTIONS])):
        for options, status, says in sum(lists, []):
            ran = mctrace.run(*command, *options, case.path)
            wrong += compare_lists(" ".join(command + options),
                                   [ran.returncode, ran.stderr.decode().split("\n")[0]],
                                   [status, "mctrace: " + says.replace("FILE", case.path)])
    return wrong


def check_depth_of_stacks(mctrace, folder):
    """Time below the deepest shown call counts as that call's: the sum stays."""
    case = Case(folder, "deep", small())
    got = {}
    for depth in (1, 2):
        got[depth] = mctrace.text("export", "--to", "folded", "-D", str(depth),
                                  case.path).splitlines()
    sums = [sum(int(line.rsplit(" ", 1)[1]) for line in lines) for lines in got.values()]
    wrong = [] if sums[0] == sums[1] else ["the sums are %s" % sums]
    wrong += compare_lists("stacks", got[1],
                           ["cat;vfs_read 20012", "kworker/1:1-wri;vfs_read 10006"])
    few = mctrace.text("export", "--to", "folded", "--func", "kfree", case.path)
    return wrong + compare_lists("stacks", few.splitlines(),
                                 ["cat;kfree 20004", "kworker/1:1-wri;kfree 10002"])


def check_names_of_tasks(mctrace, folder):
    """A longer name is cut as the kernel does; = before digits makes them a name."""
    rec = small()
    rec.run(0, rec.task(70, "65"))
    rec.call(0, "dput")
    rec.leave(0)
    case = Case(folder, "names of tasks", rec)
    got = [[line["pid"] for line in json_lines(mctrace.text("report", "--tree", "--json", "--task",
                                                            name, case.path))]
           for name in ("kworker/1:1-writeback", "kworker/*", "=65", "65", "65,=65")]
    return compare_lists("task", got, [[66] * 2, [66] * 2, [70], [65] * 4, [65] * 4 + [70]])


def check_many_names(mctrace, folder):
    """The time that --task takes does not depend on the number of names of other tasks."""
    took = {}
    for nr in (50, 4000):
        rec = recordings.Recording(cpus=1, late=False)
        tasks = [rec.task(100 + i, "task%d" % i) for i in range(nr)]
        for i in range(40000):
            rec.run(0, tasks[i % nr])
            rec.call(0, "dput")
            rec.leave(0)
        case = Case(folder, "%d names" % nr, rec)
        took[nr] = cpu_seconds(mctrace, "report", "--task", "task7", case.path)
        said = mctrace.run("report", "--task", "task5x", case.path).stderr.decode()
        if not said.endswith(" is called task5x: did you mean task5\n"):
            return [said]
    return [] if took[4000] < 3 * max(took[50], 0.03) else ["seconds by names: %s" % took]


def check_lines_of_graph(mctrace, folder):
    """graph --lines prints the first lines of each of its two lists."""
    path = Case(folder, "lines", small()).path

    def lists(*options):
        parts = mctrace.text("graph", "vfs_read", *options, path).split("\n\n")
        lines = json_lines(mctrace.text("graph", "vfs_read", "--json", *options, path))
        return [part.splitlines()[1:] for part in parts] + [
            [line for line in lines if line["way"] == way] for way in ("called by", "calls")]

    whole = lists()
    wrong = compare_lists("size", [len(one) for one in whole], [2, 2, 1, 2])
    for n in (1, 2, 99):
        wrong += compare_lists("--lines %d" % n, lists("--lines", str(n)), [one[:n] for one in whole])
    return wrong


def check_diff(mctrace, folder):
    """A selection that matches in one of two recordings is enough."""
    first, second = small(), small()
    second.run(0, second.task(70, "dog"))
    second.call(0, "dput")
    second.leave(0)
    paths = [Case(folder, "diff a", first).path, Case(folder, "diff b", second).path]
    got = [mctrace.run("diff", *options, *paths).returncode for options in (
        ["--func", "dput"], ["--task", "dog"], ["--func", "xyzzy"], ["--task", "xyzzy"])]
    return compare_lists("status", got, [0, 0, 1, 1])
