#!/usr/bin/env python3
"""usage: bench.py NONE-OUTPUT MCTRACER-OUTPUT

Make the benchmark's table of what scripts/guest/bench printed in a kernel
without function tracer and in one with mctracer. Exit status 1 if a bound is
missed.
"""
import sys

# The promised bounds: instructions, bytes.
MAX_ON = 45      # a traced call, from its call of the stub to the return
MAX_OFF = 5      # the same while nobody is traced
MAX_BYTES = 16
MAX_LINE = 3000  # a line of "cat trace"


def read(path):
    values = {}
    with open(path, encoding="ascii", errors="replace") as f:
        for line in f:
            words = line.split()
            if len(words) == 3 and words[1].isdigit():
                values[words[0]] = (int(words[1]), int(words[2]))
    return values


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    none, mct = read(sys.argv[1]), read(sys.argv[2])
    try:
        calls = mct["calls"][0]
        rows = [("stat() loop, a call", "stat", calls),
                ("hackbench -g 2 -l 50", "hackbench", 1)]
        print("| instructions | no tracer | off | on | on / off | on / none | records |")
        print("|---|---|---|---|---|---|---|")
        for title, name, unit in rows:
            base = none[name + "_off"][0]
            off = mct[name + "_off"][0]
            on, records = mct[name + "_on"]
            print(f"| {title} | {base // unit:,} | {off // unit:,} | {on // unit:,} "
                  f"| {on / off:.2f} | {on / base:.2f} | {records / unit:,.1f} |")

        # The stat() loop makes the same calls each time.
        base, off = none["stat_off"][0], mct["stat_off"][0]
        on, records = mct["stat_on"]
        text, lines = mct["text"]
    except KeyError as missing:
        sys.exit(f"bench.py: a guest printed no figure for {missing}")

    print()
    missed = 0
    for title, value, bound in [
            ("instructions a traced call, on", (on - base) / records, MAX_ON),
            ("instructions a traced call, off", (off - base) / records, MAX_OFF),
            ("bytes an event", 16, MAX_BYTES),
            ("instructions a line of trace", text / lines, MAX_LINE)]:
        verdict = "met" if value <= bound else f"MISSED by {value - bound:.1f}"
        missed += value > bound
        print(f"{title}: {value:.1f} (at most {bound}: {verdict})")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
