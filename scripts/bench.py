#!/usr/bin/env python3
"""usage: bench.py NONE FTRACE STATIC DYNAMIC

Make the benchmark's tables of what scripts/guest/bench printed in a kernel
without function tracer, in one with the kernel's own, and in two with mctracer.
Exit status 1 if a bound is missed.
"""
import sys

# The promised bounds: instructions of a traced call, of a line of text, of a binary record read;
# bytes.
MAX_ON_DYNAMIC = 40
MAX_ON_STATIC = 45
MAX_OFF_STATIC = 5
MAX_BYTES = 16
MAX_LINE = 3000
MAX_RECORD = 10

KERNELS = ["none", "ftrace", "mctracer static", "mctracer"]
RECORD = 16


def read(path):
    values = {}
    with open(path, encoding="ascii", errors="replace") as f:
        for line in f:
            words = line.split()
            if len(words) == 3 and words[1].isdigit():
                values[words[0]] = (int(words[1]), int(words[2]))
    return values


def workloads(data):
    calls = data["none"]["calls"][0]
    print("| instructions | " + " | ".join(KERNELS) + " |")
    print("|---|" + "---|" * len(KERNELS))
    for title, name, unit in [("stat()", "stat", calls), ("hackbench -g 2 -l 50", "hackbench", 1)]:
        base = data["none"][name + "_off"][0]
        for state in "off", "on":
            cells = []
            for kernel in KERNELS:
                if kernel == "none" and state == "on":
                    cells.append("-")
                    continue
                value = data[kernel][f"{name}_{state}"][0]
                cells.append(f"{value // unit:,} ({value / base:.2f}x)")
            print(f"| {title}, {state} | " + " | ".join(cells) + " |")
    for title, name in [("switching on", "switch_on"), ("switching off", "switch_off")]:
        cells = [f"{data[k][name][0]:,}" for k in KERNELS[1:]]
        print(f"| {title} | - | " + " | ".join(cells) + " |")
    print()


def bounds(data):
    none, ftrace, static, dynamic = (data[k] for k in KERNELS)

    # The stat() loop makes the same calls each time.
    calls = static["stat_on"][1]
    base = none["stat_off"][0]

    def per_call(kernel, state):
        return (kernel["stat_" + state][0] - base) / calls

    def per_item(name):
        cycles, items = dynamic[name]
        return cycles / items

    return [
        ("instructions a traced call, on, dynamic", per_call(dynamic, "on"), MAX_ON_DYNAMIC),
        ("instructions a traced call, on, static", per_call(static, "on"), MAX_ON_STATIC),
        ("instructions a call, off, dynamic: no more than ftrace's",
         per_call(dynamic, "off"), per_call(ftrace, "off")),
        ("instructions a call, off, static", per_call(static, "off"), MAX_OFF_STATIC),
        ("million instructions to switch on: no more than ftrace's",
         dynamic["switch_on"][0] / 1e6, ftrace["switch_on"][0] / 1e6),
        ("million instructions to switch off: no more than ftrace's",
         dynamic["switch_off"][0] / 1e6, ftrace["switch_off"][0] / 1e6),
        ("bytes an event", RECORD, MAX_BYTES),
        ("instructions a line of trace", per_item("text"), MAX_LINE),
        ("instructions a line of trace_pipe", per_item("pipe"), MAX_LINE),
        ("instructions a record read from raw", per_item("raw"), MAX_RECORD),
        ("instructions a traced call, on: a tenth of ftrace's",
         per_call(dynamic, "on"), per_call(ftrace, "on") / 10),
    ]


def main():
    if len(sys.argv) != 1 + len(KERNELS):
        sys.exit(__doc__)
    data = {kernel: read(path) for kernel, path in zip(KERNELS, sys.argv[1:])}
    missed = 0
    try:
        workloads(data)
        for title, value, bound in bounds(data):
            verdict = "met" if value <= bound else f"MISSED by {value - bound:.1f}"
            missed += value > bound
            print(f"{title}: {value:.1f} (at most {bound:.1f}: {verdict})")
        print(f"call sites: {data['mctracer']['sites'][0]:,}, 4 bytes each")
    except KeyError as missing:
        sys.exit(f"bench.py: a guest printed no figure for {missing}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
