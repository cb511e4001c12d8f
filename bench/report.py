#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""usage: report.py FIGURES CHART-DATA

Print the benchmark's tables, in Markdown, from the FIGURES of a run (see figures.py), and
write the data that chart.gp draws to CHART-DATA. Exit status 1 if a promised bound is missed,
2 if a figure is missing.
"""
import sys

from bounds import WORKLOADS, added, bounds, calls, hit, mean_off, missed_share, native, \
    not_recorded, pair, per_call, record_slowdown, record_word, recorded, slowdown, with_times
from figures import Figures, Missing

TITLES = {
    "stat": "`stat()`",
    "read": "`read()` of 1 byte",
    "pipe": "pipe ping-pong",
    "file": "file create, write, unlink",
    "exec": "fork, exec, wait",
    "tcp": "TCP echo",
    "hackbench": "hackbench -g 2 -l 50",
    "idle": "idle",
}
MCTRACERS = ["mctracer", "mctracer-static", "mctracer-returns"]
GRAPHS = ["mctracer-returns", "ftrace"]
TRACERS = MCTRACERS + ["ftrace"]
TIMED = WORKLOADS + ["idle"]
unstable = []


def number(value):
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    if value == int(value):
        return f"{value:.0f}"
    digits = 1 if abs(value) >= 100 else 2 if abs(value) >= 10 else 3
    return f"{value:.{digits}f}"


def mark(where, *figures):
    """Return " ~" if one of the figures is not stable, and add it to the list; otherwise ""."""
    worst = max(figures, key=lambda figure: figure.spread)
    if worst.stable:
        return ""
    unstable.append(f"{where}: {worst.spread * 100:.1f} %")
    return " ~"


def cell(where, figure):
    return number(figure.value) + mark(where, figure)


def table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|---" + "|---:" * (len(head) - 1) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def by_tracer(title, figures, none=None):
    """Return a row: the figure without a tracer, with each tracer, and ftrace's divided by mctracer's."""
    cells = [title, cell(f"{title}, none", none) if none else "-"]
    for tracer in TRACERS:
        figure = figures.get(tracer)
        cells.append(cell(f"{title}, {tracer}", figure) if figure else "-")
    ours = figures.get("mctracer") or figures.get("mctracer-returns")
    if ours and "ftrace" in figures and ours.value:
        cells.append(f"{figures['ftrace'].value / ours.value:.2f}")
    else:
        cells.append("-")
    return cells


def workload_rows(f, workload):
    times = f.get("none", workload + "_times").value
    base = f.get("none", workload + "_off")
    rows = []
    for state in "off", "on", "graph":
        title = f"{TITLES[workload]}, {state}"
        kernels = GRAPHS if state == "graph" else TRACERS
        cells = [title]
        cells.append(cell(f"{title}, none", base / times) if state == "off" else "-")
        found = {}
        for tracer in TRACERS:
            if tracer not in kernels:
                cells.append("-")
                continue
            found[tracer] = f.get(tracer, f"{workload}_{state}")
            text = f"{number(found[tracer].value / times)} "
            text += f"({slowdown(f, tracer, workload, state).value:.2f}x)"
            cells.append(text + mark(f"{title}, {tracer}", found[tracer]))
        cells.append(f"{found['ftrace'].value / found[kernels[0]].value:.2f}")
        rows.append(cells)
    return rows


def cost_rows(f):
    def each(title, get, tracers=None, none=None):
        return by_tracer(title, {t: get(t) for t in tracers or TRACERS}, none)

    def kib(name):
        return lambda kernel: f.get(kernel, name) / 1024

    rows = [
        each("calls in a `stat()`, by the tracer's own count", lambda t: calls(f, t)),
        each("instructions a call, off, against no tracer", lambda t: per_call(f, t, "off")),
        each("instructions a traced call, against no tracer", lambda t: per_call(f, t)),
        each("instructions that tracing adds to a call", lambda t: added(f, t)),
        each("instructions that tracing adds to a call, with times", lambda t: with_times(f, t),
             MCTRACERS),
        each("instructions an event, graph, against no tracer",
             lambda t: per_call(f, t, "graph"), GRAPHS),
        by_tracer("instructions that tracing adds to a call and its return",
                  {"mctracer-returns": pair(f, "graph")}),
        by_tracer("instructions that tracing adds to a call and its return, with times",
                  {"mctracer-returns": pair(f, "graph_exact")}),
        by_tracer("hackbench, graph, with times: slowed by",
                  {"mctracer-returns": slowdown(f, "mctracer-returns", "hackbench", "graph_exact")}),
        each("bytes an event (ftrace's: in the full ring)", lambda t: f.each(t, "ring")),
        each("bytes an event, with times", lambda t: f.each(t, "ring_exact"), MCTRACERS),
        by_tracer("bytes an event, graph", {"ftrace": f.each("ftrace", "ring_graph")}),
    ]
    chosen = ["mctracer", "ftrace"]
    rows.append(each("instructions a call of a function that is not selected",
                     lambda t: not_recorded(f, t, "unfiltered"), chosen))
    for name, base, title in (
            ("stat_chosen", "stat_unfiltered", "a call of the selected function"),
            ("stat_count", "stat_unfiltered", "a call that is counted"),
            ("stat_mark", "stat_unfiltered", "a mark"),
            ("tcp_chosen", "tcp_unfiltered", "a call of the selected function, while tasks take turns"),
            ("tcp_callers", "tcp_chosen", "to record all its callers, too")):
        kernels = ["mctracer"] if name in ("stat_count", "stat_mark") else chosen
        rows.append(each(f"instructions {title}",
                         lambda t, n=name, b=base: hit(f, t, n, b), kernels))
    for name, title in ("text", "line of `trace`"), ("pipe", "line of `trace_pipe`"), \
            ("raw", "call read in binary"):
        rows.append(each(f"instructions a {title}", lambda t, n=name: f.each(t, n)))
    for way in "on", "off":
        rows.append(each(f"microseconds to switch {way}",
                         lambda t, w=way: f.get(t, "switch_" + w) / 1000))
    rows.append(each("microseconds to switch on for one function",
                     lambda t: f.get(t, "switch_one") / 1000, chosen))
    rows.append(each("off: mean slowdown of all workloads", lambda t: mean_off(f, t)))
    rows.append(each("million instructions to boot", lambda t: f.get(t, "boot") / 1e6,
                     none=f.get("none", "boot") / 1e6))
    for name in "text", "data", "bss":
        rows.append(each(f"kernel {name}, KiB", kib("size_" + name),
                         none=kib("size_" + name)("none")))
    rows.append(each("table of call sites, KiB", kib("sites"), ["mctracer", "ftrace"]))
    return rows


def native_table(f):
    loops = [("nothing", "nothing"), ("rdtsc", "`rdtsc`"), ("empty", "an empty call"),
             ("rdtsc_empty", "`rdtsc` and an empty call"), ("traced", "a traced call"),
             ("exact", "a traced call with its time")]
    both = f.get("native", "rdtsc_empty")
    rows = []
    for name, title in loops:
        figure = f.get("native", name) / 1000
        rows.append([title, cell(f"native, {title}", figure),
                     f"{f.get('native', name).value / both.value:.2f}"])
    for name, title in ("ratio", "a traced call"), ("ratio_exact", "a traced call with its time"):
        rows.append([f"{title}, median of each round's ratio", "-",
                     cell(f"native, {name}", native(f, name))])
    table(["a loop of", "ns", "ratio"], rows)


def scale_table(f):
    rows = []
    for cpus in 1, 2, 4:
        per_ms = f.get(f"smp{cpus}", "events") / f.items(f"smp{cpus}", "events")
        shares = [f.get(f"smp{cpus}", f"cpu{cpu}").value for cpu in range(cpus)]
        share = f"{min(shares) * 100 / sum(shares):.0f} - {max(shares) * 100 / sum(shares):.0f} %"
        rows.append([str(cpus), cell(f"scale, {cpus} CPUs", per_ms * 1000), share])
    table(["CPUs", "events a second, all together", "share of each CPU"], rows)


def recorders_table(f):
    rows = []
    for kernel, name, title in (
            ("mctracer-returns", "function", "`mctrace record`"),
            ("ftrace", "function", "`trace-cmd record -p function`"),
            ("mctracer-returns", "graph", "`mctrace record -g`"),
            ("ftrace", "graph", "`trace-cmd record -p function_graph`")):
        events = f.items(kernel, "rec_" + name)
        missed = f.get(kernel, "rec_missed_" + name)
        rows.append([title, f"{record_slowdown(f, kernel, name).value:.2f}x",
                     number(events.value),
                     f"{number(missed.value)} ({missed_share(f, kernel, name).value:.1f} %)",
                     number((recorded(f, kernel, name) / events).value),
                     number(record_word(f, name).value) if kernel != "ftrace" else "-"])
    table(["hackbench -g 2 -l 200, recorded by", "slowed by", "events", "of these missed",
           "instructions an event, in all", "instructions a word, read and written"], rows)


def spread_cells(f, kernel, prefix, unit):
    """Return cells with the median, 90, 99, 99.9 % and the largest value."""
    return [number(f.get(kernel, f"{prefix}_{point}").value / unit)
            for point in ("median", "p90", "p99", "p999", "max")]


def times_tables(f):
    head = ["median", "90 %", "99 %", "99.9 %", "largest"]
    for title, name, unit in (("words from a time to the next", "apart_words", 1),
                              ("microseconds from a time to the next", "apart_ns", 1000),
                              ("microseconds from a time to the last call before the next",
                               "span_ns", 1000),
                              ("microseconds that a call's estimated time is off", "error_ns", 1000)):
        table([title] + head, [[TITLES[w]] +
                               spread_cells(f, "times", f"{w}_{name}", unit) for w in TIMED])


def percent(f, wrong, of):
    pairs = f.get("times-multi", of).value
    return f"{f.get('times-multi', wrong).value * 100 / pairs:.3g} %" if pairs else "-"


def order_table(f):
    rows = []
    for w in TIMED:
        rows.append([TITLES[w],
                     number(f.get("times-multi", f"{w}_adjacent_pairs").value),
                     percent(f, f"{w}_adjacent_wrong", f"{w}_adjacent_pairs"),
                     number(f.get("times-multi", f"{w}_near_pairs").value),
                     percent(f, f"{w}_near_wrong", f"{w}_near_checked")])
    table(["calls of two CPUs", "adjacent", "in the other order", "within 1 ms",
           "in the other order"], rows)


def bounds_table(f):
    """Print the table of bounds. Return the missed ones."""
    missed, rows = [], []
    for bound in bounds(f):
        limit = ("at least " if bound.at_least else "at most ") + number(bound.limit)
        verdict = "met"
        if bound.missed_by:
            verdict = f"**missed by {number(bound.missed_by)}**"
            missed.append(f"{bound.title}: {number(bound.figure.value)}, {limit}: "
                          f"missed by {number(bound.missed_by)}")
        measured = cell("promised: " + bound.title, bound.figure)
        if bound.note:
            measured += f" ({bound.note})"
        rows.append([bound.title, measured, limit, verdict])
    table(["promised", "measured", "bound", ""], rows)
    return missed


def slowdowns(f):
    """Yield each workload's slowdowns: off, mctracer, its graph, ftrace, its graph."""
    for workload in WORKLOADS:
        yield workload, [slowdown(f, kernel, workload, state) for kernel, state in (
            ("mctracer", "off"), ("mctracer", "on"), ("mctracer-returns", "graph"),
            ("ftrace", "on"), ("ftrace", "graph"))]


