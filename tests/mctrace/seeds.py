#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Write small recordings that a fuzzer begins with.

usage: seeds.py DIRECTORY"""

import os
import sys

import failing
import packets
import recordings
import sources


def recordings_of_all_kinds():
    yield "graph", recordings.simulate(60, 1, cpus=2)
    yield "calls", recordings.simulate(80, 2, cpus=1, mode="function", context=True)
    yield "holes", recordings.simulate(80, 3, cpus=2, context=True, gaps=True, marks=True, extras=True)
    yield "packets", packets.cloned()
    yield "lists", packets.in_lists()
    yield "failures", failing.elsewhere().rec


def main():
    folder = sys.argv[1]
    for name, rec in recordings_of_all_kinds():
        rec.write(os.path.join(folder, name), 64)
    with open(os.path.join(folder, "raw"), "wb") as file:
        file.write(sources.image_of(sources.short()))


main()
