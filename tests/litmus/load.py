#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""usage: tests/litmus/load.py

Check load() of ring.c with a long of 32 bits: a counter that is written in one step is read by
halves (high, low, high) until both reads of the high half agree. A memory model without accesses of
mixed size can't express that a store of both halves is one step, so this program tries all
executions: the counter is a clock that counts up, its low half is one bit, and each load happens at
any time, in any order that the barriers and the coherence of one location allow.

Prints, in herd7's format, how often the result is a value that the counter did not have meanwhile:
for the present code, and with each of its parts left out.
"""

import itertools

END = 9


def observe(name, first_barrier=True, second_barrier=True, second_look=True):
    bad = good = 0
    for high1, low, high2 in itertools.product(range(END), repeat=3):
        if high1 > high2:  # coherence: loads of one location are in program order
            continue
        if first_barrier and high1 > low or second_barrier and low > high2:
            continue
        if second_look and high1 >> 1 != high2 >> 1:
            continue  # load() tries again
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
