#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""usage: tests/litmus/load.py

load() of ring.c where a long is 32 bits: a counter that is written in one step is read by halves,
high, low, high, until both looks at the high half agree. A memory model without accesses of mixed
size can't say that a store of both halves is one step, so this goes through all ways to do it: the
counter is a clock that counts up, of which the low half is one bit, and each load happens at some
time, in any order that the barriers and the coherence of one location allow.

Prints, as herd7 does, how often what was read is no value that the counter had meanwhile: as
the code is, and with each of its parts left out.
"""

import itertools

END = 9


def observe(name, first_barrier=True, second_barrier=True, second_look=True):
    bad = good = 0
    for high1, low, high2 in itertools.product(range(END), repeat=3):
        if high1 > high2:  # one location, in program order
            continue
        if first_barrier and high1 > low or second_barrier and low > high2:
            continue
        if second_look and high1 >> 1 != high2 >> 1:
            continue  # tried again
        times = (high1, low, high2) if second_look else (high1, low)
        value = (high1 >> 1) << 1 | low & 1
        if min(times) <= value <= max(times):
            good += 1
        else:
            bad += 1
    word = "Never" if not bad else "Sometimes" if good else "Always"
    print(f"Observation {name} {word} {bad} {good}")


observe("load")
observe("load-without-first-barrier", first_barrier=False)
observe("load-without-second-barrier", second_barrier=False)
observe("load-without-second-look", second_look=False)
