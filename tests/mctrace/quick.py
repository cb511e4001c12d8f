#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
# Measure how long mctrace takes for a large recording, in seconds of CPU time, which other programs
# don't change. Its memory is limited to 64 MiB: memory is for open calls, not for the file.
#
#     quick.py MCTRACE RECORDING
import resource
import subprocess
import sys

MOST = 20               # seconds for all of the output
FIRST = 2               # seconds for the first line, which does not wait for the last
MEMORY = 64 << 20
COMMANDS = ["report", "report --json", "report --tree", "report --tree --json", "profile",
            "graph vfs_read", "latency vfs_read", "export --to folded", "export --to speedscope"]
SOON = ["report", "report --json", "report --tree"]


def limit():
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


def used():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run(command, lines=None):
    """Return the CPU time for all of the output, or until the reader closes after @lines lines."""
    before = used()
    with subprocess.Popen(command, stdout=subprocess.PIPE, preexec_fn=limit) as program:
        if lines is None:
            while program.stdout.read(1 << 20):
                pass
        else:
            for _ in range(lines):
                program.stdout.readline()
    if lines is None and program.returncode:
        sys.exit("status %d" % program.returncode)
    return used() - before


def main():
    mctrace, recording = sys.argv[1:]
    failed = False
    times = {}
    for command in COMMANDS:
        times[command] = run([mctrace, *command.split(), recording])
        failed |= times[command] > MOST
        print("%-24s %5.2f s" % (command, times[command]))
    for command in SOON:
        first = run([mctrace, *command.split(), recording], lines=1)
        failed |= first > FIRST or first > times[command] / 3
        print("%-24s %5.2f s, the first line" % (command, first))
    return failed


if __name__ == "__main__":
    sys.exit(main())
