#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""dump.py SOCKET FILE: save a QEMU guest's memory to an ELF file, by QMP at SOCKET."""
import json
import socket
import sys

monitor = socket.socket(socket.AF_UNIX)
monitor.connect(sys.argv[1])
lines = monitor.makefile('rw')


def command(name, **arguments):
    lines.write(json.dumps({'execute': name, 'arguments': arguments}) + '\n')
    lines.flush()
    while True:
        answer = json.loads(lines.readline())
        if 'error' in answer:
            sys.exit(f'{name}: {answer["error"]}')
        if 'return' in answer:
            return


lines.readline()
command('qmp_capabilities')
command('dump-guest-memory', paging=False, protocol='file:' + sys.argv[2])
