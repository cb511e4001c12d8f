# SPDX-License-Identifier: GPL-2.0
"""The promised bounds, computed from the figures of a run."""
import math

from figures import Figure

WORKLOADS = ["stat", "read", "pipe", "file", "exec", "tcp", "hackbench"]


def slowdown(f, kernel, workload, state):
    return f.get(kernel, f"{workload}_{state}") / f.get("none", workload + "_off").value


def per_call(f, kernel, state="on"):
    """Return what a traced call costs more than without a tracer, in the stat() loop."""
    added = f.get(kernel, "stat_" + state) - f.get("none", "stat_off").value
    return added / f.items(kernel, "stat_" + ("graph" if state == "graph" else "on"))


def added(f, kernel):
    """Return what a traced call costs more than with the tracer off, in the stat() loop."""
    more = f.get(kernel, "stat_on") - f.get(kernel, "stat_off").value
    return more / f.items(kernel, "stat_on")


def mean_off(f, kernel):
    """Return the geometric mean of all workloads' slowdowns while tracing is off."""
    logs = [math.log(slowdown(f, kernel, w, "off").value) for w in WORKLOADS]
    return Figure([math.exp(sum(logs) / len(logs))])


def calls(f, kernel):
    return f.items(kernel, "stat_on") / f.get(kernel, "stat_times").value


def option_adds(f, kernel, state):
    """Return what an option adds to the cost of a traced call, in the stat() loop."""
    more = f.get(kernel, "stat_" + state) - f.get(kernel, "stat_off").value
    return more / f.items(kernel, "stat_" + state) - added(f, kernel).value


def not_recorded(f, kernel, state, against="off"):
    """Return what tracing adds to a call that is not recorded because of its task or function."""
    base = f.get("none" if against == "none" else kernel, "stat_off")
    more = f.get(kernel, "stat_" + state) - base.value
    return more / f.items(kernel, "stat_on").value


def hit(f, kernel, state, base):
    """Return what a trigger adds to a call of its function, which is not selected for recording."""
    more = f.get(kernel, state) - f.get(kernel, base).value
    return more / f.items(kernel, state)


def pair(f, state):
    """Return what tracing adds to a call and its return, in the stat() loop."""
    more = f.get("mctracer-returns", "stat_" + state) - f.get("mctracer-returns", "stat_off").value
    return more / f.items("mctracer-returns", "stat_on").value


def text_growth(f):
    """Return what call sites before returns add to the kernel's text, in percent."""
    return (f.get("mctracer-returns", "size_text") / f.get("mctracer", "size_text").value - 1) * 100


def recorded(f, kernel, name):
    """Return the cost of hackbench while it is recorded into a file, without the recorder's setup."""
    return f.get(kernel, "rec_" + name) - f.get(kernel, "rec_setup_" + name).value


def record_slowdown(f, kernel, name):
    return recorded(f, kernel, name) / f.get(kernel, "rec_plain").value


def record_word(f, name):
    """Return the cost of reading a word and writing it into a file."""
    kernel = "mctracer-returns"
    more = recorded(f, kernel, name) - f.get(kernel, "rec_traced_" + name).value
    return more / f.items(kernel, "rec_traced_" + name)


def missed_share(f, kernel, name):
    """Return the share of missed events, in percent."""
    return f.get(kernel, "rec_missed_" + name) * 100 / f.items(kernel, "rec_" + name)


def with_times(f, kernel):
    """Return what tracing with the option "time" adds to a call."""
    return option_adds(f, kernel, "exact") + added(f, kernel).value


def native(f, name="ratio"):
    return f.each("native", name)


class Bound:
    """A promised upper bound (lower if at_least) of a figure. The report shows the note beside the figure."""

    def __init__(self, title, figure, limit, at_least=False, note=""):
        self.title = title
        self.figure = figure
        self.limit = limit
        self.at_least = at_least
        self.note = note

    @property
    def missed_by(self):
        """Return by how much the bound is missed; 0 if it is met."""
        over = self.figure.value - self.limit
        return max(0, -over if self.at_least else over)


