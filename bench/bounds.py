# SPDX-License-Identifier: GPL-2.0
"""What is promised, and what a run's figures say to it."""
import math

from figures import Figure

WORKLOADS = ["stat", "read", "pipe", "file", "exec", "tcp", "hackbench"]


def slowdown(f, kernel, workload, state):
    return f.get(kernel, f"{workload}_{state}") / f.get("none", workload + "_off").value


def per_call(f, kernel, state="on"):
    """What each call that is traced adds to a kernel without a tracer; in the stat() loop."""
    added = f.get(kernel, "stat_" + state) - f.get("none", "stat_off").value
    return added / f.items(kernel, "stat_" + ("graph" if state == "graph" else "on"))


def added(f, kernel):
    """What switching on adds to each call that is traced then, in the stat() loop."""
    more = f.get(kernel, "stat_on") - f.get(kernel, "stat_off").value
    return more / f.items(kernel, "stat_on")


def mean_off(f, kernel):
    """The geometric mean of what all workloads are slowed by, while nobody traces."""
    logs = [math.log(slowdown(f, kernel, w, "off").value) for w in WORKLOADS]
    return Figure([math.exp(sum(logs) / len(logs))])


def calls(f, kernel):
    return f.items(kernel, "stat_on") / f.get(kernel, "stat_times").value


def native(f):
    return f.each("native", "ratio")


class Bound:
    """A promise: at most (or at_least) so much."""

    def __init__(self, title, figure, limit, at_least=False):
        self.title = title
        self.figure = figure
        self.limit = limit
        self.at_least = at_least

    @property
    def missed_by(self):
        """0 if it is met."""
        over = self.figure.value - self.limit
        return max(0, -over if self.at_least else over)


def bounds(f):
    m, s, ft = "mctracer", "mctracer-static", "ftrace"
    follow = {name: f.get("follow", name) for name in ("seen", "lost", "bad", "written")}
    disagreement = (calls(f, m).value / calls(f, ft).value - 1) * 100
    return [
        # What a call costs while off has bounds of its own, below.
        Bound("instructions a traced call, from call to return", f.get(m, "path"), 40),
        Bound("instructions that tracing adds to a call", added(f, m), 40),
        Bound("instructions a traced call, static call sites", per_call(f, s), 45),
        Bound("instructions a call while off, static call sites", per_call(f, s, "off"), 5),
        Bound("bytes an event", f.each(m, "ring"), 16),
        Bound("hackbench, all functions traced: slowed by", slowdown(f, m, "hackbench", "on"), 2.0),
        Bound("stat(), all functions traced: slowed by", slowdown(f, m, "stat", "on"), 2.2),
        Bound("all workloads while off: slowed by, against ftrace", mean_off(f, m),
              mean_off(f, ft).value),
        Bound("instructions that tracing adds to a call: ftrace's / mctracer's",
              added(f, ft) / added(f, m), 10, at_least=True),
        Bound("calls in a stat(): % from ftrace's count", Figure([abs(disagreement)]), 2),
        Bound("on this processor: a traced call / rdtsc and an empty call", native(f), 1.3),
        Bound("instructions a line of trace", f.each(m, "text"), 3000),
        Bound("instructions a line of trace_pipe", f.each(m, "pipe"), 3000),
        Bound("instructions a record read from raw", f.each(m, "raw"), 10),
        Bound("microseconds to switch on, against ftrace", f.get(m, "switch_on") / 1000,
              f.get(ft, "switch_on").value / 1000),
        Bound("microseconds to switch off, against ftrace", f.get(m, "switch_off") / 1000,
              f.get(ft, "switch_off").value / 1000),
        Bound("records followed by mmap", follow["seen"], 1000000, at_least=True),
        Bound("of these: lost", follow["lost"], 0),
        Bound("of these: wrong", follow["bad"], 0),
        Bound("of these: not seen by the readers", follow["written"] - follow["seen"], 0),
    ]