def chart_data(f, path):
    with open(path, "w", encoding="ascii") as out:
        print("workload", '"mctracer, off"', "mctracer", '"mctracer graph"', "ftrace",
              '"ftrace graph"', file=out)
        for workload, figures in slowdowns(f):
            print(workload, *(f"{figure.value:.3f}" for figure in figures), file=out)


def summary_table(f):
    rows = []
    for workload, figures in slowdowns(f):
        cells = [TITLES[workload]]
        cells += [f"{figure.value:.2f}x" + ("" if figure.stable else " ~") for figure in figures]
        rows.append(cells)
    table(["slowdown of", "mctracer, off", "mctracer", "mctracer graph", "ftrace",
           "ftrace graph"], rows)


def report(f, chart):
    print("## Instructions\n")
    print("Per operation (in parentheses: against the kernel without a tracer), counted with"
          " `-icount`.\nmctracer-returns is mctracer with call sites before returns. The last"
          " column is ftrace's figure divided by\nmctracer's; of graph, by mctracer-returns's."
          " Microseconds are the guest's, in which an instruction\ntakes a nanosecond, and include"
          " waiting. Booting leaves out the time in which the CPU is idle.\n")
    rows = [row for workload in WORKLOADS for row in workload_rows(f, workload)]
    table(["", "no tracer"] + TRACERS + ["ftrace / mctracer"], rows + cost_rows(f))
    print("## On this processor\n\nNanoseconds an iteration; the ratio is to `rdtsc` and an empty"
          " call in one loop.\n")
    native_table(f)
    print("## Several CPUs\n\nThe guest's CPUs are threads of the emulator, and times are wall"
          " times: these figures depend on the number\nof processors of the machine and on its"
          " other load.\n")
    scale_table(f)
    print("## Recorders\n\nA command and its children are recorded into a file on one CPU, with"
          " 8 MiB for its events, counted\nwith `-icount`. The recorder's cost for a command that"
          " does nothing is subtracted. trace-cmd is given\n`-F -c`; its events are those in its"
          " file and those that the kernel reports as missed.\n")
    recorders_table(f)
    print("## Times in compact form\n\nAll calls were recorded with their times, and only the"
          " times that compact form has were kept. The\ntables show how far apart these times are,"
          " and how far each call's estimated time is from its exact one.\nA nanosecond is an"
          " instruction.\n")
    times_tables(f)
    print("The next table shows how often the estimated times put two calls of different CPUs into"
          " another order\nthan the exact times: of adjacent calls, and of calls that are closer"
          " than 1 ms (a sample if there\nare many). Here the guest's CPUs are threads of the"
          " emulator, and times are wall times.\n")
    order_table(f)
    print("## Promised\n\nOn x86-64, with dynamic call sites unless a line names others."
          " One reader for each of 2 CPUs\nfollows calls, in rings of 4 MiB, while hackbench is"
          " traced; the readers run as real-time tasks,\nbecause otherwise they would share the"
          " CPUs with hackbench's 80 tasks.\n\n<!-- promised -->")
    missed = bounds_table(f)
    print("<!-- end -->\n")
    if unstable:
        print("## Not stable\n\nMarked with `~`: figures that were measured several times in this"
              " run and differ by more than\n2 % of their median.\n")
        print("".join(f"- {line}\n" for line in unstable))
    print("## Slowdown by workload\n")
    print("<!-- summary -->")
    summary_table(f)
    print("<!-- end -->")
    chart_data(f, chart)
    return missed


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    try:
        missed = report(Figures(sys.argv[1]), sys.argv[2])
    except Missing as missing:
        print(f"error: report.py: {missing}", file=sys.stderr)
        return 2
    for line in missed:
        print(f"error: {line}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
