#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""usage: peers.py FIGURES

Print tables, in Markdown, of what it costs to answer a question about calls by mctracer and by what people use
instead, from FIGURES (see figures.py) that scripts/bench-peers has measured. Exit status 2 if a figure is missing.
"""
import sys

from figures import Figures, Missing
from report import number, table

QUESTIONS = {
    "count": "count the calls of one function",
    "args": "record the arguments of one function",
    "histogram": "durations of one function",
    "all": "count the calls of each function",
    "recorded": "record the calls of each function",
}
PEERS = {
    "series": ("mctracer", "`mctracer`, in the kernel"),
    "peers": ("mctracer", "`mctracer`, a module"),
    "fentry": ("fentry", "BPF, fentry and fexit"),
    "multi": ("multi", "BPF, kprobe.multi"),
    "bpftrace": ("bpftrace", "bpftrace"),
}


def peer(f, question, who):
    """Return what @who needs for @question: instructions a call, seconds to attach and detach, calls missed."""
    tool = PEERS[who][0]
    kernel = who if who == "series" else "peers"
    name = f"peer_{question}_{tool}"
    if not f.has(kernel, name):
        return None
    calls = f.items(kernel, name).value
    off = f.get(kernel, "peer_off").value
    return [(f.get(kernel, name).value - off) / calls, f.get(kernel, name + "_attach").value / 1e9,
            f.get(kernel, name + "_detach").value / 1e9, f.get(kernel, name + "_missed").value]


def peers_table(f):
    rows = []
    for question, title in QUESTIONS.items():
        for who, (_, by) in PEERS.items():
            cost = peer(f, question, who)
            if cost:
                rows.append([title, by, number(round(cost[0], 1)), f"{cost[1]:.3f}", f"{cost[2]:.3f}",
                             number(cost[3])])
                title = ""
    table(["", "by", "instructions a call", "seconds to attach", "to detach", "calls missed"], rows)
    first = [f"{f.get(kernel, 'peer_first_attach').value / 1e9:.3f} s {where}" for kernel, where in
             (("series", "in the kernel"), ("peers", "as a module")) if f.has(kernel, "peer_first_attach")]
    if first:
        print(f"The first start of mctracer takes longer: {', '.join(first)}.\n")


def peers_summary(f):
    rows = []
    for question, title in QUESTIONS.items():
        costs = [peer(f, question, who) for who in PEERS]
        if any(costs):
            rows.append([title] + [number(round(cost[0], 1)) if cost else "-" for cost in costs])
    table([""] + [by for _, by in PEERS.values()], rows)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        f = Figures(sys.argv[1])
        peers_table(f)
        print("Instructions a call:\n\n<!-- peers -->")
        peers_summary(f)
        print("<!-- end -->")
    except Missing as missing:
        print(f"error: peers.py: {missing}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
