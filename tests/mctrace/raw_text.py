#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""raw_text.py TEXT KALLSYMS RAW...: check that raw_reader.py, which was written from the uapi header alone, finds in the
RAW files the same calls and returns as the kernel's TEXT, which has times: of each CPU in the same order, with the same
times, tasks, functions and callers. KALLSYMS is that kernel's /proc/kallsyms."""
import collections
import os
import re
import subprocess
import sys

LINE = re.compile(r"\[~?(\d+)\.(\d+)\] CPU (\d+): (.*?):(\d+) (\S+?)\+(0x[0-9a-f]+)/\S+(?: \[\w+\])?"
                  r" (<--|returns|goes on)(.*)")
PLACE = re.compile(r" (\S+?)\+(0x[0-9a-f]+)/")


def read_symbols(path):
    """Return the addresses of each name."""
    symbols = collections.defaultdict(set)
    with open(path, encoding="ascii") as file:
        for line in file:
            address, _, name = line.split()[:3]
            symbols[name].add(int(address, 16))
    return symbols


def text_events(path):
    """Return, for each CPU, a list of (kind, ns, pid, comm, place, caller); a place is a name and an offset."""
    events = collections.defaultdict(list)
    with open(path, encoding="ascii") as file:
        for line in file:
            found = LINE.match(line)
            if not found:
                continue
            seconds, ns, cpu, comm, pid, name, offset, kind, rest = found.groups()
            caller = PLACE.match(rest) if kind == "<--" else None
            events[int(cpu)].append(("call" if kind == "<--" else "return", int(seconds) * 10**9 + int(ns), int(pid),
                                     comm, (name, int(offset, 16)), caller and (caller[1], int(caller[2], 16))))
    return events


def reader_events(paths):
    """Return the same, with addresses as places, and the base of addresses, as raw_reader.py prints them."""
    reader = os.path.join(os.path.dirname(os.path.abspath(__file__)), "raw_reader.py")
    events = collections.defaultdict(list)
    out = subprocess.run([reader, *paths], stdout=subprocess.PIPE, text=True, check=True).stdout
    for line in out.splitlines():
        kind, *words = line.split()
        if kind not in ("call", "return"):
            continue
        ns, cpu, pid, _, comm, *places = words
        events[int(cpu)].append((kind, int(ns), int(pid), comm, int(places[0], 16),
                                 int(places[1], 16) if kind == "call" else None))
    return events


def differ(text, read, symbols):
    """Return why two events differ; or None."""
    if text[:4] != read[:4]:
        return "kind, time or task"
    for what, place, address in ("function", text[4], read[4]), ("caller", text[5], read[5]):
        if place and address - place[1] not in symbols[place[0]]:
            return what
    return None


def main():
    """Compare the events of all CPUs. Exit with 1 at the first difference."""
    text, symbols, read = text_events(sys.argv[1]), read_symbols(sys.argv[2]), reader_events(sys.argv[3:])
    if not text or sorted(text) != sorted(read):
        sys.exit(f"CPUs: {sorted(text)} in the text, {sorted(read)} in raw")
    for cpu in sorted(text):
        if len(text[cpu]) != len(read[cpu]):
            sys.exit(f"CPU {cpu}: {len(text[cpu])} events in the text, {len(read[cpu])} in raw")
        for number, pair in enumerate(zip(text[cpu], read[cpu])):
            why = differ(*pair, symbols)
            if why:
                sys.exit(f"CPU {cpu}: event {number}: another {why}: text {pair[0]}, raw {pair[1]}")
        print(f"CPU {cpu}: {len(text[cpu])} events, the same")


main()