def bounds(f):
    m, s, r, ft = "mctracer", "mctracer-static", "mctracer-returns", "ftrace"
    disagreement = (calls(f, m).value / calls(f, ft).value - 1) * 100
    ns = {name: f"{f.get('native', name).value / 1000:.1f} ns" for name in ("traced", "exact")}
    return [
        # The cost of a call while tracing is off has bounds of its own, below.
        Bound("instructions a traced call, from call to return", f.get(m, "path"), 28),
        Bound("on this processor: a traced call / rdtsc and an empty call", native(f), 0.55,
              note=ns["traced"]),
        Bound("instructions a traced call with its time", f.get(m, "path_exact"), 33),
        Bound("on this processor: a traced call with its time / rdtsc and an empty call",
              native(f, "ratio_exact"), 1.25, note=ns["exact"]),
        Bound("instructions that tracing adds to a call", added(f, m), 28),
        Bound("instructions that tracing adds to a call, with times", with_times(f, m), 33),
        Bound("instructions that nooverwrite adds to a call", option_adds(f, m, "keep"), 4),
        Bound("instructions that context adds to a call", option_adds(f, m, "context"), 20),
        Bound("instructions a call of a task that is not traced", not_recorded(f, m, "unchosen"), 12),
        Bound("instructions a call of a function that is not selected",
              not_recorded(f, m, "unfiltered"), 0.2),
        Bound("instructions a call of a function that is not selected, static call sites",
              not_recorded(f, s, "unfiltered", against="none"), 12.1),
        Bound("instructions that a counting trigger adds to a call",
              hit(f, m, "stat_count", "stat_unfiltered"), 60),
        Bound("instructions that 10 callers add to a recorded call",
              hit(f, m, "tcp_chain", "tcp_chosen"), 2500),
        Bound("instructions that all callers add to a recorded call, against ftrace",
              hit(f, m, "tcp_callers", "tcp_chosen"),
              hit(f, ft, "tcp_callers", "tcp_chosen").value),
        Bound("instructions that max_stack adds to a call", option_adds(f, m, "stack"), 95),
        Bound("instructions that tracing adds to a call and its return", pair(f, "graph"), 62),
        Bound("instructions that tracing adds to a call and its return, with times", pair(f, "graph_exact"), 75),
        Bound("hackbench, all calls and returns traced: slowed by",
              slowdown(f, r, "hackbench", "graph"), 2.7),
        Bound("all workloads while off, with call sites before returns: slowed by",
              mean_off(f, r), 1.03),
        Bound("% of text that call sites before returns add", text_growth(f), 3.5),
        Bound("instructions that tracing adds to an event, graph: ftrace's / mctracer's",
              per_call(f, ft, "graph") / per_call(f, r, "graph"), 10, at_least=True),
        Bound("instructions a traced call, static call sites", per_call(f, s), 33),
        Bound("instructions a call while off, static call sites", per_call(f, s, "off"), 5),
        Bound("bytes an event, hackbench", f.each(m, "ring"), 8.6),
        Bound("bytes an event with its time, hackbench", f.each(m, "ring_exact"), 16.6),
        Bound("hackbench, all functions traced: slowed by", slowdown(f, m, "hackbench", "on"), 1.62),
        Bound("stat(), all functions traced: slowed by", slowdown(f, m, "stat", "on"), 1.72),
        Bound("all workloads while off: slowed by, against ftrace", mean_off(f, m),
              mean_off(f, ft).value),
        Bound("instructions that tracing adds to a call: ftrace's / mctracer's",
              added(f, ft) / added(f, m), 10, at_least=True),
        Bound("calls in a stat(): % from ftrace's count", Figure([abs(disagreement)]), 2),
        Bound("instructions a line of trace", f.each(m, "text"), 2500),
        Bound("instructions a line of trace_pipe", f.each(m, "pipe"), 2500),
        Bound("instructions a call read from raw", f.each(m, "raw"), 9.2),
        Bound("microseconds to switch on, against ftrace", f.get(m, "switch_on") / 1000,
              f.get(ft, "switch_on").value / 1000),
        Bound("switching on for one function: % of that for all",
              f.get(m, "switch_one") * 100 / f.get(m, "switch_on").value, 3),
        Bound("microseconds to switch on for one function, against ftrace",
              f.get(m, "switch_one") / 1000, f.get(ft, "switch_one").value / 1000),
        Bound("microseconds to switch off, against ftrace", f.get(m, "switch_off") / 1000,
              f.get(ft, "switch_off").value / 1000),
    ] + followed(f) + recorders(f, r, ft)


def followed(f):
    """Return the bounds of following by mmap; none if the guest could not have two processors."""
    if ("follow", "none") in f.lines:
        return []
    follow = {name: f.get("follow", name) for name in ("seen", "lost", "bad", "written")}
    return [
        Bound("calls followed by mmap", follow["seen"], 1000000, at_least=True),
        Bound("calls followed by mmap: lost", follow["lost"], 0),
        Bound("calls followed by mmap: wrong", follow["bad"], 0),
        Bound("calls followed by mmap: not seen by the readers", follow["written"] - follow["seen"], 0),
    ]


def recorders(f, ours, theirs):
    """Return the bounds of mctrace record, against trace-cmd record -p function and -p function_graph."""
    found = []
    for name, what in ("function", "calls"), ("graph", "calls and returns with times"):
        found += [
            Bound(f"mctrace record, {what}: instructions a word", record_word(f, name), 40),
            Bound(f"mctrace record, {what}: % missed", missed_share(f, ours, name), 0),
            Bound(f"mctrace record, {what}: slowed by, against trace-cmd",
                  record_slowdown(f, ours, name), record_slowdown(f, theirs, name).value,
                  note=f"trace-cmd misses {missed_share(f, theirs, name).value:.1f} %"),
        ]
    return found
